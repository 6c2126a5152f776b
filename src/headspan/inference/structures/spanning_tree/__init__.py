"""Trees as sets of arcs that may cross: maximum spanning trees, and sums over all trees."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from headspan.inference.hypergraph import ScoredTrees
from headspan.inference.pieces import ARC
from headspan.inference.results import Trees
from headspan.inference.scores import Backend
from headspan.inference.structure import Structure
from headspan.inference.structures.spanning_tree.recurrence import inside

__all__ = ["SpanningTree", "spanning_tree"]


class SpanningTree(Structure):
    """score(tree) = sum of s(h, d) over the arcs of the tree, which need not be projective.

    scores[b, h, d] is the score of the arc from h to d, as for `arc`; (B, N+1, N+1).

    Best tree: O(n²) time and memory, after Chu and Liu, Edmonds, and Tarjan; on the CPU, wherever
    the scores are. Sums and marginals: O(n³) time, log Z in O(n²) and marginals in O(n³) memory. A
    further tree of the k best takes O(n³), a sample O(n⁴). Constraints are arcs, a root and leaves.

    `spans` of a tree are the fenceposts around each word and all words below it.

    Ties: a node takes the smallest of its best heads, a cycle counting as the first of its nodes
    that was reached; paths start at word 1, then at the first word that has no head yet.
    """

    pieces = (ARC,)
    projective = False
    exponent = 2
    sums_exponent = 3
    dense_sums = True
    inside = staticmethod(inside)
    compiled = __name__

    def _best(
        self,
        scores: Any,
        lengths: Any,
        backend: Backend | None,
        threads: int | None,
        *,
        gold: Any = None,
        costs: tuple[float, ...] = (),
    ) -> Trees:
        """Use the kernel on every device: where trees tie, the total's gradient is not a tree."""
        self.read(scores, lengths, backend)
        return super()._best(scores, lengths, "kernels", threads, gold=gold, costs=costs)

    def k_best_of_sentence(self, n: int, k: int, *scores: NDArray[np.float64]) -> ScoredTrees:
        from headspan.inference.structures.spanning_tree.tree_lists import k_best

        return k_best(scores[0], n, k)

    def samples_of_sentence(
        self, n: int, count: int, rng: np.random.Generator, *scores: NDArray[np.float64]
    ) -> ScoredTrees:
        from headspan.inference.structures.spanning_tree.tree_lists import sample

        return sample(scores[0], n, count, rng)


spanning_tree = SpanningTree()
