"""Bytes as raw text: every character is in one token, and every sentence gets a tree.

The first byte selects what is checked besides segmentation.
"""

from collections.abc import Iterator

from headspan import conllu
from headspan.model.parse_result import Parse

from .golden import check_tree, parser

WORDS = (
    b" ", b"\n", b"\n\n", b"\r\n", b"\t", b"\0", b". ", b"the dog sees", b"\xe2\x80\xa8",
    b"\xe2\x80\xa9", b"\xcc\x81", b"\xf0\x9f\x91\xa9\xe2\x80\x8d", b"\xed\xa0\x80", b"\xc2\xa0",
    b"\xef\xbb\xbf", b"\xe0\xb8\x81", b"\xc4\xb0",
)  # fmt: skip
_LONGEST = 150


def seeds() -> Iterator[bytes]:
    texts = (
        b"the dog sees a cat with every hearing . a cat likes the Arrow !", b"", b" ", b"a\0b\ttab",
        b"One. Two!\n\nThree?\r\n- four", "日本語。Été, naïve “quotes”…".encode(), b"x" * 140,
        "👩‍👩‍👧 e\u0301\u2028\u2029".encode(),
    )  # fmt: skip
    for number, text in enumerate(texts):
        yield from (bytes([4 * (number + 2) + kind]) + text for kind in range(4))


def check(data: bytes) -> None:
    first, text = ord(data[:1] or b"\0"), data[1 : _LONGEST + 1].decode(errors="surrogateescape")
    sentences = list(parser().sentences([text]))
    _check_tokens(text, sentences)
    number, kind = divmod(first, 4)
    if kind == 0:
        pieces = [text[:number], text[number:]]
        assert list(parser().sentences(pieces)) == sentences
    elif kind == 1:
        _check_tokens(text, list(parser().sentences([text], lines=True)))
    elif kind == 2:
        _check_tokens(text, list(parser().sentences([text], pretokenized=True)))
    else:
        _check_parses(parser().parse(sentences, confidence=number % 2 == 0, k=1 + number % 3))


def _check_parses(parsed: list[Parse]) -> None:
    for parse in parsed:
        check_tree(parse)
    written = conllu.to_text(parse.with_confidences() for parse in parsed)
    again = list(conllu.parse(written, format="conllu"))
    assert [(s.forms, s.heads, s.deprels) for s in again] == [
        (s.forms, s.heads, s.deprels) for s in parsed
    ]


def _check_tokens(text: str, sentences: list[conllu.Sentence]) -> None:
    """The tokens are the text between white space, at the positions that they state."""
    end = 0
    for sentence in sentences:
        for token in sentence.surface_tokens:
            fields = dict(field.split("=") for field in token.misc.split("|"))
            first, last = map(int, fields["TokenRange"].split(":"))
            assert not text[end:first].strip(), (text, token)
            assert sentence[token.first - 1].start == first
            assert sentence[token.last - 1].end == last
            assert len("".join(token.form.split())) == len("".join(text[first:last].split()))
            end = last
    assert not text[end:].strip()
