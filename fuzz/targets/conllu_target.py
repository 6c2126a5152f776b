"""Read bytes as CoNLL-U: they are rejected, or writing gives the same bytes."""

import io
import json
from collections.abc import Iterator

from headspan import conllu
from headspan.plumbing.errors import HeadspanError

WORDS = (
    b"\t", b"\n", b"\n\n", b"\r\n", b"\r", b"#", b"# text = ", b"_", b"1-2", b"1.1", b"0.1", b"|",
    b"SpaceAfter=No", b"\xef\xbb\xbf", b"\0", b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n",
)  # fmt: skip
_PACKED = (b"\x1f\x8b", b"\xfd7zXZ\x00", b"BZh", b"\x28\xb5\x2f\xfd")
SEED = """\
# sent_id = 1
# text = Il parle du chat.
1\tIl\til\tPRON\t_\tPerson=3\t2\tnsubj\t2:nsubj|4.1:nsubj\t_
2\tparle\tparler\tVERB\t_\t_\t0\troot\t0:root\t_
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\tLang=fr
3\tde\tde\tADP\t_\t_\t5\tcase\t5:case\t_
4\tle\tle\tDET\t_\t_\t5\tdet\t5:det\t_
4.1\tgros\t_\tADJ\t_\t_\t_\t_\t5:amod\t_
5\tchat\tchat\tNOUN\t_\t_\t2\tobl\t2:obl\tSpaceAfter=No
6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t2:punct\t_

"""


def seeds() -> Iterator[bytes]:
    text = SEED.encode()
    short = b"1\tHi\thi\tINTJ\tUH\t_\t0\troot\t_\t_\n"
    yield from (text, text.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf\n" + text, text + text, b"")
    yield from (short, short + b"\n" + short, short[:-1] + b"\r", b"# alone\n\n" + short, b"\r")
    yield from (
        b"0.1\te\t_\t_\t_\t_\t_\t_\t1:x\t_\n" + short,
        short.replace(b"Hi", b"H\xc3\xa9\ri"),
    )


def check(data: bytes) -> None:
    _check_skipping(data)
    try:
        sentences = list(conllu.read(io.BytesIO(data), format="conllu"))
    except HeadspanError:
        return
    if not data.startswith(_PACKED):
        assert _written(sentences) == data
    for sentence in sentences:
        assert len(sentence.enhanced) == len(sentence)
        assert isinstance(sentence.text, str)
        pieces = sentence.surface_tokens
        assert sum(token.last - token.first + 1 for token in pieces) == len(sentence)
        _check_tokens(sentence)


def _check_tokens(sentence: conllu.Sentence) -> None:
    """Every word has all attributes, whatever is in the columns."""
    assert json.loads(json.dumps(sentence.to_dicts())) == sentence.to_dicts()
    for token in sentence:
        assert token in token.subtree
        assert set(token.children) <= set(sentence[token.span])
        assert len(token.ancestors) <= len(sentence)
        assert repr(token).startswith("Token(")


def _check_skipping(data: bytes) -> None:
    """The sentences that remain without the bad ones make a valid file."""
    try:
        reader = conllu.read(io.BytesIO(data), skip_bad=True)
        sentences = list(reader)
    except HeadspanError:  # a broken archive
        return
    assert reader.skipped >= len(reader.errors)
    again = list(conllu.read(io.BytesIO(_written(sentences)), format="conllu"))
    assert [s for s in again if s.comments or len(s)] == [
        s for s in sentences if s.comments or len(s)
    ]


def _written(sentences: list[conllu.Sentence]) -> bytes:
    out = io.BytesIO()
    conllu.write(sentences, out)
    return out.getvalue()
