"""The best tree over headed spans and arcs together. O(n⁴) time, O(n³) memory.

Eisner and Satta's hook with span scores. For a head h, L_h(i) is the best sequence of its left
children over (i, h-1), R_h(j) the best of its right children over (h, j).

    β(p,q,c) = L_c(p) + R_c(q) + s(p,q,c)                       C-CONC
    γ_h(p,q) = max_{p<c<=q} β(p,q,c) + s(h,c)                   the hook: (p,q) hangs from h
    L_h(i) = max_{i<q<h} γ_h(i,q) + L_h(q),  L_h(h-1) = 0       S-CONC, the first child alone
    R_h(j) = max_{h<=p<j} R_h(p) + γ_h(p,j),  R_h(h) = 0        S-CONC, the last child alone

The tree's score is max_c β(0,n,c) + s(0,c). With i descending, step i makes γ_h(i,q) for all h
and q, then L_h(i) on the way and R_i(j) at its end. The innermost loop of the n⁴ runs over a
contiguous h. Charts: left[i,h] = L_h(i), right[j,h] = R_h(j), gamma[p,q,h] = γ_h(p,q).
"""

from typing import Any

import numpy as np

from headspan.inference.scores import BAD_SCORE, NO_TREE
from headspan.inference.simd.charts import chart_width, longest_of
from headspan.inference.simd.compile import best_signature, helper, kernel
from headspan.inference.simd.rows import PAD, max_plus, max_plus_plus
from headspan.inference.structures.arc.kernel import load_arcs


@helper
def _span_score(span_scores: Any, b: int, i: int, j: int, k: int, gold: Any, cost: Any) -> Any:
    x = span_scores[b, i, j, k]
    if gold.shape[0] and gold[b, k - 1, 0] == i and gold[b, k - 1, 1] == j:
        x -= cost
    return x


@helper
def _fill(
    span_scores: Any,
    b: int,
    n: int,
    heads_of: Any,
    gold: Any,
    cost: Any,
    left: Any,
    right: Any,
    gamma: Any,
) -> bool:
    """All charts; heads_of[c,h] is the score of the arc from h to c. True if a score is bad."""
    width = chart_width(n)
    bad = False
    left[: (n + 1) * width] = -np.inf
    right[: (n + 1) * width] = -np.inf
    for h in range(1, n + 1):
        left[(h - 1) * width + h] = 0.0
        right[h * width + h] = 0.0
    for i in range(n - 1, -1, -1):
        for q in range(i + 1, n + 1):
            hook = ((i * (n + 1)) + q) * width
            for h in range(width):
                gamma[hook + h] = -np.inf
            for c in range(i + 1, q + 1):
                x = span_scores[b, i, q, c]
                bad |= not (x < np.inf)
                x = _span_score(span_scores, b, i, q, c, gold, cost)
                beta = (left[i * width + c] + right[q * width + c]) + x
                # the hook: γ_h(i,q) = max(γ_h(i,q), β(i,q,c) + s(h,c)), all h at once
                max_plus(gamma, hook, heads_of, c * width, beta, n + 1)
            # S-CONC on the left: L_h(i) = max(L_h(i), γ_h(i,q) + L_h(q)), h > q
            first = q + 1
            max_plus_plus(
                left, i * width + first, gamma, hook + first, left, q * width + first, 0.0, n - q
            )
        if i == 0:
            break
        for j in range(i + 1, n + 1):
            value = right[j * width + i]
            for p in range(i, j):
                # S-CONC on the right: R_i(j) = max(R_i(j), R_i(p) + γ_i(p,j))
                x = right[p * width + i] + gamma[(p * (n + 1) + j) * width + i]
                value = max(value, x)
            right[j * width + i] = value
    return bad


@helper
def _best_word(
    span_scores: Any,
    b: int,
    n: int,
    heads_of: Any,
    gold: Any,
    cost: Any,
    left: Any,
    right: Any,
    i: int,
    j: int,
    h: int,
) -> int:
    """The word that heads the child (i,j) of h; the smallest if several tie."""
    width = chart_width(n)
    best = i + 1
    value = left[0] - np.inf
    for c in range(i + 1, j + 1):
        x = _span_score(span_scores, b, i, j, c, gold, cost)
        x = ((left[i * width + c] + right[j * width + c]) + x) + heads_of[c * width + h]
        if x > value:
            best, value = c, x
    return best


def _best(
    span_scores: Any,
    arc_scores: Any,
    lengths: Any,
    order: Any,
    gold_spans: Any,
    gold_heads: Any,
    span_cost: Any,
    arc_cost: Any,
    heads: Any,
    spans: Any,
    values: Any,
    status: Any,
) -> None:
    longest = longest_of(lengths, order)
    size = (longest + 2) * chart_width(longest)
    left = np.empty(size, values.dtype)
    right = np.empty(size, values.dtype)
    arcs = np.zeros(size, values.dtype)
    heads_of = np.empty(size, values.dtype)
    gamma = np.empty((longest + 1) * (longest + 1) * chart_width(longest) + PAD, values.dtype)
    stack = np.empty((longest + 1, 3), np.int64)
    for b in order:
        n = lengths[b]
        width = chart_width(n)
        bad = load_arcs(arcs, width, arc_scores, b, n, gold_heads, arc_cost)
        heads_of[: (n + 1) * width] = -np.inf
        for h in range(n + 1):
            for d in range(1, n + 1):
                if h != d:
                    heads_of[d * width + h] = arcs[h * width + d]
        bad |= _fill(span_scores, b, n, heads_of, gold_spans, span_cost, left, right, gamma)
        if bad:
            status[b] = BAD_SCORE
            continue
        value = gamma[n * width]
        if value == -np.inf:
            status[b] = NO_TREE
            continue
        values[b] = value
        if gold_heads.shape[0]:
            values[b] += span_cost * n + arc_cost * n
        stack[0, 0], stack[0, 1], stack[0, 2] = 0, n, 0
        top = 1
        while top:
            top -= 1
            i, j, head = stack[top, 0], stack[top, 1], stack[top, 2]
            c = _best_word(
                span_scores, b, n, heads_of, gold_spans, span_cost, left, right, i, j, head
            )
            heads[b, c - 1] = head
            spans[b, c - 1, 0] = i
            spans[b, c - 1, 1] = j
            while i < c - 1:
                best = i + 1
                value = left[0] - np.inf
                for q in range(i + 1, c):
                    x = gamma[(i * (n + 1) + q) * width + c] + left[q * width + c]
                    if x > value:
                        best, value = q, x
                stack[top, 0], stack[top, 1], stack[top, 2] = i, best, c
                top += 1
                i = best
            while j > c:
                best = c
                value = left[0] - np.inf
                for p in range(c, j):
                    x = right[p * width + c] + gamma[(p * (n + 1) + j) * width + c]
                    if x > value:
                        best, value = p, x
                stack[top, 0], stack[top, 1], stack[top, 2] = best, j, c
                top += 1
                j = best


best = kernel(best_signature(4, 3, gold=(3, 2)))(_best)
