"""The best tree over arcs and adjacent siblings, on the CPU. O(n³) time, O(n²) memory.

The recurrence of recurrence.py, ends included, with rows filled from the last to the first: step a
makes everything whose left end is the word or fencepost a, and needs the sibling scores of that
step alone. Within a row indices ascend, and the inner loops run over a contiguous last index. There
are no backpointers: the walk back looks for the maximum again.

Charts are flat, row i at i * width, with padding behind every row (see simd/rows.py).
"""

from typing import Any

import numpy as np

from headspan.inference.headed_spans import spans_of_sentence
from headspan.inference.scores import BAD_SCORE, NO_TREE
from headspan.inference.siblings import siblings_of_sentence
from headspan.inference.simd.charts import chart_width, longest_of
from headspan.inference.simd.compile import best_signature, helper, kernel
from headspan.inference.simd.rows import max_plus, max_plus_plus
from headspan.inference.structures.arc.kernel import best_root, load_arcs

_LEFT, _RIGHT, _BETWEEN, _LEFT_ARC, _RIGHT_ARC = 0, 1, 2, 3, 4  # items, and their charts


@helper
def load_no_siblings(
    arcs: Any,
    none: Any,
    width: int,
    scores: Any,
    b: int,
    n: int,
    gold: Any,
    siblings: Any,
    cost: Any,
) -> bool:
    """Put t(h,h,d) into none[h * width + d], less the cost if the gold tree has it.

    Those of the root are added to the arcs from 0. True if one is bad.
    """
    bad = False
    for h in range(n + 1):
        for d in range(1, n + 1):
            if h != d:
                x = scores[b, h, h, d]
                bad |= not (x < np.inf)
                none[h * width + d] = x
    if gold.shape[0]:
        for d in range(1, n + 1):
            if siblings[b, d - 1] == gold[b, d - 1]:
                none[gold[b, d - 1] * width + d] -= cost
    for d in range(1, n + 1):
        arcs[d] += none[d]
    return bad


@helper
def _load_siblings(
    after: Any, before: Any, width: int, scores: Any, b: int, n: int, a: int
) -> bool:
    """Bring the siblings k > a that step a needs into rows; True if one is bad.

    after[k * width + d] = t(a,k,d), d > k, and before[k * width + h] = t(h,k,a), h > k.
    """
    bad = False
    for k in range(a + 1, n):
        for d in range(k + 1, n + 1):
            x = scores[b, a, k, d]
            after[k * width + d] = x
            bad |= not (x < np.inf)
    for h in range(a + 2, n + 1):
        for k in range(a + 1, h):
            x = scores[b, h, k, a]
            before[k * width + h] = x
            bad |= not (x < np.inf)
    return bad


@helper
def _fill(
    arcs: Any,
    none: Any,
    left_ends: Any,
    right_ends: Any,
    scores: Any,
    b: int,
    n: int,
    width: int,
    charts: Any,
    rows: Any,
    gold: Any,
    siblings: Any,
    cost: Any,
) -> bool:
    """Fill all charts; True if a score is bad. siblings[b] are the gold ones, if there are any."""
    left, right, between = charts[_LEFT], charts[_RIGHT], charts[_BETWEEN]
    left_arc, right_arc = charts[_LEFT_ARC], charts[_RIGHT_ARC]
    after, before = rows[0], rows[1]
    charts[:, : (n + 2) * width] = -np.inf
    bad = False
    for a in range(n, -1, -1):
        row = a * width
        left[row + a + 1] = 0.0
        if a > 0:
            bad |= _load_siblings(after, before, width, scores, b, n, a)
            if gold.shape[0]:
                for d in range(a + 2, n + 1):
                    if gold[b, d - 1] == a and siblings[b, d - 1] != a:
                        after[siblings[b, d - 1] * width + d] -= cost
                h = gold[b, a - 1]
                if h > a and siblings[b, a - 1] != h:
                    before[siblings[b, a - 1] * width + h] -= cost
            right[row + a] = right_ends[row + a]
        for k in range(a + 1, n + 1):
            below, count = k * width + k + 1, n - k
            # F_L(a,k); F_L(a,h) = max(F_L(a,h), F_L(a,k) + I_L(k,h)), h > k
            left[row + k] += left_ends[row + k]
            max_plus(left, row + k + 1, left_arc, below, left[row + k], count)
            if a == 0:
                continue
            # I_R(a,k); I_R(a,c) = max(I_R(a,c), I_R(a,k) + S(k,c) + t(a,k,c)), c > k
            without = left[row + k] + none[row + k]
            right_arc[row + k] = max(right_arc[row + k], without) + arcs[row + k]
            max_plus_plus(
                right_arc, row + k + 1, between, below, after, below, right_arc[row + k], count
            )
            # S(a,k) with both halves meeting at a; I_L(a,k)
            between[row + k] = max(between[row + k], right[row + a] + left[row + k])
            without = right[row + k - 1] + none[k * width + a]
            left_arc[row + k] = max(left_arc[row + k], without) + arcs[k * width + a]
            # I_L(a,h) = max(I_L(a,h), S(a,k) + I_L(k,h) + t(h,k,a)), h > k
            max_plus_plus(
                left_arc, row + k + 1, left_arc, below, before, below, between[row + k], count
            )
            # F_R(a,j) = max(F_R(a,j), I_R(a,k) + F_R(k,j)), j >= k; then F_R(a,k)
            max_plus(right, row + k, right, below - 1, right_arc[row + k], count + 1)
            right[row + k] += right_ends[row + k]
            # S(a,c) = max(S(a,c), F_R(a,k) + F_L(k,c)), c > k
            max_plus(between, row + k + 1, left, below, right[row + k], count)
    return bad


@helper
def _sibling_score(
    scores: Any, b: int, h: int, k: int, d: int, gold: Any, siblings: Any, cost: Any
) -> Any:
    """t(h,k,d), less the cost if the gold tree has it."""
    if gold.shape[0] and gold[b, d - 1] == h and siblings[b, d - 1] == k:
        return scores[b, h, k, d] - cost
    return scores[b, h, k, d]


@helper
def _walk(
    none: Any,
    scores: Any,
    b: int,
    n: int,
    width: int,
    charts: Any,
    root: int,
    stack: Any,
    heads: Any,
    gold: Any,
    siblings: Any,
    cost: Any,
) -> None:
    """Read the arcs of the best tree off the charts, given its root."""
    left, right, between = charts[_LEFT], charts[_RIGHT], charts[_BETWEEN]
    left_arc, right_arc = charts[_LEFT_ARC], charts[_RIGHT_ARC]
    never = right[0] - np.inf  # in the type of the scores
    heads[b, root - 1] = 0
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, root, _LEFT
    stack[1, 0], stack[1, 1], stack[1, 2] = root, n, _RIGHT
    top = 2
    while top:
        top -= 1
        low, high, item = stack[top, 0], stack[top, 1], stack[top, 2]
        first, second = _RIGHT_ARC, _RIGHT  # the items below this one
        split = 0
        value = never
        if item == _RIGHT:
            if low == high:
                continue
            split = low + 1
            for k in range(low + 1, high + 1):
                x = right_arc[low * width + k] + right[k * width + high]
                if x > value:
                    split, value = k, x
        elif item == _LEFT:
            if low == high - 1:
                continue
            first, second = _LEFT, _LEFT_ARC
            split = low + 1
            for k in range(low + 1, high):
                x = left[low * width + k] + left_arc[k * width + high]
                if x > value:
                    split, value = k, x
        elif item == _BETWEEN:
            first, second = _RIGHT, _LEFT
            split = low
            for k in range(low, high):
                x = right[low * width + k] + left[k * width + high]
                if x > value:
                    split, value = k, x
        elif item == _RIGHT_ARC:
            heads[b, high - 1] = low
            second = _BETWEEN
            split = low
            value = left[low * width + high] + none[low * width + high]
            for k in range(low + 1, high):
                x = right_arc[low * width + k] + between[k * width + high]
                x = x + _sibling_score(scores, b, low, k, high, gold, siblings, cost)
                if x > value:
                    split, value = k, x
            if split == low:
                stack[top, 0], stack[top, 1], stack[top, 2] = low, high, _LEFT
                top += 1
                continue
        else:
            heads[b, low - 1] = high
            first, second = _BETWEEN, _LEFT_ARC
            split = high
            for k in range(low + 1, high):
                x = between[low * width + k] + left_arc[k * width + high]
                x = x + _sibling_score(scores, b, high, k, low, gold, siblings, cost)
                if x > value:
                    split, value = k, x
            if split == high or right[low * width + high - 1] + none[high * width + low] > value:
                stack[top, 0], stack[top, 1], stack[top, 2] = low, high - 1, _RIGHT
                top += 1
                continue
        stack[top, 0], stack[top, 1], stack[top, 2] = low, split, first
        stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = split, high, second
        top += 2


@helper
def best_of_sentence(
    arcs: Any,
    none: Any,
    left_ends: Any,
    right_ends: Any,
    scores: Any,
    b: int,
    n: int,
    width: int,
    charts: Any,
    rows: Any,
    stack: Any,
    gold: Any,
    siblings: Any,
    cost: Any,
    heads: Any,
    spans: Any,
    values: Any,
) -> int:
    """The best tree of one sentence whose arcs and ends are loaded; its status.

    values[b] leaves out what all trees cost.
    """
    if gold.shape[0]:
        siblings_of_sentence(gold, b, n, siblings)
    bad = load_no_siblings(arcs, none, width, scores, b, n, gold, siblings, cost)
    if bad or _fill(
        arcs, none, left_ends, right_ends, scores, b, n, width, charts, rows, gold, siblings, cost
    ):
        return BAD_SCORE
    root, value = best_root(charts[_LEFT], 0, charts[_RIGHT], arcs, n, width)
    if root == 0:
        return NO_TREE
    values[b] = value
    _walk(none, scores, b, n, width, charts, root, stack, heads, gold, siblings, cost)
    spans_of_sentence(heads, b, n, spans)
    return 0


def _best(
    arc_scores: Any,
    sibling_scores: Any,
    lengths: Any,
    order: Any,
    gold: Any,
    _gold: Any,  # the same, for the second piece
    arc_cost: Any,
    sibling_cost: Any,
    heads: Any,
    spans: Any,
    values: Any,
    status: Any,
) -> None:
    longest = longest_of(lengths, order)
    size = (longest + 2) * chart_width(longest)
    charts = np.empty((5, size), values.dtype)
    rows = np.empty((2, size), values.dtype)
    arcs, none = np.zeros(size, values.dtype), np.zeros(size, values.dtype)
    ends = np.zeros(size, values.dtype)
    stack = np.empty((3 * longest + 5, 3), np.int64)
    siblings = np.empty(gold.shape, np.int64)
    for b in order:
        n = lengths[b]
        width = chart_width(n)
        if load_arcs(arcs, width, arc_scores, b, n, gold, arc_cost):
            status[b] = BAD_SCORE
            continue
        status[b] = best_of_sentence(
            arcs, none, ends, ends, sibling_scores, b, n, width, charts, rows, stack,
            gold, siblings, sibling_cost, heads, spans, values,
        )  # fmt: skip
        if gold.shape[0]:
            values[b] += arc_cost * n + sibling_cost * n


best = kernel(best_signature(3, 4, gold=(2, 2)))(_best)
