from dataclasses import replace

import pytest

from headspan.conllu import MultiwordToken, Sentence
from headspan.text.multiwords import Multiwords


def treebank(*tokens: tuple[str, ...]) -> list[Sentence]:
    """A sentence for each token: its form, then its words."""
    sentences = []
    for form, *words in tokens:
        token = MultiwordToken(1, len(words), (form, *"________"))
        sentences.append(replace(Sentence.from_words(words), multiwords=(token,)))
    return sentences


@pytest.fixture(scope="module")
def multiwords() -> Multiwords:
    learned = Multiwords.learn(
        treebank(
            ("don't", "do", "n't"), ("isn't", "is", "n't"), ("ca't", "ca", "n't"),
            ("it's", "it", "'s"), ("he's", "he", "'s"), ("let's", "let", "'s"),
            ("du", "de", "le"), ("du", "de", "le"), ("du", "du", "x"), ("DU", "DE", "le"),
            ("auxquels", "à", "lesquels"), ("auxquelles", "à", "lesquelles"),
            ("fazê-lo", "fazer", "lo"), ("trazê-lo", "trazer", "lo"),
            ('"a"', '"', "a", '"'), ('"bc"', '"', "bc", '"'),
        )
    )  # fmt: skip
    return Multiwords.from_json(learned.to_json())


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("don't", "do n't"),
        ("Don't", "Do n't"),
        ("DON'T", "DO N'T"),
        ("don’t", "do n’t"),
        ("wouldn't", "would n't"),
        ("WOULDN’T", "WOULD N’T"),
        ("ca't", "ca n't"),
        ("Ca't", "Ca n't"),
        ("Iran's", "Iran 's"),
        ("du", "de le"),
        ("Du", "De le"),
        ("DU", "DE le"),
        ("dizê-lo", "dizer lo"),
        ('"Xyz"', '" Xyz "'),
        ("dunno", "dunno"),
        ("n't", "n't"),
        ("'", "'"),
    ],
)
def test_tokens_are_split_as_training_did_or_by_shared_rules(
    multiwords: Multiwords, form: str, words: str
) -> None:
    assert multiwords.words(form) == tuple(words.split())


def test_without_multiword_tokens_in_training_tokens_stay_whole() -> None:
    assert Multiwords.learn([]).words("don't") == ("don't",)
