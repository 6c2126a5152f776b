"""The recurrence over arcs and ends of headed spans, for any algebra.

The left half of a head h over (i, h-1) is open, C_L(i,h), or closed, F_L(i,h): then i is the left
end of h's span. Right halves C_R(h,j) and F_R(h,j) likewise. I_L(c,h) and I_R(h,c) are what lies
between a head h and its dependent c, with the arc.

    C_L(h-1,h) = C_R(h,h) = 0
    F_L(i,h) = C_L(i,h) + l(i,h),  F_R(h,j) = C_R(h,j) + r(j,h)
    I_L(c,h) = ⊕_{c<=m<h} F_R(c,m) + C_L(m,h) + s(h,c)
    I_R(h,c) = ⊕_{h<=m<c} C_R(h,m) + F_L(m,c) + s(h,c)
    C_L(i,h) = ⊕_{i<c<h} F_L(i,c) + I_L(c,h)
    C_R(h,j) = ⊕_{h<c<=j} I_R(h,c) + F_R(c,j)

The goal is ⊕_r F_L(0,r) + F_R(r,n) + s(0,r): a single root. ⊕ is the algebra's sum.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headspan.inference.algebra import Algebra


class SplitCharts(NamedTuple):
    """open_left[b, i, h] = C_L(i,h), left[b, i, h] = F_L(i,h), open_right[b, h, j] = C_R(h,j),
    right[b, h, j] = F_R(h,j), left_arc[b, c, h] = I_L(c,h), right_arc[b, h, c] = I_R(h,c).
    """

    total: Any
    open_left: Any
    left: Any
    open_right: Any
    right: Any
    left_arc: Any
    right_arc: Any


def inside(
    algebra: Algebra, lengths: NDArray[np.int64], arcs: Any, left_ends: Any, right_ends: Any
) -> SplitCharts:
    """Fill the charts. All scores: (B, N+1, N+1)."""
    size, side = arcs.shape[:2]
    open_left, left, open_right, right, left_arc, right_arc = (
        algebra.chart(size, side, side) for _ in range(6)
    )
    words = algebra.range(1, side)
    open_left[:, words - 1, words] = 0.0
    left[:, words - 1, words] = left_ends[:, words - 1, words]
    open_right[:, words, words] = 0.0
    right[:, words, words] = right_ends[:, words, words]
    for distance in range(1, side - 1):
        # between the words i and j = i + distance
        i = algebra.range(1, side - distance)
        j, steps = i + distance, algebra.range(0, distance)
        low, high, m = i[:, None], j[:, None], i[:, None] + steps
        between = algebra.sum(right[:, low, m] + open_left[:, m, high])
        left_arc[:, i, j] = between + arcs[:, j, i]
        between = algebra.sum(open_right[:, low, m] + left[:, m, high])
        right_arc[:, i, j] = between + arcs[:, i, j]
        # the right half of i over (i, j)
        last = right_arc[:, low, m + 1] + right[:, m + 1, high]
        open_right[:, i, j] = algebra.sum(last)
        right[:, i, j] = open_right[:, i, j] + right_ends[:, j, i]
        # the left half of j over (i - 1, j - 1)
        first = left[:, low - 1, m] + left_arc[:, m, high]
        open_left[:, i - 1, j] = algebra.sum(first)
        left[:, i - 1, j] = open_left[:, i - 1, j] + left_ends[:, i - 1, j]
    ends = right[algebra.range(0, size), :, algebra.index(lengths)]
    total = algebra.sum((left[:, 0, 1:] + ends[:, 1:]) + arcs[:, 0, 1:])
    return SplitCharts(total, open_left, left, open_right, right, left_arc, right_arc)
