"""Eisner's recurrence over arcs, for any algebra.

Over words i <= j: R(i,j) has head i and is complete, L(i,j) has head j; r(i,j) and l(i,j) end in
the arc from i to j and from j to i.

    R(i,i) = L(i,i) = 0
    b(i,j) = ⊕_{i<=k<j} R(i,k) + L(k+1,j)
    r(i,j) = b(i,j) + s(i,j),  l(i,j) = b(i,j) + s(j,i)         E-R-LINK, E-L-LINK
    R(i,j) = ⊕_{i<k<=j} r(i,k) + R(k,j)                         E-R-CONC
    L(i,j) = ⊕_{i<=k<j} L(i,k) + l(k,j)                         E-L-CONC

The goal is ⊕_r L(1,r) + R(r,n) + s(0,r): a single root. ⊕ is the algebra's sum.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headspan.inference.algebra import Algebra


class ArcCharts(NamedTuple):
    """right[b, i, j] = R(i,j), left = L, right_arc = r, left_arc = l; words are 1 … N."""

    total: Any
    right: Any
    left: Any
    right_arc: Any
    left_arc: Any


def inside(algebra: Algebra, lengths: NDArray[np.int64], arcs: Any) -> ArcCharts:
    """Fill the charts. arcs: (B, N+1, N+1)."""
    size, side = arcs.shape[:2]
    right, left, right_arc, left_arc = (algebra.chart(size, side, side) for _ in range(4))
    words = algebra.range(1, side)
    right[:, words, words] = 0.0
    left[:, words, words] = 0.0
    for width in range(1, side - 1):
        i = algebra.range(1, side - width)
        j = i + width
        k = i[:, None] + algebra.range(0, width)
        low, high = i[:, None], j[:, None]
        base = algebra.sum(right[:, low, k] + left[:, k + 1, high])
        right_arc[:, i, j] = base + arcs[:, i, j]
        left_arc[:, i, j] = base + arcs[:, j, i]
        right[:, i, j] = algebra.sum(right_arc[:, low, k + 1] + right[:, k + 1, high])
        left[:, i, j] = algebra.sum(left[:, low, k] + left_arc[:, k, high])
    ends = right[algebra.range(0, size), :, algebra.index(lengths)]
    total = algebra.sum((left[:, 1, 1:] + ends[:, 1:]) + arcs[:, 0, 1:])
    return ArcCharts(total, right, left, right_arc, left_arc)
