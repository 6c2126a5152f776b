"""All trees with a single root, summed by eliminating words, for any algebra.

Koo et al. (2007) sum over trees by a determinant. Here its elimination is written without a single
subtraction of weights, so that it can be done on logarithms and no digit is lost, however large the
scores are. With w(h,d) = exp s(h,d), words are eliminated from the last to the first. Word k leaves

    D(k)   = Σ_{1≤h<k} w(h,k)
    w(h,d) ← w(h,d) + w(h,k) w(k,d) / D(k)       0≤h<k, 1≤d<k, h≠d

and Z = Π_k D(k): trees without k, in which an arc from h to d also stands for a path through k. A
tree has one arc from the root, so that D(k) leaves out the root while there are other heads. The
first word k without any is the root's dependent: then D(k) = w(0,k), and from there on k, which is
not needed for anything else, plays the part of the root, w(0,d) = w(k,d), and counts in D.

Every operation is ⊕, + and −, the last for the division. With maxima for ⊕ the total is the score
of the best tree; but where trees tie, its gradient need not be a tree.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headspan.inference.algebra import NEVER, Algebra


class Elimination(NamedTuple):
    """The total, log Z or the score of the best tree; (B,)."""

    total: Any


def inside(algebra: Algebra, lengths: NDArray[np.int64], arcs: Any) -> Elimination:
    """Eliminate all words. arcs: (B, N+1, N+1)."""
    size, side = arcs.shape[:2]
    ends = algebra.index(lengths)
    # Numbers near 0 have the most digits: w is divided by the sum over the heads of each word.
    shift = _finite(algebra, algebra.sum(arcs.swapaxes(1, 2)))
    w = arcs - shift[:, None]
    total = shift.sum(1)
    rooted = ends < 0
    for k in range(side - 1, 0, -1):
        column, row = w[:, :k, k], w[:, k, :k]
        heads = algebra.chart(size, k)
        heads[:, 1:] = column[:, 1:]
        heads[rooted, 0] = column[rooted, 0]
        present = ends >= k
        first = present & ~rooted & (heads == NEVER).all(1)
        heads[first, 0] = column[first, 0]
        divisor = algebra.sum(heads)
        total = total + _only(algebra, present, divisor)
        terms = algebra.chart(size, k, k, 2)
        terms[..., 0] = w[:, :k, :k]
        terms[first, 0, :, 0] = NEVER
        quotient = column - _finite(algebra, divisor)[:, None]
        terms[..., 1] = quotient[:, :, None] + row[:, None]
        words = algebra.range(0, k)
        terms[:, words, words] = NEVER
        w = algebra.sum(terms)
        rooted = rooted | first
    return Elimination(total)


def _finite(algebra: Algebra, values: Any) -> Any:
    """The values, with 0 for −inf."""
    return _only(algebra, values > NEVER, values)


def _only(algebra: Algebra, where: Any, values: Any) -> Any:
    """The values where something holds, and 0 elsewhere."""
    chosen = algebra.chart(*values.shape)
    chosen[...] = 0.0
    chosen[where] = values[where]
    return chosen
