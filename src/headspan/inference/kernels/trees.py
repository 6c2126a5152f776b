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


def _walk_spans(words: Any, starts: Any, lengths: Any, heads: Any, spans: Any) -> None:
    """words[b,i,j] heads (i,j); the last child of a sequence over (i,j) begins at starts[b,i,j]."""
    stack = np.empty((heads.shape[1] + 1, 3), np.int64)
    for b in range(heads.shape[0]):
        stack[0, 0], stack[0, 1], stack[0, 2] = 0, lengths[b], 0
        top = 1
        while top:
            top -= 1
            i, j, head = stack[top, 0], stack[top, 1], stack[top, 2]
            word = words[b, i, j]
            heads[b, word - 1] = head
            spans[b, word - 1, 0], spans[b, word - 1, 1] = i, j
            for side in range(2):
                low, high = (i, word - 1) if side == 0 else (word, j)
                while high > low:
                    k = starts[b, low, high]
                    stack[top, 0], stack[top, 1], stack[top, 2] = k, high, word
                    top += 1
                    high = k


def _walk_arcs(
    splits: Any, right_at: Any, left_at: Any, roots: Any, lengths: Any, heads: Any, spans: Any
) -> None:
    """The decisions in b(i,j), R(i,j) and L(i,j); see kernels/arc.py."""
    stack = np.empty((3 * heads.shape[1] + 3, 3), np.int64)
    for b in range(heads.shape[0]):
        root = roots[b]
        heads[b, root - 1] = 0
        stack[0, 0], stack[0, 1], stack[0, 2] = 1, root, 0
        stack[1, 0], stack[1, 1], stack[1, 2] = root, lengths[b], 1
        top = 2
        while top:
            top -= 1
            i, j, rightward = stack[top, 0], stack[top, 1], stack[top, 2]
            if i == j:
                continue
            if rightward:
                k = right_at[b, i, j]
                heads[b, k - 1] = i
                stack[top, 0], stack[top, 1] = k, j
                i, j = i, k
            else:
                k = left_at[b, i, j]
                heads[b, k - 1] = j
                stack[top, 0], stack[top, 1] = i, k
                i, j = k, j
            top += 1
            k = splits[b, i, j]
            stack[top, 0], stack[top, 1], stack[top, 2] = i, k, 1
            stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = k + 1, j, 0
            top += 2
        spans_of_sentence(heads, b, lengths[b], spans)


def _walk_joint(
    words: Any, first_ends: Any, last_starts: Any, lengths: Any, heads: Any, spans: Any
) -> None:
    """The decisions in γ_h(p,q), L_h(i) and R_h(j); see kernels/joint.py."""
    stack = np.empty((heads.shape[1] + 1, 3), np.int64)
    for b in range(heads.shape[0]):
        stack[0, 0], stack[0, 1], stack[0, 2] = 0, lengths[b], 0
        top = 1
        while top:
            top -= 1
            i, j, head = stack[top, 0], stack[top, 1], stack[top, 2]
            word = words[b, i, j, head]
            heads[b, word - 1] = head
            spans[b, word - 1, 0], spans[b, word - 1, 1] = i, j
            while i < word - 1:
                q = first_ends[b, word, i]
                stack[top, 0], stack[top, 1], stack[top, 2] = i, q, word
                top += 1
                i = q
            while j > word:
                p = last_starts[b, word, j]
                stack[top, 0], stack[top, 1], stack[top, 2] = p, j, word
                top += 1
                j = p


def _walk(*dimensions: int) -> Any:
    stored = [array(types.int64, d) for d in dimensions]
    results = (INDICES, array(types.int64, 2), array(types.int64, 3))
    return kernel(lambda number: types.void(*stored, *results))


walk_spans = _walk(3, 3)(_walk_spans)
walk_arcs = _walk(3, 3, 3, 1)(_walk_arcs)
walk_joint = _walk(4, 3, 3)(_walk_joint)
