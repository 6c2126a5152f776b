"""The best tree over headed spans, for scores on the CPU. O(n³) time, O(n²) memory.

    α(i,i) = 0
    β(i,j,k) = α(i,k-1) + α(k,j) + s(i,j,k)                     C-CONC    i < k <= j
    γ(i,j) = max_k β(i,j,k)                                     HEADLESS
    α(i,j) = max(γ(i,j), max_{i<k<j} α(i,k) + γ(k,j))           S-CONC, the last child alone

The tree's score is γ(0,n): a single root. Rows are filled with i descending, so that only the
scores s(i,·,·) of one row are needed at a time. Within a row k ascends, and both inner loops run
over a contiguous j. No backpointers are stored: the walk back looks for the maximum again in the
2n - 1 cells it visits.

Charts are flat, row i at i * width, with padding behind every row (see simd/rows.py).
"""

from typing import Any

import numpy as np
from numba import types

from headspan.inference.scores import BAD_SCORE, NO_TREE
from headspan.inference.simd.charts import chart_width, longest_of
from headspan.inference.simd.compile import array, best_signature, helper, kernel, score_array
from headspan.inference.simd.lanes import VECTOR_BYTES
from headspan.inference.simd.rows import PAD, extend, max_plus, max_plus_plus
from headspan.inference.simd.tiles import copy_span, transpose_diagonal_tile, transpose_tile


@helper
def whole(j: int) -> int:
    """Where the vector begins that holds column j.

    Inner loops start there and not at j itself: every step then reads whole vectors that the last
    step has stored, instead of halves of two, for which it would have to wait: a tenth of all the
    time. The columns before j do no harm, for what lies left of the diagonal in a chart is -inf and
    wins no maximum.
    """
    return j // PAD * PAD


@helper
def load_row(buffer: Any, width: int, scores: Any, b: int, at: int, i: int, n: int) -> bool:
    """Put s[i, j, k], which is scores[b, at, j, k], into buffer[k * width + j]; True if one is bad.

    Expects j or k to be contiguous.
    """
    bad = False
    item = scores.itemsize
    lanes = VECTOR_BYTES // item
    base = b * scores.strides[0] + at * scores.strides[1]
    stride_j, stride_k = scores.strides[2], scores.strides[3]
    ahead = -scores.strides[1]
    if stride_k == item:
        for j in range(i + 1, n + 1, lanes):
            start = base + j * stride_j
            for k in range(i + 1, j, lanes):
                bad |= transpose_tile(
                    buffer,
                    k * width + j,
                    width,
                    scores,
                    start + k * item,
                    stride_j,
                    n - j,
                    ahead,
                )
            bad |= transpose_diagonal_tile(
                buffer, j * width + j, width, scores, start + j * item, stride_j, n - j, ahead
            )
    else:
        for k in range(i + 1, n + 1):
            start = base + k * stride_k + k * item
            bad |= copy_span(buffer, k * width + k, scores, start, n + 1 - k, ahead)
    return bad


@helper
def take_cost_off(buffer: Any, width: int, gold: Any, b: int, cost: Any, i: int, n: int) -> None:
    """Lower the scores of the gold spans that start at i.

    Every span outside the gold tree costs the same, so taking the cost off the gold spans and
    adding n costs to the tree's score comes to the same, and touches n cells only.
    """
    if gold.shape[0]:
        for k in range(i + 1, n + 1):
            if gold[b, k - 1, 0] == i:
                buffer[k * width + gold[b, k - 1, 1]] -= cost


@helper
def fill_row(alpha: Any, gamma: Any, buffer: Any, width: int, i: int, n: int) -> None:
    """Row i of both charts from the rows below it and the scores in the buffer."""
    row = i * width
    for j in range(width):
        alpha[row + j] = -np.inf
        gamma[row + j] = -np.inf
    alpha[row + i] = 0
    # C-CONC and HEADLESS for k = i + 1: γ(i,j) = α(i,i) + α(k,j) + s(i,j,k), j >= k
    start = whole(i + 1)
    first = (i + 1) * width + start
    max_plus_plus(gamma, row + start, alpha, first, buffer, first, alpha[row + i], n + 1 - start)
    best = gamma[row + i + 1]  # α(i,k), complete
    for k in range(i + 1, n):
        # α(i,k+1) ahead of the rest of its column: every step waits for it.
        span = best + buffer[(k + 1) * width + k + 1]
        span = max(span, gamma[row + k + 1])
        following = best + gamma[k * width + k + 1]
        following = max(max(following, alpha[row + k + 1]), span)
        # With α(i,k) known, two rules run over j > k:
        # S-CONC: α(i,j) = max(α(i,j), α(i,k) + γ(k,j))
        # C-CONC and HEADLESS: γ(i,j) = max(γ(i,j), α(i,k) + α(k+1,j) + s(i,j,k+1))
        start = whole(k + 1)
        child = k * width + start
        extend(alpha, gamma, buffer, row + start, child, child + width, best, n + 1 - start)
        best = following
    # The last child that S-CONC has left out: γ(i,j) alone
    zero = alpha[row + i]
    max_plus(alpha, row, gamma, row, zero, n + 1)


@helper
def last_child(alpha: Any, gamma: Any, width: int, i: int, j: int) -> int:
    """Where the last child of the best sequence over (i,j) begins; the leftmost if several tie."""
    best = i
    value = gamma[i * width + j]
    for k in range(i + 1, j):
        x = alpha[i * width + k] + gamma[k * width + j]
        if x > value:
            best, value = k, x
    return best


@helper
def push_children(
    alpha: Any, gamma: Any, width: int, i: int, j: int, head: int, stack: Any, top: int
) -> int:
    """Put the children of `head` that cover (i,j) on the stack, as (left, right, head)."""
    while j > i:
        k = last_child(alpha, gamma, width, i, j)
        stack[top, 0], stack[top, 1], stack[top, 2] = k, j, head
        top += 1
        j = k
    return top


def _best(
    scores: Any,
    lengths: Any,
    order: Any,
    gold: Any,
    cost: Any,
    heads: Any,
    spans: Any,
    values: Any,
    status: Any,
) -> None:
    longest = longest_of(lengths, order)
    size = (longest + 1 + PAD) * chart_width(longest)
    alpha = np.empty(size, values.dtype)
    gamma = np.empty(size, values.dtype)
    buffer = np.empty(size, values.dtype)
    buffer[:] = 0
    stack = np.empty((longest + 1, 3), np.int64)
    for b in order:
        n = lengths[b]
        width = chart_width(n)
        for j in range(width):
            alpha[n * width + j] = -np.inf
            gamma[n * width + j] = -np.inf
        alpha[n * width + n] = 0
        bad = False
        for i in range(n - 1, -1, -1):
            bad |= load_row(buffer, width, scores, b, i, i, n)
            take_cost_off(buffer, width, gold, b, cost, i, n)
            fill_row(alpha, gamma, buffer, width, i, n)
        if bad:
            status[b] = BAD_SCORE
            continue
        values[b] = gamma[n]
        if gamma[n] == -np.inf:
            status[b] = NO_TREE
            continue
        if gold.shape[0]:
            values[b] += cost * n
        stack[0, 0], stack[0, 1], stack[0, 2] = 0, n, 0
        top = 1
        while top:
            top -= 1
            i, j, head = stack[top, 0], stack[top, 1], stack[top, 2]
            best = i + 1
            value = alpha[0] - np.inf  # -inf in the type of the scores
            for k in range(i + 1, j + 1):
                x = scores[b, i, j, k]
                if gold.shape[0] and gold[b, k - 1, 0] == i and gold[b, k - 1, 1] == j:
                    x -= cost
                x = (alpha[i * width + k - 1] + alpha[k * width + j]) + x
                if x > value:
                    best, value = k, x
            heads[b, best - 1] = head
            spans[b, best - 1, 0] = i
            spans[b, best - 1, 1] = j
            top = push_children(alpha, gamma, width, i, best - 1, best, stack, top)
            top = push_children(alpha, gamma, width, best, j, best, stack, top)


best = kernel(best_signature(4, gold=(3,)))(_best)


def new_charts(n: int, dtype: Any) -> tuple[Any, Any, Any]:
    """α, γ and the score buffer for a sentence of n words, with row n, the last, filled in."""
    width = chart_width(n)
    alpha = np.full((n + 1 + PAD) * width, -np.inf, dtype)
    gamma = np.full((n + 1 + PAD) * width, -np.inf, dtype)
    alpha[n * width + n] = 0
    return alpha, gamma, np.zeros((n + 1 + PAD) * width, dtype)


def _fill_rows(
    block: Any, first: int, n: int, gold: Any, cost: Any, alpha: Any, gamma: Any, buffer: Any
) -> bool:
    width = chart_width(n)
    bad = False
    for i in range(first + block.shape[1] - 1, first - 1, -1):
        bad |= load_row(buffer, width, block, 0, i - first, i, n)
        take_cost_off(buffer, width, gold, 0, cost, i, n)
        fill_row(alpha, gamma, buffer, width, i, n)
    return bad


fill_rows = kernel(
    lambda number: types.boolean(
        score_array(number, 4),
        types.int64,
        types.int64,
        array(types.int64, 3),
        number,
        array(number, 1),
        array(number, 1),
        array(number, 1),
    )
)(_fill_rows)
