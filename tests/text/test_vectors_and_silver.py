"""What a segmenter learns from besides a treebank: vectors of words, and silver text."""

import dataclasses
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest

from headspan.conllu import Sentence
from headspan.text import (
    SegmenterEpoch,
    SegmenterSettings,
    learning,
    score_segmenter,
    train_segmenter,
)
from headspan.text.boundaries import BoundaryFinder
from headspan.text.boundary_tagger import BoundaryTagger
from headspan.text.learning import _by_certainty
from headspan.text.raw import Passage

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
    sentences = [*good, *lower, *unmarked, *last]
    assert _by_certainty(sentences) == ([good, last], [lower, unmarked])
    assert _by_certainty([]) == ([], [])


def test_silver_text_is_learned_from(settings: SegmenterSettings) -> None:
    train, dev = made_up_treebank(12, 1), made_up_treebank(60, 2)
    quick = dataclasses.replace(settings, epochs=3)
    alone = train_segmenter(train, dev, settings=quick)
    with_silver = train_segmenter(train, dev, settings=quick, silver=made_up_treebank(400, 3))
    scores = [score_segmenter(each, dev)["tokens"].f1 for each in (alone, with_silver)]
    assert scores[1] > scores[0] + 1


def test_voters_learn_what_is_certain_and_the_last_tagger_learns_from_them_all(
    settings: SegmenterSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int, int]] = []

    def record(
        _segmenter: Any, _tagger: Any, voters: Any, texts: learning._Texts, *_: Any
    ) -> list[SegmenterEpoch]:
        seen.append((len(voters), len(texts.certain), len(texts.uncertain)))
        return []

    monkeypatch.setattr(learning, "_train", record)
    silver = [
        sentence("Dogs bark .", begins=True),
        sentence("dogs bark .", begins=True),
        sentence("Cats meow", begins=True),
    ]
    train, dev = made_up_treebank(8, 1), made_up_treebank(4, 2)
    for voters, expected in ((0, [(0, 1, 0)]), (2, [(0, 1, 0), (0, 1, 0), (2, 1, 2)])):
        seen.clear()
        voting = dataclasses.replace(settings, voters=voters)
        train_segmenter(train, dev, settings=voting, silver=silver)
        assert seen == expected
    seen.clear()
    train_segmenter(train, dev, settings=voting)
    assert seen == [(0, 0, 0)], "without silver text, nobody votes"


def test_what_voters_say_counts_half_and_alone_where_nothing_is_certain(
    settings: SegmenterSettings,
) -> None:
    train, dev = made_up_treebank(20, 1), made_up_treebank(4, 2)
    quick = dataclasses.replace(
        settings, epochs=1, dropout=0.0, character_dropout=0.0, word_dropout=0.0
    )
    first, second, third = (
        train_segmenter(train, dev, settings=quick, seed=seed).finder for seed in (1, 2, 3)
    )
    passage = Passage("Dogs bark.", [3, 8, 9], [False] * 3, [9])
    wrong = Passage("Dogs bark.", [9], [True], [3])

    def loss(passage: Passage, voters: Sequence[BoundaryFinder], *, certain: bool = True) -> float:
        example = learning._example(passage, first, certain=certain)
        taggers = [cast(BoundaryTagger, voter.tagger) for voter in voters]
        return learning._loss(cast(BoundaryTagger, first.tagger), taggers, [example], quick).item()

    def votes(voters: Sequence[BoundaryFinder]) -> float:
        return loss(passage, voters, certain=False)

    assert votes([second]) == loss(wrong, [second], certain=False), "the truth does not matter"
    assert votes([second]) != votes([third])
    assert votes([second, third]) == pytest.approx((votes([second]) + votes([third])) / 2, rel=1e-5)
    for truth in (passage, wrong):
        both = (loss(truth, []) + votes([second])) / 2
        assert loss(truth, [second]) == pytest.approx(both, rel=1e-5)
    assert loss(passage, []) != pytest.approx(loss(wrong, []))


def test_a_segmenter_with_voters_learns(settings: SegmenterSettings) -> None:
    train, dev = made_up_treebank(100, 1), made_up_treebank(20, 2)
    silver = made_up_treebank(100, 3)
    voting = dataclasses.replace(settings, epochs=6, voters=1)
    epochs: list[SegmenterEpoch] = []
    segmenter = train_segmenter(train, dev, settings=voting, watch=epochs.append, silver=silver)
    assert [epoch.epoch for epoch in epochs] == [1, 2, 3, 4, 5, 6] * 2
    assert [epoch.tagger for epoch in epochs] == [1] * 6 + [2] * 6
    assert all(epoch.taggers == 2 for epoch in epochs)
    assert score_segmenter(segmenter, dev)["tokens"].f1 > 90
    again = train_segmenter(train, dev, settings=voting, silver=silver).finder.tagger.tensors()
    weights = segmenter.finder.tagger.tensors()
    assert all((weights[name] == again[name]).all() for name in weights)
