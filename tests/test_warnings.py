"""Warnings about input that a model can read but was not made for: one per parser, with the place."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from headspan import HeadspanWarning, Parser, Sentence
from headspan.model.saving import FORMAT
from headspan.text.language import KnownLanguage
from headspan.vocabulary import Vocabulary

GOLDEN = Path(__file__).parent / "golden" / "models" / f"v{FORMAT}"
ENGLISH = "the of and to in is that for it as was with be by on not he this are or his from".split()
FRENCH = "Le chat de la voisine est dans le jardin avec les enfants, mais il ne dort pas."
LINES = (
    "the model has no segmenter: each line is taken as a sentence, with spaces between its words"
)


@pytest.fixture
def parser() -> Parser:
    """A parser of English, as far as its words tell."""
    parser = Parser.load(GOLDEN)
    parser.__dict__["_known_language"] = KnownLanguage(
        ENGLISH + [f"word{letter}{k}" for letter in "abcdefghijklmnopqrstuvwxyz" for k in range(4)]
    )
    return parser


@pytest.fixture
def without_segmenter(parser: Parser) -> Parser:
    parser.segmenter = None
    return parser


CALLS: dict[str, Callable[[Parser], object]] = {
    "text": lambda parser: parser(FRENCH),
    "texts": lambda parser: list(parser.pipe([FRENCH])),
    "words": lambda parser: parser.parse_words(FRENCH.split()),
    "sentence": lambda parser: parser(Sentence.from_words(FRENCH.split())),
    "sentences": lambda parser: parser.parse([FRENCH.split()]),
    "stream": lambda parser: list(parser.parse_stream([FRENCH.split()])),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_text_in_another_language_gives_one_warning(name: str, parser: Parser) -> None:
    with pytest.warns(HeadspanWarning) as caught:
        CALLS[name](parser)
    (warning,) = caught
    assert str(warning.message) == (
        "this text looks like French; the model has learned another language"
    )
    assert warning.filename == __file__
    CALLS[name](parser)  # pytest makes an error of a second warning
    parser("Кошка соседки в саду с детьми, но она не спит.")


@pytest.mark.parametrize("header", ["language: en", "tags: [a]\nlanguage: [en]"])
def test_the_model_card_names_the_language_of_the_model(header: str, parser: Parser) -> None:
    parser.card = f"---\n{header}\nlicense: mit\n---\n\nlanguage: de\n"
    assert parser.language == "en"
    with pytest.warns(HeadspanWarning, match="looks like French; the model is English$"):
        parser(FRENCH)


@pytest.mark.parametrize("card", ["", "# A\nlanguage: en\n", "---\ntags: []\n---\nlanguage: en\n"])
def test_a_card_without_a_language(card: str, parser: Parser) -> None:
    parser.card = card
    assert parser.language is None


def test_a_text_in_the_language_of_the_card_gives_no_warning(parser: Parser) -> None:
    parser.card = "---\nlanguage: fr\n---\n"
    parser(FRENCH)  # a warning would be an error here
    assert not parser._warned


def test_a_few_foreign_sentences_give_no_warning(parser: Parser) -> None:
    english = "It was not for him to say that this is the end of it.".split()
    parser.parse([*[FRENCH.split()] * 4, *[english] * 16])
    assert not parser._warned
    with pytest.warns(HeadspanWarning, match="looks like French"):
        parser.parse([*[FRENCH.split()] * 16, *[english] * 4])


def test_a_model_that_knows_few_words_gives_no_warning() -> None:
    parser = Parser.load(GOLDEN)
    parser(FRENCH)
    assert not parser._warned


def test_word_embeddings_tell_the_language_of_a_model_without_a_segmenter() -> None:
    parser = Parser.load(GOLDEN)
    parser.segmenter = None
    letters = [f"Word{letter}{k}" for letter in "abcdefghijklmnopqrstuvwxyz" for k in range(4)]
    words = Vocabulary([*map(str.title, ENGLISH), *letters])
    parser.vocabularies = replace(parser.vocabularies, words=words)
    with pytest.warns(HeadspanWarning, match="looks like French"):
        parser._check_language([Sentence.from_words(FRENCH.split())])


def test_text_for_a_model_without_a_segmenter_gives_one_warning(without_segmenter: Parser) -> None:
    with pytest.warns(HeadspanWarning) as caught:
        without_segmenter("the dog .")
    (warning,) = caught
    assert str(warning.message) == LINES
    assert warning.filename == __file__
    without_segmenter("the dog .")
    list(without_segmenter.pipe(["the dog ."], lines=True))


def test_input_that_is_split_gives_no_warning(without_segmenter: Parser) -> None:
    without_segmenter("the dog .", pretokenized=True)
    list(without_segmenter.pipe(["the dog ."], pretokenized=True))
    without_segmenter.parse_words(["the", "dog", "."])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        list(without_segmenter.sentences(["the dog ."], lines=True))
    assert [str(warning.message) for warning in caught] == [LINES]
