"""Trees as arcs: the first-order structure of the biaffine parser."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from headspan.inference.algebra import Algebra
from headspan.inference.pieces import ARC
from headspan.inference.structure import Kernels, Structure
from headspan.inference.structures.arc.items import ArcItems
from headspan.inference.structures.arc.recurrence import ArcCharts, inside

__all__ = ["Arc", "arc"]


class Arc(Structure):
    """score(tree) = sum of s(h, d) over the arcs from heads h to dependents d. After Eisner.

    scores[b, h, d] is the score of the arc from h to d, 0 <= h <= n, 1 <= d <= n, h != d;
    (B, N+1, N+1).

    Best tree, sums and marginals: O(n³) time, O(n²) memory.

    Ties: the walk back takes the smallest among the best root, then in R(i,j) and L(i,j) the
    smallest k, and in b(i,j) the smallest k (see recurrence.py for the letters).
    """

    pieces = (ARC,)

    def inside(self, algebra: Algebra, lengths: NDArray[np.int64], *scores: Any) -> ArcCharts:
        return inside(algebra, lengths, *scores)

    def hypergraph(self, charts: Any, n: int, *scores: NDArray[np.float64]) -> ArcItems:
        return ArcItems(charts, n, *scores)

    def kernels(self) -> Kernels:
        from headspan.inference.structures.arc import kernel, sums

        return Kernels(kernel.best, sums.sums)


arc = Arc()
