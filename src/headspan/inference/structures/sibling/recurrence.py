"""The recurrence over arcs and adjacent siblings, and also ends of headed spans, for any algebra.

F_L(i,h) is the left half of a head h, over the words i+1 … h, and F_R(h,j) its right half, over
h … j. S(b,c) is what lies between two adjacent siblings b < c, their inner halves. I_L(c,h) and
I_R(h,c) are what lies between a head h and its dependent c, with the arc.

    F_L(h-1,h) = l(h-1,h),  F_R(h,h) = r(h,h)
    S(b,c) = ⊕_{b<=m<c} F_R(b,m) + F_L(m,c)
    I_R(h,c) = s(h,c) + (F_L(h,c) + t(h,h,c) ⊕ ⊕_{h<b<c} I_R(h,b) + S(b,c) + t(h,b,c))
    I_L(c,h) = s(h,c) + (⊕_{c<b<h} S(c,b) + I_L(b,h) + t(h,b,c) ⊕ F_R(c,h-1) + t(h,h,c))
    F_R(h,j) = r(j,h) + ⊕_{h<c<=j} I_R(h,c) + F_R(c,j)
    F_L(i,h) = l(i,h) + ⊕_{i<c<h} F_L(i,c) + I_L(c,h)

The goal is ⊕_r F_L(0,r) + F_R(r,n) + s(0,r) + t(0,0,r): a single root. ⊕ is the algebra's sum.
Without ends, l and r are 0.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headspan.inference.algebra import Algebra


class SiblingCharts(NamedTuple):
    """left[b, i, h] = F_L(i,h), right[b, h, j] = F_R(h,j), between[b, b, c] = S(b,c),
    left_arc[b, c, h] = I_L(c,h), right_arc[b, h, c] = I_R(h,c).
    """

    total: Any
    left: Any
    right: Any
    between: Any
    left_arc: Any
    right_arc: Any


def inside(
    algebra: Algebra,
    lengths: NDArray[np.int64],
    arcs: Any,
    siblings: Any,
    left_ends: Any = None,
    right_ends: Any = None,
) -> SiblingCharts:
    """Fill the charts. siblings: (B, N+1, N+1, N+1); all others: (B, N+1, N+1)."""
    size, side = arcs.shape[:2]
    left, right, between, left_arc, right_arc = (algebra.chart(size, side, side) for _ in range(5))
    words = algebra.range(1, side)
    left[:, words - 1, words] = 0.0 if left_ends is None else left_ends[:, words - 1, words]
    right[:, words, words] = 0.0 if right_ends is None else right_ends[:, words, words]
    for distance in range(1, side - 1):
        # between the words i and j = i + distance
        i = algebra.range(1, side - distance)
        j, low = i + distance, i[:, None]
        high, m = j[:, None], low + algebra.range(0, distance)
        between[:, i, j] = algebra.sum(right[:, low, m] + left[:, m, high])
        # the arc from i to j: no sibling, then siblings k from left to right
        k = m[:, 1:]
        terms = algebra.chart(size, side - 1 - distance, distance)
        terms[..., 0] = left[:, i, j] + siblings[:, i, i, j]
        terms[..., 1:] = (right_arc[:, low, k] + between[:, k, high]) + siblings[:, low, k, high]
        right_arc[:, i, j] = algebra.sum(terms) + arcs[:, i, j]
        # the arc from j to i: siblings k from left to right, then no sibling
        terms = algebra.chart(size, side - 1 - distance, distance)
        terms[..., :-1] = (between[:, low, k] + left_arc[:, k, high]) + siblings[:, high, k, low]
        terms[..., -1] = right[:, i, j - 1] + siblings[:, j, j, i]
        left_arc[:, i, j] = algebra.sum(terms) + arcs[:, j, i]
        # the right half of i over (i, j), and the left half of j over (i - 1, j - 1)
        half = algebra.sum(right_arc[:, low, m + 1] + right[:, m + 1, high])
        right[:, i, j] = half if right_ends is None else half + right_ends[:, j, i]
        half = algebra.sum(left[:, low - 1, m] + left_arc[:, m, high])
        left[:, i - 1, j] = half if left_ends is None else half + left_ends[:, i - 1, j]
    ends = right[algebra.range(0, size), :, algebra.index(lengths)]
    root = arcs[:, 0, 1:] + siblings[:, 0, 0, 1:]
    total = algebra.sum((left[:, 0, 1:] + ends[:, 1:]) + root)
    return SiblingCharts(total, left, right, between, left_arc, right_arc)
