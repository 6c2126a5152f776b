"""Documents, and the calls of a parser that make them."""

import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headspan
from headspan import Document, HeadspanError, Parse, Parser, Sentence, Token, conllu
from headspan.conllu.places import token_range
from headspan.inference import Constraints
from headspan.model import parser as parser_module
from headspan.model.saving import FORMAT
from headspan.plumbing import limits

GOLDEN = Path(__file__).parent / "golden" / "models" / f"v{FORMAT}"
TEXT = "the dog sees a cat. every Arrow flies!\n\nthe dog  likes\ta cat."
WORDS = ["the", "dog", "sees", "a", "cat", "."]


@pytest.fixture(scope="module")
def parser() -> Parser:
    """A parser with random trees and a segmenter."""
    return Parser.load(GOLDEN)


@pytest.fixture(scope="module")
def document(parser: Parser) -> Document:
    return parser(TEXT)


@pytest.fixture
def without_segmenter(monkeypatch: pytest.MonkeyPatch, parser: Parser) -> Parser:
    """The same without it; that it warns is tested elsewhere."""
    monkeypatch.setattr(parser, "_warned", {"segmenter"})
    monkeypatch.setattr(parser, "segmenter", None)
    return parser


def test_a_document_is_a_sequence_of_its_sentences(document: Document) -> None:
    assert document.text == str(document) == TEXT
    assert len(document) >= 2
    assert document.sents is document.sentences
    assert list(document) == list(document.sentences)
    assert isinstance(document[0], Parse)
    assert document[-1] is document.sentences[-1]
    assert document[:2] == document.sentences[:2]
    assert document[0] in document
    with pytest.raises(IndexError):
        document[len(document)]


def test_the_tokens_of_all_sentences_are_one_sequence(document: Document) -> None:
    tokens = document.tokens
    expected = [token for sentence in document for token in sentence]
    assert tokens is document.tokens
    assert list(tokens) == expected
    assert len(tokens) == len(expected)
    assert [tokens[k] for k in range(len(tokens))] == expected
    assert [tokens[k] for k in range(-len(tokens), 0)] == expected
    assert tokens[3:-2:2] == tuple(expected[3:-2:2])
    assert tokens[4] in tokens
    assert headspan.load(GOLDEN)(TEXT).tokens[4] not in tokens
    assert tokens.index(expected[7]) == 7
    assert repr(tokens).startswith(f"[{expected[0]!r}, ")
    assert repr(tokens).endswith(", …]")
    for outside in (len(tokens), -len(tokens) - 1):
        with pytest.raises(IndexError, match=f"index {outside} in a document of"):
            tokens[outside]


def test_text_and_representation(parser: Parser, document: Document) -> None:
    assert repr(document) == (
        f"Document({TEXT[:60] + '…'!r}, {len(document)} sentences, {len(document.tokens)} words)"
    )
    assert repr(Document("x", (Parse.of(Sentence.from_words(["x"])),))) == (
        "Document('x', 1 sentence, 1 word)"
    )
    assert repr(parser("")) == "Document('', 0 sentences, 0 words)"


def test_an_empty_document(parser: Parser) -> None:
    for text in ("", " \n\n "):
        empty = parser(text)
        assert empty == Document(text, ())
        assert not empty
        assert list(empty.tokens) == empty.to_dicts() == []
        assert empty.to_conllu() == empty._repr_html_() == ""
        assert repr(empty.tokens) == "[]"


def test_documents_are_values(document: Document, parser: Parser) -> None:
    assert len(document.tokens) > 3
    again = pickle.loads(pickle.dumps(document))
    assert again == document == parser(TEXT)
    assert hash(again) == hash(document)
    assert list(map(str, again.tokens)) == list(map(str, document.tokens))
    assert again != parser(TEXT + " ")


def test_a_document_as_other_things(document: Document, parser: Parser) -> None:
    assert document.to_conllu() == conllu.to_text(document)
    about = json.loads(document.to_json())
    assert about["text"] == TEXT
    assert about["sentences"] == [json.loads(sentence.to_json()) for sentence in document]
    words = document.to_dicts()
    assert json.loads(json.dumps(words)) == words
    assert [word["text"] for word in words] == [token.text for token in document.tokens]
    assert words[-1]["sentence"] == len(document)
    assert {**words[0]} == {"sentence": 1, **document[0].to_dicts()[0]}
    sure = parser(TEXT, confidence=True)
    assert sure.to_conllu().count("|Confidence=") == len(sure.tokens)
    assert all(0 < token.confidence <= 1 for token in sure.tokens if token.confidence)


def test_a_document_as_a_data_frame(document: Document) -> None:
    pytest.importorskip("pandas")
    frame = document.to_dataframe()
    assert frame["sentence"].iloc[-1] == len(document)
    assert frame["form"].tolist() == [token.text for token in document.tokens]


def test_a_document_draws_its_first_trees(document: Document) -> None:
    assert document._repr_html_().count("<svg") == len(document)
    assert "more" not in document._repr_html_()
    many = Document("", document.sentences[:1] * 25)
    assert many._repr_html_().count("<svg") == 20
    assert many._repr_html_().endswith("<p>… and 5 more sentences</p>")
    assert Document("", document.sentences[:1] * 21)._repr_html_().endswith("1 more sentence</p>")


@given(
    st.lists(
        st.sampled_from([" ", "\n", "\n\n", "\t", "\u00a0", "\r\n", "\0", "\u2029", "the dog sees",
                         "a cat.", "1 000", "don't", "du", "é", "👩\u200d👧", "日本。", "!?"])
        | st.text(max_size=4),
        max_size=12,
    ).map("".join),
    st.sampled_from([{}, {"lines": True}, {"pretokenized": True}]),
)  # fmt: skip
@settings(max_examples=60)
def test_positions_lead_to_the_text(text: str, options: dict[str, bool]) -> None:
    document = _golden()(text, **options)
    assert document.text == text
    end = 0
    for sentence in document:
        for piece in sentence.surface_tokens:
            start, stop = token_range(piece.misc) or (-1, -1)
            for token in sentence[piece.first - 1 : piece.last]:
                assert token.start is not None
                assert token.end is not None
                assert start <= token.start < token.end <= stop
            first, last = sentence[piece.first - 1], sentence[piece.last - 1]
            assert (first.start, last.end) == (start, stop)
            assert not text[end:start].strip()
            end = stop
            found = "".join(text[start:stop].split())
            form = "".join(piece.form.split())
            assert len(form) == len(found)
            assert all(a == b or a == "\ufffd" for a, b in zip(form, found, strict=True))
    assert not text[end:].strip()


_parsers: list[Parser] = []


def _golden() -> Parser:
    if not _parsers:
        _parsers.append(Parser.load(GOLDEN))
    return _parsers[0]


def test_options_of_a_text(parser: Parser) -> None:
    assert all(sentence.confidences for sentence in parser(TEXT, confidence=True))
    assert all(len(sentence.alternatives) == 2 for sentence in parser(TEXT, k=2))
    assert [s.text for s in parser("a b.\nc d", lines=True)] == ["a b.", "c d"]
    assert [s.forms for s in parser("a b.\nc d", pretokenized=True)] == [("a", "b."), ("c", "d")]


def test_a_model_without_a_segmenter_takes_lines(without_segmenter: Parser) -> None:
    document = without_segmenter("the dog .\n\nI 'm  here\n")
    assert [sentence.forms for sentence in document] == [("the", "dog", "."), ("I", "'m", "here")]
    assert [document.text[token.start : token.end] for token in document.tokens] == [
        token.text for token in document.tokens
    ]
    assert list(without_segmenter.pipe(["the dog", ""])) == [
        without_segmenter("the dog"), without_segmenter("")
    ]  # fmt: skip


def test_a_sentence_gives_a_parse(parser: Parser) -> None:
    sentence = Sentence.from_words(WORDS, comments=["# kept"])
    parse = parser(sentence)
    assert isinstance(parse, Parse)
    assert parse.comments == ("# kept",)
    bound = parser(sentence, constraints=Constraints(root=2))
    assert bound.root == bound[1]


def test_words_give_a_parse(parser: Parser) -> None:
    parse = parser.parse_words(WORDS)
    assert parse == parser(Sentence.from_words(WORDS)) == parser.parse([WORDS])[0]
    assert parser.parse_words(tuple(WORDS)) == parse
    assert [token.text for token in parse] == WORDS
    sure = parser.parse_words(WORDS, confidence=True, k=2)
    assert len(sure.alternatives) == 2
    assert sure[0].confidence == sure.confidences[0]
    assert parser.parse_words([]).plain() == Sentence.from_words([])
    assert parser.parse_words(WORDS, constraints=Constraints(root=3)).heads[2] == 0


def test_pipe_gives_the_documents_of_the_texts(parser: Parser) -> None:
    texts = [TEXT, "", "a cat.", " ", "the dog sees. " * 5]
    assert list(parser.pipe(iter(texts))) == [parser(text) for text in texts]
    assert list(parser.pipe([])) == []
    (sure,) = parser.pipe([TEXT], confidence=True, k=2)
    assert all(s.confidences and len(s.alternatives) == 2 for s in sure)
    assert [len(d) for d in parser.pipe(["a\nb", "c"], lines=True)] == [2, 1]


@pytest.mark.parametrize("text", ["a cat.", "the dog sees a cat. " * 6, "", TEXT])
def test_pipe_reads_only_a_little_ahead(
    parser: Parser, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(parser_module, "_AHEAD", 8)
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        while True:
            read += 1
            yield text

    for number, document in enumerate(parser.pipe(endless())):
        assert document == parser(text)
        assert read <= number + 8
        if number == 30:
            break


def test_memory_is_tidied_however_texts_are_parsed(
    parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0

    def counted() -> None:
        nonlocal calls
        calls += 1

    monkeypatch.setattr(parser_module, "_TIDY", 1)
    monkeypatch.setattr(parser_module, "give_back", counted)
    parser(TEXT)
    parser.parse_words(WORDS)
    assert len(list(parser.pipe([TEXT, "", "a cat."]))) == 3
    assert calls == 3


def test_sentences_of_different_texts_share_batches(
    parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    parse = Parser._parse

    def counted(self: Parser, batch: list[object], options: object) -> object:
        sizes.append(len(batch))
        return parse(self, batch, options)  # type: ignore[arg-type]

    monkeypatch.setattr(Parser, "_parse", counted)
    assert len(list(parser.pipe(["a cat."] * 20))) == 20
    assert max(sizes) > 10


def test_a_bad_text_stops_pipe_only_after_the_documents_before_it(
    parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = parser.pipe(["a cat.", None, "the dog"])  # type: ignore[list-item]
    assert next(done) == parser("a cat.")
    with pytest.raises(HeadspanError, match="text 2: found None; expected a string"):
        next(done)
    monkeypatch.setattr(limits, "LONGEST", 5)
    done = parser.pipe(["a b", "c d", "x " * 6], pretokenized=True)
    assert [len(next(done).tokens), len(next(done).tokens)] == [2, 2]
    with pytest.raises(HeadspanError, match="text 3: sentence 1 has 6 words; at most 5"):
        next(done)


INSTEAD = "call parse_words for the words of one sentence, or pipe for several texts"


@pytest.mark.parametrize("found", [WORDS, ["Hello world.", "I came."], (), [], iter(["a"]), {"a"}])
def test_a_list_is_neither_a_text_nor_words(parser: Parser, found: object) -> None:
    with pytest.raises(HeadspanError, match=INSTEAD) as caught:
        parser(found)  # type: ignore[call-overload]
    assert "\n" not in str(caught.value)


def test_every_wrong_call_says_what_to_call(parser: Parser, document: Document) -> None:
    sentence = Sentence.from_words(WORDS)
    wrong = {
        "found an int; expected a text or a Sentence": lambda: parser(1),  # type: ignore[call-overload]
        "found None; expected a text": lambda: parser(None),  # type: ignore[call-overload]
        "found a bytes; expected a text or a Sentence": lambda: parser(b"x"),  # type: ignore[call-overload]
        "found a Document; expected a text": lambda: parser(document),  # type: ignore[call-overload]
        "lines, wrapped and pretokenized are for texts": lambda: parser(sentence, lines=True),  # type: ignore[call-overload]
        "constraints are for a Sentence: give them to parser.parse": lambda: parser(
            "a", constraints=Constraints(root=1)
        ),  # type: ignore[call-overload]
        "the constraints are a list; expected Constraints for one": lambda: parser(
            sentence, constraints=[Constraints(root=1)]
        ),  # type: ignore[call-overload]
        r"pipe takes several texts: call parser\(text\)": lambda: parser.pipe("one text"),
        "text 1: found a list; expected a string .parse_stream": lambda: list(
            parser.pipe([WORDS])  # type: ignore[list-item]
        ),
        r"as a list: call parser\(…\) for a text": lambda: parser.parse_words("one text"),
        "word 2 is 1; expected a string": lambda: parser.parse_words(["a", 1]),  # type: ignore[list-item]
        "found an int; expected the words of a": lambda: parser.parse_words(1),  # type: ignore[arg-type]
        r"parse takes a list of sentences: call parser\(…\) for a string": lambda: parser.parse(
            "a"
        ),
        r"list of sentences: call parser\(…\) for a Sentence": lambda: parser.parse(sentence),  # type: ignore[arg-type]
        r"parse_stream takes sentences: call parser\(…\) for a string": lambda: parser.parse_stream(
            "a"
        ),
        f"sentence 2 is the string 'Hello world.'; .*: {INSTEAD}": lambda: parser.parse(
            [WORDS, "Hello world."]
        ),
        f"sentence 1 is the string 'a'; .*: {INSTEAD}": lambda: list(parser.parse_stream(["a"])),
        "sentence 1: word 1 is 5; expected a string": lambda: parser.parse([[5]]),  # type: ignore[list-item]
        "sentence 1: found None; expected the words": lambda: parser.parse([None]),  # type: ignore[list-item]
    }
    for message, call in wrong.items():
        with pytest.raises(HeadspanError, match=message):
            call()


def test_a_stream_of_sentences_is_lazy(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_module, "_AHEAD", 4)
    read = 0

    def endless() -> Iterator[list[str]]:
        nonlocal read
        while True:
            read += 1
            yield WORDS

    for number, parse in enumerate(parser.parse_stream(endless())):
        assert parse.forms == tuple(WORDS)
        assert read <= number + 4
        if number == 10:
            break


def test_parsing_makes_no_tokens(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    made = 0
    init = Token.__init__

    def counted(self: Token, sentence: Sentence, index: int) -> None:
        nonlocal made
        made += 1
        init(self, sentence, index)

    monkeypatch.setattr(Token, "__init__", counted)
    documents = [parser(TEXT, confidence=True, k=2), *parser.pipe([TEXT] * 3)]
    parses = [parser.parse_words(WORDS), *parser.parse([WORDS] * 3)]
    written = [document.to_conllu() for document in documents]
    assert conllu.to_text(conllu.parse(written[0])) == written[0]
    assert made == 0
    assert len(list(parses[0])) == made == len(WORDS)


def test_help_tells_everything() -> None:
    for kind in (Token, Document, Parser, Sentence, Parse):
        for name, value in vars(kind).items():
            if not name.startswith("_") and (callable(value) or isinstance(value, property)):
                assert value.__doc__, f"{kind.__name__}.{name}"


def test_documents_before_a_failure_come_first_whatever_fails(
    parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headspan.plumbing.limits.LONGEST_DENSE", 10)
    stream = parser.pipe(["the dog sees.", "dog " * 11, "a cat."], k=2)
    assert [token.text for token in next(stream).tokens][:2] == ["the", "dog"]
    with pytest.raises(HeadspanError, match=r"text 2: sentence 1 has 11 words; .* 10 at most"):
        next(stream)

    def texts() -> Iterator[str]:
        yield "the dog sees."
        raise ValueError("the source failed")

    stream = parser.pipe(texts())
    assert len(next(stream).tokens)
    with pytest.raises(ValueError, match="the source failed"):
        next(stream)


@pytest.mark.parametrize("k", [0, -1, 1.5, "3", None, True])
def test_k_must_be_a_number_of_trees(parser: Parser, k: Any) -> None:
    with pytest.raises(HeadspanError, match=r"k is .*; expected a whole number from 1"):
        parser(TEXT, k=k)


@pytest.mark.parametrize("word", ["", " ", "a\tb", "a\nb", "a\0", "\ud800"])
def test_a_word_that_no_file_can_hold_is_an_error(parser: Parser, word: str) -> None:
    with pytest.raises(HeadspanError, match=r"word 2 is .*; expected a word without tabs"):
        parser.parse_words(["the", word])
    with pytest.raises(HeadspanError, match=r"sentence 1: word 1 is "):
        parser.parse([[word]])


def test_a_sentence_with_half_a_surrogate_pair_is_an_error(parser: Parser) -> None:
    with pytest.raises(HeadspanError, match=r"sentence 1: word 2 is '\\ud800'; expected a word"):
        parser(Sentence.from_words(["the", "\ud800"]))


def test_wrong_arguments_say_what_to_call(parser: Parser, document: Document) -> None:
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: parser(document), "found a Document; .* call parse for several"),  # type: ignore[call-overload]
        (lambda: parser([document[0]]), "found a list; .* call parse for several"),  # type: ignore[call-overload]
        (lambda: parser.parse_words(b"abc"), "found a bytes; expected the words"),  # type: ignore[arg-type]
        (lambda: parser.pipe(b"abc"), "found a bytes; expected several texts"),  # type: ignore[arg-type]
        (lambda: parser.pipe(None), "found None; expected several texts"),  # type: ignore[arg-type]
        (lambda: parser.parse(None), "found None; expected a list of sentences"),  # type: ignore[arg-type]
        (lambda: parser.parse([None]), "sentence 1: found None; expected the words"),  # type: ignore[list-item]
        (lambda: parser.parse([[None]]), "sentence 1: word 1 is None; expected a string"),  # type: ignore[list-item]
        (lambda: parser.parse([WORDS], constraints=[3]), "the constraints are an int"),  # type: ignore[list-item]
    ]
    for call, message in calls:
        with pytest.raises(HeadspanError, match=message):
            call()
    with pytest.raises(IndexError, match="index 99 in a document of"):
        document[99]


def test_positions_of_words_and_sentences(document: Document) -> None:
    table = json.loads(document.to_json())
    for sentence, found in zip(document, table["sentences"], strict=True):
        assert found["starts"] == [token.start for token in sentence]
        assert found["ends"] == [token.end for token in sentence]
        assert (sentence.start, sentence.end) == (sentence[0].start, sentence[-1].end)
    assert (Sentence.from_words([]).start, Sentence.from_words([]).end) == (None, None)
    assert document.text[document[1].start :].startswith(document[1][0].text)


def test_half_a_surrogate_pair_can_be_written(parser: Parser) -> None:
    assert json.loads(parser("a dog\ud800 sees.").to_json().encode())["text"] == "a dog\ufffd sees."


def test_strings_of_numpy_become_plain(parser: Parser) -> None:
    parse = parser.parse_words(np.array(WORDS))  # type: ignore[arg-type]
    assert {type(form) for form in parse.forms} == {str}
    assert type(parser(np.str_(TEXT)).text) is str
