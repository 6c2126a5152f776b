"""Headed spans and arcs together: a span score that knows the head above it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from headspan.inference.algebra import Algebra
from headspan.inference.pieces import ARC, HEADED_SPAN
from headspan.inference.structure import Kernels, Structure
from headspan.inference.structures.joint.items import JointItems
from headspan.inference.structures.joint.recurrence import JointCharts, inside

__all__ = ["Joint", "joint"]


class Joint(Structure):
    """score(tree) = sum of s(i, j, k) over headed spans + sum of s(h, d) over arcs.

    The scores are those of `headed_span`, (B, N+1, N+1, N+1), and then those of `arc`,
    (B, N+1, N+1).

    Best tree, sums and marginals: O(n⁴) time, O(n³) memory. All constraints can be expressed here.

    Ties: the walk back takes, among the best, the smallest head of a span, on the left of a head
    the shortest first child, and on its right the longest last child.
    """

    pieces = (HEADED_SPAN, ARC)
    exponent = 4

    def inside(self, algebra: Algebra, lengths: NDArray[np.int64], *scores: Any) -> JointCharts:
        return inside(algebra, lengths, *scores)

    def hypergraph(self, charts: Any, n: int, *scores: NDArray[np.float64]) -> JointItems:
        return JointItems(charts, n, *scores)

    def kernels(self) -> Kernels:
        from headspan.inference.structures.joint import kernel, sums

        return Kernels(kernel.best, sums.sums)


joint = Joint()
