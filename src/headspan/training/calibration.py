"""Making confidences mean what they say: a temperature, fitted on a treebank."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from headspan.conllu import Sentence
from headspan.model.numbering import prepare
from headspan.model.parser import Parser
from headspan.nn.tree_scores import TreeScores

_LONGEST = 60  # words; longer sentences are few and would take most of the time
_BATCH = 32  # sentences
_RANGE = 0.05, 20.0
_STEPS = 14


@torch.inference_mode()
def fit_temperature(parser: Parser, sentences: Sequence[Sentence]) -> float:
    """Give the parser the temperature under which confidences explain best which arcs are right.

    That is the one with the least binary cross-entropy between the confidence of each predicted arc
    and whether the arc is right, found by golden-section search over its logarithm.
    """
    scored = list(_scored(parser, [s for s in sentences if 1 < len(s) <= _LONGEST]))

    def loss(log_temperature: float) -> float:
        pairs = [(_chances(some, math.exp(log_temperature)), some.right) for some in scored]
        return cross_entropy(*(np.concatenate(part) for part in zip(*pairs, strict=True)))

    if scored:
        parser.temperature = round(math.exp(_lowest(loss, *map(math.log, _RANGE))), 3)
    return parser.temperature


class _Scored(NamedTuple):
    """A batch that went through the network: what it takes to try temperatures on it."""

    scores: TreeScores
    heads: NDArray[np.int64]
    right: NDArray[np.bool_]


def _scored(parser: Parser, sentences: Sequence[Sentence]) -> Iterator[_Scored]:
    network = parser.network.eval()
    order = sorted(range(len(sentences)), key=lambda k: len(sentences[k]))
    for start in range(0, len(order), _BATCH):
        batch = [sentences[k] for k in order[start : start + _BATCH]]
        inputs = prepare(batch, parser.vocabularies, parser.tokenizer)
        scores = network.tree_scores(network.context(inputs)[0], inputs.lengths)
        parsed = parser.parse(batch, retag=True)  # once more, for arcs that are restored
        right = [
            a == b
            for found, gold in zip(parsed, batch, strict=True)
            for a, b in zip(found.heads, gold.heads, strict=True)
        ]
        yield _Scored(scores, scores.best().heads, np.array(right))


def _chances(some: _Scored, temperature: float) -> NDArray[np.float64]:
    """The confidence of every predicted arc of a batch."""
    b, k = (some.heads >= 0).nonzero()
    found: NDArray[np.float64] = some.scores.arc_marginals(temperature)[b, some.heads[b, k], k + 1]
    return found


def _lowest(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function with one valley is lowest, by golden-section search."""
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


def confidences(
    parser: Parser, sentences: Sequence[Sentence]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The confidence of every predicted arc, and whether its head is the gold one."""
    chances: list[float] = []
    right: list[bool] = []
    for parsed, gold in zip(
        parser.pipe(sentences, confidence=True, retag=True), sentences, strict=True
    ):
        if parsed.confidences:
            chances += parsed.confidences
            right += [a == b for a, b in zip(parsed.heads, gold.heads, strict=True)]
    return np.array(chances), np.array(right, dtype=bool)


def cross_entropy(chances: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """The mean of −log(the probability that was given to what is the case)."""
    kept = chances.clip(1e-6, 1 - 1e-6)
    return float(-np.log(np.where(right, kept, 1 - kept)).mean())


def reliability(
    chances: NDArray[np.float64], right: NDArray[np.bool_], *, bins: int = 10
) -> list[tuple[int, float, float]]:
    """How many arcs, their mean confidence and the share that is right, for equal steps of it."""
    place = np.minimum((chances * bins).astype(int), bins - 1)
    return [
        (int(inside.sum()), float(chances[inside].mean()), float(right[inside].mean()))
        for k in range(bins)
        if (inside := place == k).any()
    ]


def expected_calibration_error(
    chances: NDArray[np.float64], right: NDArray[np.bool_], *, bins: int = 10
) -> float:
    """The mean distance between confidence and share of right arcs, over bins weighted by arcs."""
    table = reliability(chances, right, bins=bins)
    return sum(count * abs(mean - share) for count, mean, share in table) / max(len(chances), 1)
