"""Sums over all trees of headed spans and arcs together. O(n⁴) time, O(n³) memory.

Inside is the recurrence of recurrence.py with log-add-exp for ⊕ (it counts every tree once), in
float64. Outside hands each cell's probability down to the terms of its sum in proportion to them.

Charts, so that every sum runs along a contiguous axis: left[h,i] = L_h(i) and right[h,j] = R_h(j),
left_t and right_t the same transposed; gamma[h,p,q] = γ_h(p,q) where (p,q) lies left of h, and
gamma[h,q,p] where it lies right of h.
"""

from typing import Any

import numpy as np

from headspan.inference.scores import BAD_SCORE, NO_TREE
from headspan.inference.simd.charts import chart_width, log_sum, longest_of, proportions
from headspan.inference.simd.compile import helper, kernel, sums_signature
from headspan.inference.simd.rows import PAD, add_scaled, plus_max, plus_plus_max
from headspan.inference.structures.arc.kernel import load_arcs
from headspan.inference.structures.headed_span.sums import load_terms


@helper
def _hook(n: int, width: int, h: int, p: int, q: int) -> int:
    """Where γ_h(p,q) is stored."""
    if h > q:
        return (h * (n + 1) + p) * width + q
    return (h * (n + 1) + q) * width + p


@helper
def _hang(span_scores: Any, b: int, i: int, q: int, charts: Any, width: int, beta: Any) -> bool:
    """β(i,q,c) for i < c <= q into beta[0 …]; True if a score is bad."""
    count = q - i
    bad = load_terms(beta, span_scores, b, i, q, count)
    first = i + 1
    plus_plus_max(beta, 0, charts[1], i * width + first, charts[3], q * width + first, 0.0, count)
    return bad


@helper
def _inside(
    span_scores: Any, b: int, n: int, arcs: Any, charts: Any, gamma: Any, beta: Any, terms: Any
) -> bool:
    left, left_t, right, right_t = charts[0], charts[1], charts[2], charts[3]
    width = chart_width(n)
    single = span_scores.itemsize == 4
    bad = False
    charts[:, : (n + 1) * width] = -np.inf
    gamma[: (n + 1) * (n + 1) * width] = -np.inf
    for h in range(1, n + 1):
        left[h * width + h - 1] = left_t[(h - 1) * width + h] = 0.0
        right[h * width + h] = right_t[h * width + h] = 0.0
    for i in range(n - 1, -1, -1):
        for q in range(i + 1, n + 1):
            if q > i + 1:
                # S-CONC on the left, for the head q: L_q(i) from γ_q(i,k) and L_q(k), i < k < q
                a0, b0, count = _hook(n, width, q, i, i + 1), q * width + i + 1, q - 1 - i
                largest = plus_max(terms, 0, gamma, a0, left, b0, 0.0, count)
                value = log_sum(terms, largest, count, single)
                left[q * width + i] = left_t[i * width + q] = value
            bad |= _hang(span_scores, b, i, q, charts, width, beta)
            for h in range(n + 1):
                if h > q or 1 <= h <= i or (h == 0 and i == 0 and q == n):
                    # the hook
                    count = q - i
                    largest = plus_max(terms, 0, beta, 0, arcs, h * width + i + 1, 0.0, count)
                    gamma[_hook(n, width, h, i, q)] = log_sum(terms, largest, count, single)
        if i > 0:
            for j in range(i + 1, n + 1):
                # S-CONC on the right, for the head i: R_i(j) from R_i(p) and γ_i(p,j), i <= p < j
                a0, b0 = i * width + i, _hook(n, width, i, i, j)
                largest = plus_max(terms, 0, right, a0, gamma, b0, 0.0, j - i)
                value = log_sum(terms, largest, j - i, single)
                right[i * width + j] = right_t[j * width + i] = value
    return bad


@helper
def _outside(
    span_scores: Any,
    b: int,
    n: int,
    arcs: Any,
    charts: Any,
    gamma: Any,
    beta: Any,
    terms: Any,
    work: Any,
    p_gamma: Any,
    p_arcs: Any,
    p_beta: Any,
    span_marginals: Any,
    arc_marginals: Any,
) -> None:
    """The steps of inside the other way round; marginals into span_marginals and arc_marginals."""
    left, right = charts[0], charts[2]
    p_left, p_left_t, p_right, p_right_t = work[0], work[1], work[2], work[3]
    width = chart_width(n)
    side = span_scores.shape[1]
    single = span_scores.itemsize == 4
    work[:, : (n + 1) * width] = 0.0
    p_gamma[: (n + 1) * (n + 1) * width] = 0.0
    p_arcs[: (n + 1) * width] = 0.0
    p_gamma[_hook(n, width, 0, 0, n)] = 1.0
    for i in range(n):
        if i > 0:
            for j in range(n, i, -1):
                p = p_right[i * width + j] + p_right_t[j * width + i]
                if p > 0.0:
                    a0, b0, total = i * width + i, _hook(n, width, i, i, j), right[i * width + j]
                    proportions(terms, right, a0, gamma, b0, total, j - i, single)
                    add_scaled(p_right, a0, terms, 0, p, j - i)
                    add_scaled(p_gamma, b0, terms, 0, p, j - i)
        for q in range(n, i, -1):
            count = q - i
            _hang(span_scores, b, i, q, charts, width, beta)
            p_beta[:] = 0.0
            for h in range(n + 1):
                hook = _hook(n, width, h, i, q)
                p = p_gamma[hook]
                if p > 0.0:
                    first = h * width + i + 1
                    proportions(terms, beta, 0, arcs, first, gamma[hook], count, single)
                    add_scaled(p_beta, 0, terms, 0, p, count)
                    add_scaled(p_arcs, first, terms, 0, p, count)
            add_scaled(p_left_t, i * width + i + 1, p_beta, 0, 1.0, count)
            add_scaled(p_right_t, q * width + i + 1, p_beta, 0, 1.0, count)
            cell = ((b * side + i) * side + q) * side + i + 1
            for t in range(count):
                span_marginals[cell + t] = p_beta[t]
            if q > i + 1:
                p = p_left[q * width + i] + p_left_t[i * width + q]
                if p > 0.0:
                    a0, b0, count = _hook(n, width, q, i, i + 1), q * width + i + 1, q - 1 - i
                    proportions(terms, gamma, a0, left, b0, left[q * width + i], count, single)
                    add_scaled(p_gamma, a0, terms, 0, p, count)
                    add_scaled(p_left, b0, terms, 0, p, count)
    for h in range(n + 1):
        for d in range(1, n + 1):
            if h != d:
                arc_marginals[(b * side + h) * side + d] = p_arcs[h * width + d]


def _sums(
    span_scores: Any,
    arc_scores: Any,
    lengths: Any,
    order: Any,
    log_partition: Any,
    span_marginals: Any,
    arc_marginals: Any,
    status: Any,
) -> None:
    longest = longest_of(lengths, order)
    wide = chart_width(longest)
    size = (longest + 2) * wide
    volume = (longest + 1) * (longest + 1) * wide + PAD
    wanted = span_marginals.size > 0
    charts = np.empty((4, size))
    gamma = np.empty(volume)
    arcs = np.zeros(size)
    beta = np.zeros(wide + PAD)
    terms = np.zeros(wide + PAD)
    work = np.empty((4, size if wanted else 0))
    p_gamma = np.empty(volume if wanted else 0)
    p_arcs = np.empty(size if wanted else 0)
    p_beta = np.empty(wide + PAD)
    no_gold = np.zeros((0, 0), np.int64)
    for b in order:
        n = lengths[b]
        width = chart_width(n)
        bad = load_arcs(arcs, width, arc_scores, b, n, no_gold, 0.0)
        bad |= _inside(span_scores, b, n, arcs, charts, gamma, beta, terms)
        if bad:
            status[b] = BAD_SCORE
            continue
        total = gamma[_hook(n, width, 0, 0, n)]
        if total == -np.inf:
            status[b] = NO_TREE
            continue
        log_partition[b] = total
        if wanted:
            _outside(
                span_scores,
                b,
                n,
                arcs,
                charts,
                gamma,
                beta,
                terms,
                work,
                p_gamma,
                p_arcs,
                p_beta,
                span_marginals,
                arc_marginals,
            )


sums = kernel(sums_signature(4, 3, outputs=2))(_sums)
