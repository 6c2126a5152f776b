"""From the scores of a batch to trees with relations, confidences and alternatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from headspan.inference import Constraints, Structure, Trees
from headspan.plumbing.stages import stage
from headspan.runtime.inputs import Inputs, VocabularySizes
from headspan.runtime.tree_scores import TreeScores

_Scores = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class PredictedTrees:
    """One tree for every sentence of a batch; −1 beyond the ends."""

    heads: NDArray[np.int64]
    """(B, N)"""
    spans: NDArray[np.int64]
    """(B, N, 2)"""
    labels: NDArray[np.int64]
    """(B, N)"""
    scores: NDArray[np.float64]
    """(B,)"""


@dataclass(frozen=True, slots=True)
class Temperatures:
    """Scores are divided by these before they become probabilities."""

    trees: float = 1.0
    relations: float = 1.0


TEMPERATURES = 0.05, 20.0
"""The lowest and the highest temperature that makes sense."""
UNCALIBRATED = Temperatures()
"""Probabilities of the scores as they are."""


@dataclass(frozen=True, slots=True)
class Confidences:
    """Probabilities of predicted arcs, (B, N)."""

    heads: NDArray[np.float64]
    """The probability that the head is right; NaN where a sentence is too long."""
    relations: NDArray[np.float64]
    """The probability that the relation is right, if the head is; NaN beyond the ends."""


@dataclass(frozen=True, slots=True)
class Output:
    """The predictions for a batch."""

    best: PredictedTrees
    tags: list[NDArray[np.int64]]
    """(B, N) for every column that is predicted."""
    confidences: Confidences | None
    """Those of the best trees, if requested."""
    alternatives: list[PredictedTrees] | None
    """The k best trees of each sentence, the axis B being the rank."""
    probabilities: list[NDArray[np.float64]] | None
    """The share that each of these trees has of all trees of its sentence."""


class EncodedBatch(Protocol):
    """What a network has computed for a batch before anything is decided."""

    @property
    def scores(self) -> TreeScores:
        """The scores of every piece of the structure."""
        ...

    @property
    def tags(self) -> list[NDArray[np.int64]]:
        """The best tags, (B, N), for every column that is predicted."""
        ...

    def relations(self, rows: Sequence[int], trees: Trees) -> _Scores:
        """Scores of all relations for every arc of some trees, (arcs, R), tree by tree.

        rows: the sentence of each tree.
        """
        ...


@dataclass(frozen=True, slots=True)
class DecodingOptions:
    """What is asked for besides the best trees, and what these must contain."""

    constraints: Sequence[Constraints | None] | None = None
    """One per sentence, or None for it."""
    confidence: bool = False
    """Whether to give the probabilities of heads and relations."""
    temperatures: Temperatures = UNCALIBRATED
    k: int = 1
    """If it is not 1, give the k best trees with their probabilities."""


BEST_TREES = DecodingOptions()
"""Nothing but the best trees."""


class Engine(Protocol):
    """A network that parses: with torch (`nn.network`) or without (`runtime.graph_network`)."""

    @property
    def structure(self) -> Structure:
        """The structure whose pieces it scores."""
        ...

    @property
    def sizes(self) -> VocabularySizes:
        """The sizes of the vocabularies that it was made for."""
        ...

    @property
    def parameters_count(self) -> int:
        """The number of its weights."""
        ...

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Its weights by their names."""
        ...

    def compute_in_int8(self, wanted: bool) -> None:
        """Compute linear maps in 8-bit integers, or in float32."""
        ...

    def encode(self, inputs: Inputs) -> EncodedBatch:
        """Compute what decoding needs."""
        ...

    def parse(self, inputs: Inputs, options: DecodingOptions = BEST_TREES) -> Output:
        """`encode` and `decode`."""
        ...


def decode(encoded: EncodedBatch, sizes: VocabularySizes, options: DecodingOptions) -> Output:
    """The best trees with their relations, and tags."""
    scores, constraints, temperatures = encoded.scores, options.constraints, options.temperatures
    count = len(scores.lengths)
    with stage("decode"):
        trees = scores.best(constraints)
    with stage("label"):
        relations = relation_scores(encoded, sizes, range(count), trees)
        best = _labelled(trees, relations)
    confidences = None
    if options.confidence:
        marginals = scores.arc_marginals(temperatures.trees)
        word = np.arange(1, best.heads.shape[1] + 1)
        confidences = Confidences(
            marginals[np.arange(count)[:, None], best.heads.clip(0), word],
            _probabilities_of_best(best, relations, temperatures.relations),
        )
    alternatives = probabilities = None
    if options.k > 1:
        alternatives = []
        for b, constraint in enumerate(constraints or [None] * count):
            ranked = scores.k_best(b, options.k, constraint)
            same = [b] * len(ranked.heads)
            alternatives.append(_labelled(ranked, relation_scores(encoded, sizes, same, ranked)))
        probabilities = [
            scores.shares(b, ranked.scores, temperatures.trees)
            for b, ranked in enumerate(alternatives)
        ]
    return Output(best, encoded.tags, confidences, alternatives, probabilities)


def relation_scores(
    encoded: EncodedBatch, sizes: VocabularySizes, rows: Sequence[int], trees: Trees
) -> _Scores:
    """Scores of all relations for every arc of some trees, (arcs, R), tree by tree.

    They are −inf for the relation of the root below a word, for others below the root, and for
    reserved numbers. rows: the sentence of each tree.
    """
    scores = encoded.relations(rows, trees)
    scores[:, : sizes.reserved] = -np.inf
    if 0 < len(sizes.root_labels) < scores.shape[1] - sizes.reserved:
        only_root = np.zeros(scores.shape[1], np.bool_)
        only_root[list(sizes.root_labels)] = True
        is_root = trees.heads[trees.heads >= 0] == 0
        scores[is_root[:, None] != only_root] = -np.inf
    return scores


def probabilities_of_best_relations(scores: _Scores, temperature: float) -> NDArray[np.float64]:
    """The probability of the best relation of every arc; scores as from `relation_scores`."""
    scaled = scores.astype(np.float64) / temperature
    scaled -= scaled.max(-1, keepdims=True)
    probabilities: NDArray[np.float64] = 1 / np.exp(scaled).sum(-1)
    return probabilities


def _labelled(trees: Trees, scores: _Scores) -> PredictedTrees:
    labels = np.full(trees.heads.shape, -1, np.int64)
    labels[trees.heads >= 0] = scores.argmax(-1)
    return PredictedTrees(trees.heads, trees.spans, labels, trees.scores)


def _probabilities_of_best(
    trees: PredictedTrees, scores: _Scores, temperature: float
) -> NDArray[np.float64]:
    """The probability of the best relation of every arc, (B, N)."""
    values = np.full(trees.heads.shape, np.nan)
    values[trees.heads >= 0] = probabilities_of_best_relations(scores, temperature)
    return values
