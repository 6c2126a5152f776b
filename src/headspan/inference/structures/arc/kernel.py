"""The best tree over arcs, after Eisner, for scores on the CPU. O(n³) time, O(n²) memory.

Over words i <= j: R(i,j) has head i and is complete, L(i,j) has head j; r(i,j) and l(i,j) end in
the arc from i to j and from j to i.

    b(i,j) = max_{i<=k<j} R(i,k) + L(k+1,j)
    r(i,j) = b(i,j) + s(i,j),  l(i,j) = b(i,j) + s(j,i)         E-R-LINK, E-L-LINK
    R(i,j) = max_{i<k<=j} r(i,k) + R(k,j)                       E-R-CONC
    L(i,j) = max_{i<=k<j} L(i,k) + l(k,j)                       E-L-CONC

The tree's score is max_r s(0,r) + L(1,r) + R(r,n): a single root. Rows are filled with i
descending; within a row k ascends, and the inner loops run over a contiguous j. No backpointers.
"""

from typing import Any

import numpy as np

from headspan.inference.headed_spans import spans_of_sentence
from headspan.inference.scores import BAD_SCORE, NO_TREE
from headspan.inference.simd.charts import chart_width, longest_of
from headspan.inference.simd.compile import best_signature, helper, kernel
from headspan.inference.simd.rows import max_plus

LEFT, RIGHT = 0, 1


@helper
def load_arcs(arcs: Any, width: int, scores: Any, b: int, n: int, gold: Any, cost: Any) -> bool:
    """Put s(h,d) into arcs[h * width + d], less the cost on gold arcs; True if one is bad."""
    bad = False
    for h in range(n + 1):
        for d in range(1, n + 1):
            if h != d:
                x = scores[b, h, d]
                bad |= not (x < np.inf)
                arcs[h * width + d] = x
    if gold.shape[0]:
        for d in range(1, n + 1):
            arcs[gold[b, d - 1] * width + d] -= cost
    return bad


@helper
def _fill(arcs: Any, n: int, width: int, charts: Any) -> None:
    """All rows of the four charts R, L, l and b; r is b with the arc's score."""
    right, left, left_arc, base = charts[0], charts[1], charts[2], charts[3]
    charts[:, : (n + 2) * width] = -np.inf
    for i in range(n, 0, -1):
        row = i * width
        right[row + i] = 0.0
        left[row + i] = 0.0
        for k in range(i, n + 1):
            below = k * width
            if k > i:
                # b(i,k), and with it both arcs over (i,k), is complete.
                right_arc = base[row + k] + arcs[row + k]
                left_arc[row + k] = base[row + k] + arcs[below + i]
                # E-L-CONC with the arc over the whole: L(i,i) = 0
                left[row + k] = max(left[row + k], left_arc[row + k])
                # E-R-CONC: R(i,j) = max(R(i,j), r(i,k) + R(k,j)), j >= k
                max_plus(right, row + k, right, below + k, right_arc, n + 1 - k)
                # E-L-CONC: L(i,j) = max(L(i,j), L(i,k) + l(k,j)), j > k
                max_plus(left, row + k + 1, left_arc, below + k + 1, left[row + k], n - k)
            # b(i,j) = max(b(i,j), R(i,k) + L(k+1,j)), j > k
            max_plus(base, row + k + 1, left, below + width + k + 1, right[row + k], n - k)


@helper
def _walk(
    arcs: Any, n: int, width: int, charts: Any, root: int, stack: Any, heads: Any, b: int
) -> None:
    """Read the arcs of the best tree off the charts, given its root."""
    right, left, left_arc, base = charts[0], charts[1], charts[2], charts[3]
    heads[b, root - 1] = 0
    stack[0, 0], stack[0, 1], stack[0, 2] = 1, root, LEFT
    stack[1, 0], stack[1, 1], stack[1, 2] = root, n, RIGHT
    top = 2
    while top:
        top -= 1
        i, j, side = stack[top, 0], stack[top, 1], stack[top, 2]
        if i == j:
            continue
        best = i
        value = right[0] - np.inf  # -inf in the type of the scores
        if side == RIGHT:
            for k in range(i + 1, j + 1):
                arc = base[i * width + k] + arcs[i * width + k]
                x = arc + right[k * width + j]
                if x > value:
                    best, value = k, x
            heads[b, best - 1] = i
            stack[top, 0], stack[top, 1], stack[top, 2] = best, j, RIGHT
            low, high = i, best
        else:
            for k in range(i, j):
                x = left[i * width + k] + left_arc[k * width + j]
                if x > value:
                    best, value = k, x
            heads[b, best - 1] = j
            stack[top, 0], stack[top, 1], stack[top, 2] = i, best, LEFT
            low, high = best, j
        top += 1
        best = low
        value = right[0] - np.inf
        for k in range(low, high):
            x = right[low * width + k] + left[(k + 1) * width + high]
            if x > value:
                best, value = k, x
        stack[top, 0], stack[top, 1], stack[top, 2] = low, best, RIGHT
        stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = best + 1, high, LEFT
        top += 2


@helper
def best_root(left: Any, first: int, right: Any, arcs: Any, n: int, width: int) -> Any:
    """The root with the best halves and arc, the smallest if several tie, and its value.

    left[first + k] and right[k * width + n] are the halves of word k. 0 and -inf if there is none.
    """
    root = 0
    value = arcs[0] - np.inf
    for k in range(1, n + 1):
        x = (left[first + k] + right[k * width + n]) + arcs[k]
        if x > value:
            root, value = k, x
    return root, value


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
    size = (longest + 2) * chart_width(longest)
    charts = np.empty((4, size), values.dtype)
    arcs = np.zeros(size, values.dtype)
    stack = np.empty((3 * longest + 3, 3), np.int64)
    for b in order:
        n = lengths[b]
        width = chart_width(n)
        if load_arcs(arcs, width, scores, b, n, gold, cost):
            status[b] = BAD_SCORE
            continue
        _fill(arcs, n, width, charts)
        root, value = best_root(charts[1], width, charts[0], arcs, n, width)
        if root == 0:
            status[b] = NO_TREE
            continue
        values[b] = value
        if gold.shape[0]:
            values[b] += cost * n
        _walk(arcs, n, width, charts, root, stack, heads, b)
        spans_of_sentence(heads, b, n, spans)


best = kernel(best_signature(3, gold=(2,)))(_best)
