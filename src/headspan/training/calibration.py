"""Calibrating confidences by a temperature that is fitted on a treebank."""

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
_WORDS = 10_000  # of a larger treebank, an even selection of sentences: scores stay in memory
_RANGE = 0.05, 20.0
_STEPS = 14


@torch.inference_mode()
def fit_temperature(parser: Parser, sentences: Sequence[Sentence]) -> float:
    """Set the parser's temperature to the one under which confidences fit best.

    It has the least binary cross-entropy between the confidences of predicted arcs and whether they
    are right, by golden-section search over its logarithm.
    """
    usable = [s for s in sentences if 1 < len(s) <= _LONGEST]
    step = -(-sum(map(len, usable)) // _WORDS) or 1
    scored = list(_scored(parser, usable[::step]))

    def loss(log_temperature: float) -> float:
        temperature = math.exp(log_temperature)
        pairs = [(_arc_confidences(batch, temperature), batch.right) for batch in scored]
        return cross_entropy(*(np.concatenate(part) for part in zip(*pairs, strict=True)))

    if scored:
        parser.temperature = round(math.exp(_lowest(loss, *map(math.log, _RANGE))), 3)
    return parser.temperature


class _Scored(NamedTuple):
    """The scores of a batch, to try temperatures on."""

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
            for parse, gold in zip(parsed, batch, strict=True)
            for a, b in zip(parse.heads, gold.heads, strict=True)
        ]
        yield _Scored(scores, scores.best().heads, np.array(right))


def _arc_confidences(batch: _Scored, temperature: float) -> NDArray[np.float64]:
    """The confidence of every predicted arc of a batch."""
    b, k = (batch.heads >= 0).nonzero()
    marginals: NDArray[np.float64] = batch.scores.arc_marginals(temperature)
    return marginals[b, batch.heads[b, k], k + 1]


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


def confidences(
    parser: Parser, sentences: Sequence[Sentence]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The confidence of every predicted arc, and whether its head is the gold one."""
    values: list[float] = []
    right: list[bool] = []
    for parsed, gold in zip(
        parser.parse_stream(sentences, confidence=True, retag=True), sentences, strict=True
    ):
        if parsed.confidences:
            values += parsed.confidences
            right += [a == b for a, b in zip(parsed.heads, gold.heads, strict=True)]
    return np.array(values), np.array(right, dtype=bool)


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
