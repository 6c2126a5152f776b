"""The recurrence over headed spans, for any algebra.

    α(i,i) = 0
    γ(i,j) = ⊕_{i<k<=j} α(i,k-1) + α(k,j) + s(i,j,k)            C-CONC, HEADLESS
    α(i,j) = ⊕_{i<=k<j} α(i,k) + γ(k,j)                         S-CONC, the last child alone

γ(i,j) is a headed span, α(i,j) a sequence of them; ⊕ is the algebra's sum. The goal is γ(0,n): a
single root. Width by width, all spans of one width at a time.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headspan.inference.algebra import Algebra


class HeadedSpanCharts(NamedTuple):
    """alpha[b, i, j] and gamma[b, i, j]; total[b] = γ(0, n)."""

    total: Any
    alpha: Any
    gamma: Any


def inside(algebra: Algebra, lengths: NDArray[np.int64], spans: Any) -> HeadedSpanCharts:
    """Fill the charts. spans: (B, N+1, N+1, N+1)."""
    size, side = spans.shape[:2]
    alpha, gamma = algebra.chart(size, side, side), algebra.chart(size, side, side)
    posts = algebra.range(0, side)
    alpha[:, posts, posts] = 0.0
    for width in range(1, side):
        i = algebra.range(0, side - width)
        j = i + width
        k = i[:, None] + algebra.range(0, width)
        left, right = i[:, None], j[:, None]
        inner = alpha[:, left, k] + alpha[:, k + 1, right]
        gamma[:, i, j] = algebra.sum(inner + spans[:, left, right, k + 1])
        alpha[:, i, j] = algebra.sum(alpha[:, left, k] + gamma[:, k, right])
    total = gamma[algebra.range(0, size), 0, algebra.index(lengths)]
    return HeadedSpanCharts(total, alpha, gamma)
