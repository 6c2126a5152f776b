"""From heads to inner siblings."""

from typing import Any

import numpy as np
from numba import types

from headspan.inference.simd.compile import array, helper, kernel


@helper
def siblings_of_sentence(heads: Any, b: int, n: int, siblings: Any) -> None:
    """Put the inner sibling of word k into siblings[b, k - 1], its head if there is none."""
    last = np.arange(n + 1)  # the dependent of a head that was seen last, or the head itself
    for k in range(1, n + 1):
        head = heads[b, k - 1]
        if head < k:
            siblings[b, k - 1] = last[head]
            last[head] = k
    last[:] = np.arange(n + 1)
    for k in range(n, 0, -1):
        head = heads[b, k - 1]
        if head > k:
            siblings[b, k - 1] = last[head]
            last[head] = k


def _siblings_of_trees(heads: Any, siblings: Any) -> None:
    for b in range(heads.shape[0]):
        n = 0
        while n < heads.shape[1] and heads[b, n] >= 0:
            n += 1
        siblings_of_sentence(heads, b, n, siblings)


_siblings_of_trees_kernel = kernel(
    lambda number: types.void(array(types.int64, 2), array(types.int64, 2))
)(_siblings_of_trees)


def inner_siblings(heads: Any) -> Any:
    """The inner siblings (B, N) of the words of trees (B, N), the head of a word if it has none.

    Arrays or tensors, −1 beyond the end of a sentence.
    """
    on_cpu = heads if isinstance(heads, np.ndarray) else heads.cpu()
    trees = np.ascontiguousarray(on_cpu, np.int64)
    siblings = np.full(trees.shape, -1, np.int64)
    _siblings_of_trees_kernel[np.float64](trees, siblings)
    if isinstance(heads, np.ndarray):
        return siblings
    import torch

    return torch.from_numpy(siblings).to(heads.device)
