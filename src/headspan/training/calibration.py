"""Calibrating confidences by temperatures that are fitted on a treebank."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from headspan.conllu import Sentence
from headspan.model.numbering import prepare
from headspan.model.parser import Parser
from headspan.runtime.decoding import (
    TEMPERATURES,
    Temperatures,
    probabilities_of_best_relations,
    relation_scores,
)
from headspan.runtime.tree_scores import TreeScores

_Numbers: TypeAlias = NDArray[np.float64]

_LONGEST = 60  # words; longer sentences are few and would take most of the time
_BATCH = 32  # sentences
_WORDS = 10_000  # of a larger treebank, an even selection of sentences: scores stay in memory
_STEPS = 14


@torch.inference_mode()
def fit_temperatures(parser: Parser, sentences: Sequence[Sentence]) -> Temperatures:
    """Set the parser's temperatures to those under which confidences fit best.

    They have the least binary cross-entropy between confidences and whether heads are right and,
    where a head is right, its relation; by golden-section search over their logarithms.
    """
    usable = [s for s in sentences if 1 < len(s) <= _LONGEST]
    step = -(-sum(map(len, usable)) // _WORDS) or 1
    scored = list(_scored(parser, usable[::step]))
    if scored:
        parser.temperatures = Temperatures(
            trees=_fitted(scored, _head_confidences), relations=_fitted(scored, _of_relations)
        )
    return parser.temperatures


class _Scored(NamedTuple):
    """The scores of a batch, to try temperatures on, and which of its predictions are right."""

    scores: TreeScores
    heads: NDArray[np.int64]
    relations: NDArray[np.floating[Any]]
    """Of every arc, as `relation_scores` has them."""
    head_right: NDArray[np.bool_]
    relation_right: NDArray[np.bool_]


def _scored(parser: Parser, sentences: Sequence[Sentence]) -> Iterator[_Scored]:
    network = parser.network
    order = sorted(range(len(sentences)), key=lambda k: len(sentences[k]))
    for start in range(0, len(order), _BATCH):
        batch = [sentences[k] for k in order[start : start + _BATCH]]
        inputs = prepare(batch, parser.vocabularies, parser.tokenizer)
        encoded = network.encode(inputs)
        trees = encoded.scores.best()
        relations = relation_scores(encoded, network.sizes, range(len(batch)), trees)
        parsed = parser.parse(batch, retag=True)  # once more, for arcs that are restored
        yield _Scored(encoded.scores, trees.heads, relations, *_right(parsed, batch))


def _right(
    parsed: Iterable[Sentence], gold: Iterable[Sentence]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether each word's head is the gold one, and whether its relation is."""
    pairs = list(zip(parsed, gold, strict=True))
    heads = [a == b for p, g in pairs for a, b in zip(p.heads, g.heads, strict=True)]
    relations = [a == b for p, g in pairs for a, b in zip(p.deprels, g.deprels, strict=True)]
    return np.array(heads, dtype=bool), np.array(relations, dtype=bool)


def _head_confidences(batch: _Scored, temperature: float) -> tuple[_Numbers, NDArray[np.bool_]]:
    """The confidence of every predicted head, and whether it is right."""
    b, k = (batch.heads >= 0).nonzero()
    marginals: _Numbers = batch.scores.arc_marginals(temperature)
    return marginals[b, batch.heads[b, k], k + 1], batch.head_right


def _of_relations(batch: _Scored, temperature: float) -> tuple[_Numbers, NDArray[np.bool_]]:
    """The confidence of the relation of every right head, and whether it is right."""
    best = probabilities_of_best_relations(batch.relations, temperature)
    return best[batch.head_right], batch.relation_right[batch.head_right]


def _fitted(
    scored: Sequence[_Scored],
    judged: Callable[[_Scored, float], tuple[_Numbers, NDArray[np.bool_]]],
) -> float:
    """The temperature with the least cross-entropy of confidences."""

    def loss(log_temperature: float) -> float:
        pairs = [judged(batch, math.exp(log_temperature)) for batch in scored]
        values, right = (np.concatenate(part) for part in zip(*pairs, strict=True))
        return cross_entropy(values, right)

    if not any(len(judged(batch, 1.0)[1]) for batch in scored):
        return 1.0  # no head is right, so nothing is known about relations
    return round(math.exp(_lowest(loss, *map(math.log, TEMPERATURES))), 3)


def _lowest(function: Callable[[float], float], low: float, high: float) -> float:
    """The minimum of a function with a single valley, by golden-section search."""
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(_STEPS):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
    return (low + high) / 2


class Judged(NamedTuple):
    """Confidences of predictions, and whether these are right."""

    confidences: _Numbers
    right: NDArray[np.bool_]


def judged(parser: Parser, sentences: Sequence[Sentence]) -> dict[str, Judged]:
    """The confidences of predicted `arcs`, of their `heads`, and of the `relations` of right heads.

    An arc is right if its head and its relation are.
    """
    pairs = [
        (parsed, gold)
        for parsed, gold in zip(
            parser.parse_stream(sentences, confidence=True, retag=True), sentences, strict=True
        )
        if parsed.head_confidences
    ]
    heads, relations = _right((parsed for parsed, _ in pairs), (gold for _, gold in pairs))
    of_heads = np.array([c for parsed, _ in pairs for c in parsed.head_confidences])
    of_relations = np.array([c for parsed, _ in pairs for c in parsed.relation_confidences])
    return {
        "arcs": Judged(of_heads * of_relations, heads & relations),
        "heads": Judged(of_heads, heads),
        "relations": Judged(of_relations[heads], relations[heads]),
    }


def cross_entropy(confidences: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """The mean of −log of the probability of the actual outcome."""
    clipped = confidences.clip(1e-6, 1 - 1e-6)
    return float(-np.log(np.where(right, clipped, 1 - clipped)).mean())


def reliability(
    confidences: NDArray[np.float64], right: NDArray[np.bool_], *, bins: int = 10
) -> list[tuple[int, float, float]]:
    """Per bin of confidence: the number of arcs, their mean confidence, the share of right ones."""
    bin_of = np.minimum((confidences * bins).astype(int), bins - 1)
    return [
        (int(inside.sum()), float(confidences[inside].mean()), float(right[inside].mean()))
        for k in range(bins)
        if (inside := bin_of == k).any()
    ]


def expected_calibration_error(
    confidences: NDArray[np.float64], right: NDArray[np.bool_], *, bins: int = 10
) -> float:
    """The mean distance between confidence and share of right arcs, over bins weighted by arcs."""
    table = reliability(confidences, right, bins=bins)
    return sum(count * abs(mean - share) for count, mean, share in table) / max(len(confidences), 1)
