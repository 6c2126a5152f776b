"""Trees themselves: headed spans from heads, and walks along stored decisions."""

from typing import Any

import numpy as np
from numba import types

from headspan.inference.kernels.compile import INDICES, array, helper, kernel


@helper
def spans_of_sentence(heads: Any, b: int, n: int, spans: Any) -> bool:
    """Fill in the headed spans of one tree; False if it is not projective with a single root."""
    sizes = np.zeros(n + 1, np.int64)
    roots = 0
    for k in range(1, n + 1):
        spans[b, k - 1, 0], spans[b, k - 1, 1] = k - 1, k
    for k in range(1, n + 1):
        roots += heads[b, k - 1] == 0
        ancestor = k
        steps = 0
        while ancestor != 0:
            if ancestor < 0 or ancestor > n or steps > n:
                return False  # an unknown word or a cycle
            sizes[ancestor] += 1
            spans[b, ancestor - 1, 0] = min(spans[b, ancestor - 1, 0], k - 1)
            spans[b, ancestor - 1, 1] = max(spans[b, ancestor - 1, 1], k)
            ancestor = heads[b, ancestor - 1]
            steps += 1
    for k in range(1, n + 1):
        if spans[b, k - 1, 1] - spans[b, k - 1, 0] != sizes[k]:
            return False  # a gap in the subtree of k
    return roots == 1


def _spans_of_heads(heads: Any, lengths: Any, spans: Any) -> int:
    for b in range(heads.shape[0]):
        if not spans_of_sentence(heads, b, lengths[b], spans):
            return b
    return -1


spans_of_heads = kernel(
    lambda number: types.int64(array(types.int64, 2), INDICES, array(types.int64, 3))
)(_spans_of_heads)
