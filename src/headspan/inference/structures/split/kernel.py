"""The best tree over arcs and ends of headed spans, on the CPU. O(n³) time, O(n²) memory.

The recurrence of recurrence.py, with rows filled from the last to the first: step a makes the left
halves that begin at the fencepost a and the right half of the word a, side by side, so that neither
waits for itself. Within a row indices ascend, and the inner loops run over a contiguous last index.
There are no backpointers: the walk back looks for the maximum again. There are four row operations
per pair of words, where Eisner's algorithm has three.

Charts are flat, row i at i * width, with padding behind every row (see simd/rows.py).
"""

from typing import Any

import numpy as np

from headspan.inference.headed_spans import spans_of_sentence
from headspan.inference.scores import BAD_SCORE, NO_TREE
from headspan.inference.simd.charts import chart_width, longest_of
from headspan.inference.simd.compile import best_signature, helper, kernel
from headspan.inference.simd.rows import max_plus, max_plus_pair
from headspan.inference.structures.arc.kernel import LEFT, RIGHT, best_root, load_arcs


@helper
def load_ends(
    left_ends: Any,
    right_ends: Any,
    width: int,
    left_scores: Any,
    right_scores: Any,
    b: int,
    n: int,
) -> bool:
    """Put l(i,k) into left_ends[i * width + k] and r(j,k) into right_ends[k * width + j].

    True if a score is bad.
    """
    bad = False
    for p in range(n + 1):
        for k in range(1, n + 1):
            if p < k:
                x = left_scores[b, p, k]
                left_ends[p * width + k] = x
            else:
                x = right_scores[b, p, k]
                right_ends[k * width + p] = x
            bad |= not (x < np.inf)
    return bad


@helper
def _fill(arcs: Any, left_ends: Any, right_ends: Any, n: int, width: int, charts: Any) -> None:
    open_left, left, open_right, right = charts[0], charts[1], charts[2], charts[3]
    left_arc, right_arc = charts[4], charts[5]
    charts[:, : (n + 2) * width] = -np.inf
    for a in range(n, -1, -1):
        row = a * width
        open_left[row + a + 1] = 0.0
        if a > 0:
            open_right[row + a] = 0.0
            right[row + a] = open_right[row + a] + right_ends[row + a]
        for k in range(a + 1, n + 1):
            below, count = k * width + k, n - k
            # The fencepost a: C_L(a,h) = max(C_L(a,h), F_L(a,k) + I_L(k,h)), h > k
            left[row + k] = open_left[row + k] + left_ends[row + k]
            max_plus(open_left, row + k + 1, left_arc, below + 1, left[row + k], count)
            if a == 0:
                continue
            # The word a: with C_R(a,a) = 0, I_R(a,k) is complete but for its arc, and
            # C_R(a,j) = max(C_R(a,j), I_R(a,k) + F_R(k,j)), j >= k
            right_arc[row + k] = max(right_arc[row + k], left[row + k]) + arcs[row + k]
            max_plus(open_right, row + k, right, below, right_arc[row + k], count + 1)
            right[row + k] = open_right[row + k] + right_ends[row + k]
            # I_R(a,c) = max(I_R(a,c), C_R(a,k) + F_L(k,c)), c > k
            # I_L(a,h) = max(I_L(a,h), F_R(a,k) + C_L(k,h)), h > k
            opened, closed, to = open_right[row + k], right[row + k], row + k + 1
            max_plus_pair(
                right_arc, left_arc, to, left, open_left, below + 1, opened, closed, count
            )
        if a > 0:
            # the same for k = a, now that the row of the fencepost a is complete; and the arcs
            max_plus(left_arc, row + a + 1, open_left, row + a + 1, right[row + a], n - a)
            for h in range(a + 1, n + 1):
                left_arc[row + h] += arcs[h * width + a]


@helper
def _walk(n: int, width: int, charts: Any, root: int, stack: Any, heads: Any, b: int) -> None:
    """Read the arcs of the best tree off the charts, given its root."""
    open_left, left, open_right, right = charts[0], charts[1], charts[2], charts[3]
    left_arc, right_arc = charts[4], charts[5]
    heads[b, root - 1] = 0
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, root, LEFT
    stack[1, 0], stack[1, 1], stack[1, 2] = root, n, RIGHT
    top = 2
    while top:
        top -= 1
        low, high, side = stack[top, 0], stack[top, 1], stack[top, 2]
        if side == RIGHT:
            if low == high:
                continue
            c = low + 1
            value = right[0] - np.inf
            for k in range(low + 1, high + 1):
                x = right_arc[low * width + k] + right[k * width + high]
                if x > value:
                    c, value = k, x
            heads[b, c - 1] = low
            m = low
            value = right[0] - np.inf
            for k in range(low, c):
                x = open_right[low * width + k] + left[k * width + c]
                if x > value:
                    m, value = k, x
            stack[top, 0], stack[top, 1], stack[top, 2] = c, high, RIGHT
            stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = low, m, RIGHT
            stack[top + 2, 0], stack[top + 2, 1], stack[top + 2, 2] = m, c, LEFT
        else:
            if low == high - 1:
                continue
            c = low + 1
            value = right[0] - np.inf
            for k in range(low + 1, high):
                x = left[low * width + k] + left_arc[k * width + high]
                if x > value:
                    c, value = k, x
            heads[b, c - 1] = high
            m = c
            value = right[0] - np.inf
            for k in range(c, high):
                x = right[c * width + k] + open_left[k * width + high]
                if x > value:
                    m, value = k, x
            stack[top, 0], stack[top, 1], stack[top, 2] = low, c, LEFT
            stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = c, m, RIGHT
            stack[top + 2, 0], stack[top + 2, 1], stack[top + 2, 2] = m, high, LEFT
        top += 3


def _best(
    arc_scores: Any,
    left_scores: Any,
    right_scores: Any,
    lengths: Any,
    order: Any,
    gold_heads: Any,
    gold_left: Any,
    gold_right: Any,
    arc_cost: Any,
    left_cost: Any,
    right_cost: Any,
    heads: Any,
    spans: Any,
    values: Any,
    status: Any,
) -> None:
    longest = longest_of(lengths, order)
    size = (longest + 2) * chart_width(longest)
    charts = np.empty((6, size), values.dtype)
    arcs = np.zeros(size, values.dtype)
    left_ends = np.zeros(size, values.dtype)
    right_ends = np.zeros(size, values.dtype)
    stack = np.empty((3 * longest + 5, 3), np.int64)
    for b in order:
        n = lengths[b]
        width = chart_width(n)
        bad = load_arcs(arcs, width, arc_scores, b, n, gold_heads, arc_cost)
        bad |= load_ends(left_ends, right_ends, width, left_scores, right_scores, b, n)
        if bad:
            status[b] = BAD_SCORE
            continue
        if gold_heads.shape[0]:
            for k in range(1, n + 1):
                left_ends[gold_left[b, k - 1, 0] * width + k] -= left_cost
                right_ends[k * width + gold_right[b, k - 1, 1]] -= right_cost
        _fill(arcs, left_ends, right_ends, n, width, charts)
        root, value = best_root(charts[1], 0, charts[3], arcs, n, width)
        if root == 0:
            status[b] = NO_TREE
            continue
        values[b] = value
        if gold_heads.shape[0]:
            values[b] += (arc_cost * n + left_cost * n) + right_cost * n
        _walk(n, width, charts, root, stack, heads, b)
        spans_of_sentence(heads, b, n, spans)


best = kernel(best_signature(3, 3, 3, gold=(2, 3, 3)))(_best)
