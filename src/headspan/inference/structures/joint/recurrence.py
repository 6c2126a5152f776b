"""The recurrence over headed spans and arcs together, for any algebra.

Eisner and Satta's hook with span scores. For a head h, L_h(i) is a sequence of its left children
over (i, h-1), R_h(j) one of its right children over (h, j).

    L_h(h-1) = R_h(h) = 0
    β(p,q,c) = L_c(p) + R_c(q) + s(p,q,c)                       C-CONC
    γ_h(p,q) = ⊕_{p<c<=q} β(p,q,c) + s(h,c)                     the hook: (p,q) hangs from h
    L_h(i) = ⊕_{i<q<h} γ_h(i,q) + L_h(q)                        S-CONC, the first child alone
    R_h(j) = ⊕_{h<=p<j} R_h(p) + γ_h(p,j)                       S-CONC, the last child alone

The goal is γ_0(0,n). ⊕ is the algebra's sum. Width by width.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headspan.inference.algebra import Algebra


class JointCharts(NamedTuple):
    """left[b, h, i] = L_h(i), right[b, h, j] = R_h(j), hooks[b, p, q, h] = γ_h(p,q)."""

    total: Any
    left: Any
    right: Any
    hooks: Any


def inside(algebra: Algebra, lengths: NDArray[np.int64], spans: Any, arcs: Any) -> JointCharts:
    """Fill the charts. spans: (B, N+1, N+1, N+1); arcs: (B, N+1, N+1)."""
    size, side = spans.shape[:2]
    left, right = algebra.chart(size, side, side), algebra.chart(size, side, side)
    hooks = algebra.chart(size, side, side, side)
    words = algebra.range(1, side)
    left[:, words, words - 1] = 0.0
    right[:, words, words] = 0.0
    for width in range(1, side):
        steps = algebra.range(0, width)
        p = algebra.range(0, side - width)
        q, c = p + width, p[:, None] + 1 + steps
        low, high = p[:, None], q[:, None]
        beta = (left[:, c, low] + right[:, c, high]) + spans[:, low, high, c]
        heads = algebra.range(0, side)[:, None]
        hooks[:, p, q] = algebra.sum(beta[:, :, None, :] + arcs[:, heads, c[:, None, :]])
        # the left children of the heads h = i + width + 1 over (i, h-1)
        i = algebra.range(0, side - width - 1)
        h, ends = i + width + 1, i[:, None] + 1 + steps
        first = hooks[:, i[:, None], ends, h[:, None]]
        left[:, h, i] = algebra.sum(first + left[:, h[:, None], ends])
        # the right children of the heads h over (h, h + width)
        h = algebra.range(1, side - width)
        j, starts = h + width, h[:, None] + steps
        last = hooks[:, starts, j[:, None], h[:, None]]
        right[:, h, j] = algebra.sum(right[:, h[:, None], starts] + last)
    total = hooks[algebra.range(0, size), 0, algebra.index(lengths), 0]
    return JointCharts(total, left, right, hooks)
