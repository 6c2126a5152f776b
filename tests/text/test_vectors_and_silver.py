"""What a segmenter learns from besides a treebank: vectors of words, and silver text."""

import dataclasses

import numpy as np

from headspan.conllu import Sentence
from headspan.text import SegmenterSettings, score_segmenter, train_segmenter
from headspan.text.learning import _certain

from .made_up import made_up_treebank


def test_vectors_of_rare_words_stay_and_those_of_frequent_words_are_learned(
    settings: SegmenterSettings,
) -> None:
    size = settings.sizes.words
    vectors = {
        word: np.full(size, k, np.float32)
        for k, word in enumerate(("ann", "eert", "nesne", "жук"), 1)
    }
    quick = dataclasses.replace(settings, epochs=2)
    segmenter = train_segmenter(
        made_up_treebank(100, 1), made_up_treebank(20, 2), settings=quick, vectors=vectors
    )
    finder = segmenter.finder
    table = finder.tagger.tensors()["word.weight"]
    for word in ("eert", "nesne"):
        assert (table[finder.words.number(word)] == vectors[word]).all()
    assert "жук" not in finder.words, "it has letters that the treebank does not have"
    learned = table[finder.words.number("ann")]
    assert (learned != vectors["ann"]).all()
    assert np.abs(learned - vectors["ann"]).max() < 1, "it started from its vector"


def sentence(text: str, *, begins: bool) -> Sentence:
    comments = ["# newpar"] if begins else []
    return Sentence.from_words(text.split(), comments=comments)


def test_only_paragraphs_with_clear_ends_are_certain() -> None:
    good = [sentence("Dogs bark .", begins=True), sentence("Do they ?", begins=False)]
    lower = [sentence("Dogs bark .", begins=True), sentence("they do .", begins=False)]
    unmarked = [sentence("A heading", begins=True)]
    last = [sentence("Cats meow !", begins=True)]
    assert list(_certain([*good, *lower, *unmarked, *last])) == [good, last]
    assert list(_certain([])) == []


def test_silver_text_is_learned_from(settings: SegmenterSettings) -> None:
    train, dev = made_up_treebank(12, 1), made_up_treebank(60, 2)
    quick = dataclasses.replace(settings, epochs=3)
    alone = train_segmenter(train, dev, settings=quick)
    with_silver = train_segmenter(train, dev, settings=quick, silver=made_up_treebank(400, 3))
    scores = [score_segmenter(each, dev)["tokens"].f1 for each in (alone, with_silver)]
    assert scores[1] > scores[0] + 1
