"""Trees that a network builds word by word, pointing from each word to its head."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from headspan.inference.algebra import Algebra
from headspan.inference.failures import not_factored
from headspan.inference.hypergraph import ScoredTrees
from headspan.inference.pieces import POINTED_ARC, POINTED_ARC_IN_ORDER, Piece
from headspan.inference.results import Trees
from headspan.inference.structure import Structure
from headspan.inference.structures.pointer.search import Steps, search

__all__ = ["Pointer", "StepProvider", "left_to_right", "pointer"]


class StepProvider(Protocol):
    """Scores that are made word by word."""

    def steps(self, beam: int) -> Steps:
        """Start at the first word, with so many partial trees of every sentence."""
        ...


class Pointer(Structure):
    """log p(tree) = Σ_d log p(h_d | h_1 … h_{d−1}): words point to their heads, left to right.

    The network makes the scores of a word's heads when those before it have theirs
    (`headspan.nn.pointer`). So a tree is found by greedy or beam search, in n steps, and it need
    not be the best one. There is no array of scores to ask anything else of.

    projective: whether arcs that cross others are left out of the search. beam: the number of
    partial trees that are kept.
    """

    factored = False
    projective = False
    exponent = 2

    def __init__(self, piece: Piece, *, projective: bool = False, beam: int = 1) -> None:
        self.pieces = (piece,)
        self.projective = projective
        self.beam = beam

    def configured(self, *, crossing: bool, beam: int) -> "Pointer":
        return Pointer(*self.pieces, projective=not crossing, beam=beam)

    def inside(self, algebra: Algebra, lengths: NDArray[np.int64], *scores: Any) -> Any:
        """There are no charts: a tree's score is not a sum over pieces that are known before it."""
        raise not_factored()

    def k_best_of_sentence(self, n: int, k: int, *scores: NDArray[np.float64]) -> ScoredTrees:
        raise not_factored()

    def samples_of_sentence(
        self, n: int, count: int, rng: np.random.Generator, *scores: NDArray[np.float64]
    ) -> ScoredTrees:
        raise not_factored()

    def best_tree_by_steps(self, scores: StepProvider, lengths: NDArray[np.int64]) -> Trees:
        """The tree that the search finds for every sentence; `scores` are log-probabilities."""
        from headspan.inference.headed_spans import spans_of_trees

        heads, totals = search(
            scores.steps(self.beam), lengths, projective=self.projective, beam=self.beam
        )
        spans, _ = spans_of_trees(heads, lengths, projective=self.projective)
        return Trees(heads, spans, totals, lengths)

    def __reduce__(self) -> Any:
        return _restored, (self.pieces, self.projective, self.beam)


def _restored(pieces: Sequence[Piece], projective: bool, beam: int) -> Pointer:
    return Pointer(*pieces, projective=projective, beam=beam)


pointer = Pointer(POINTED_ARC)
left_to_right = Pointer(POINTED_ARC_IN_ORDER)
