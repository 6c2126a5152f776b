"""Sums over all trees of headed spans, and what is likely. O(n³) time, O(n²) memory.

Inside, in logarithms, every tree counted once (⊕ is log-add-exp, α(i,i) = 0):

    γ(i,j) = ⊕_{i<k<=j} α(i,k-1) + α(k,j) + s(i,j,k)            C-CONC, HEADLESS
    α(i,j) = ⊕_{i<=k<j} α(i,k) + γ(k,j)                         S-CONC, the last child alone
    log Z = γ(0,n)

Outside, in plain probabilities, which stay between 0 and 1 whatever the scores: each cell hands
its probability down to the terms of its sum in proportion to their weights,

    w(k|i,j) = exp(α(i,k-1) + α(k,j) + s(i,j,k) - γ(i,j))       the head of a span
    v(k|i,j) = exp(α(i,k) + γ(k,j) - α(i,j))                    the last child of a sequence
    u(k|i,j) = exp(γ(i,k) + α(k,j) - α(i,j))                    the first child of a sequence

w is kept in the very array that ends up holding the marginals. Charts are float64 even for float32
scores: a sum of n scores of 10⁴ leaves float32 no digits for differences.

Arc marginals need the head that α forgets. The right children of h are a sequence from h to its
right boundary j, whose probability is what C-CONC handed to α(h,j); cutting last children off one
by one with v gives the probability D_h(q) that one of them ends at q and, times v(p|h,q), that it
covers (p,q), and then w says which word heads it. On the left, sequences end at h-1, and first
children are cut off with u. The last step makes arc marginals O(n⁴), with a small constant.
"""

from math import exp
from typing import Any

import numpy as np

from headspan.inference.scores import BAD_SCORE, NO_TREE
from headspan.inference.simd.charts import chart_width, log_sum, longest_of, proportions
from headspan.inference.simd.compile import helper, kernel, sums_signature
from headspan.inference.simd.rows import (
    PAD,
    add_lower_triangle,
    add_scaled,
    add_upper_triangle,
    plus_max,
    plus_plus_max,
    scale_in_place,
    store_scaled,
)
from headspan.inference.simd.tiles import copy_span


@helper
def load_terms(terms: Any, scores: Any, b: int, i: int, j: int, count: int) -> bool:
    """Put s(i,j,k), i < k <= j, into terms; True if one is bad."""
    if scores.strides[3] == scores.itemsize:
        row = b * scores.strides[0] + i * scores.strides[1] + j * scores.strides[2]
        # the span of this length three places on
        ahead = 3 * (scores.strides[1] + scores.strides[2])
        bad: bool = copy_span(terms, 0, scores, row + (i + 1) * scores.itemsize, count, ahead)
        return bad
    bad = False
    for t in range(count):
        x = scores[b, i, j, i + 1 + t]
        bad |= not (x < np.inf)
        terms[t] = x
    return bad


@helper
def inside(scores: Any, b: int, n: int, charts: Any, terms: Any, weights: Any, at: int) -> bool:
    """Fill the charts α and γ, each by rows and by columns; True if a score is bad.

    If `weights` has room, w(k|i,j) goes to weights[at + (i * side + j) * side + k].
    """
    alpha, alpha_t, gamma, gamma_t = charts[0], charts[1], charts[2], charts[3]
    width = chart_width(n)
    side = scores.shape[1]
    single = scores.itemsize == 4
    bad = False
    charts[:, : (n + 1) * width] = -np.inf
    for i in range(n + 1):
        alpha[i * width + i] = 0.0
        alpha_t[i * width + i] = 0.0
    # Spans of one length do not wait for each other, and the processor overlaps them.
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            row, column = i * width, j * width
            bad |= load_terms(terms, scores, b, i, j, length)
            # C-CONC and HEADLESS
            largest = plus_plus_max(terms, 0, alpha, row + i, alpha_t, column + i + 1, 0.0, length)
            value = log_sum(terms, largest, length, single)
            gamma[row + j] = value
            gamma_t[column + i] = value
            if weights.size and value > -np.inf:
                cell = at + (i * side + j) * side + i + 1
                store_scaled(weights, cell, terms, 0, exp(largest - value), length)
            # S-CONC; k = i is γ(i,j) alone
            largest = plus_max(terms, 0, alpha, row + i, gamma_t, column + i, 0.0, length)
            value = log_sum(terms, largest, length, single)
            alpha[row + j] = value
            alpha_t[column + i] = value
    return bad


@helper
def _outside(
    n: int, side: int, charts: Any, work: Any, terms: Any, span_marginals: Any, at: int, arcs: Any
) -> None:
    """From weights to marginals in the scores, and arc marginals into `arcs` if it has room.

    p_alpha[i,j] is the probability handed to α(i,j) within row i, p_right[j,i] what C-CONC handed
    to it as the right side of head i, p_left[i,h] what C-CONC handed to α(i,h-1) as the left side
    of head h, p_gamma[j,i] what was handed to γ(i,j). ends[i,q] is the probability that a right
    child of i ends at q, or that i's span does; starts[h,p] that a left child of h starts at p.
    """
    alpha, alpha_t, gamma, gamma_t = charts[0], charts[1], charts[2], charts[3]
    p_alpha, p_right, p_left, p_gamma = work[0], work[1], work[2], work[3]
    ends, starts = work[4], work[5]
    width = chart_width(n)
    shares = np.empty(width if arcs.size else 0, arcs.dtype)
    single = span_marginals.itemsize == 4
    work[:, : (n + 1) * width] = 0.0
    p_gamma[n * width] = 1.0
    for length in range(n, 0, -1):
        for i in range(n - length + 1):
            j = i + length
            row, column = i * width, j * width
            total = alpha[row + j]
            p = p_alpha[row + j] + p_right[column + i]
            if p > 0.0:
                # S-CONC: v(k|i,j)
                proportions(terms, alpha, row + i, gamma_t, column + i, total, length, single)
                add_scaled(p_alpha, row + i, terms, 0, p, length)
                add_scaled(p_gamma, column + i, terms, 0, p, length)
                p = ends[row + j] + p_right[column + i]
                if arcs.size and p > 0.0:
                    # i's right child (k,j), headed by c: k <= c - 1
                    add_scaled(ends, row + i, terms, 0, p, length)
                    cell = at + (i * side + j) * side + i + 1
                    step = side * side
                    store_scaled(shares, 0, terms, 0, p, length)
                    add_upper_triangle(
                        arcs, row + i + 1, span_marginals, cell, step, shares, length
                    )
            h = j + 1
            if arcs.size and h <= n:
                p = starts[h * width + i] + p_left[row + h]
                if p > 0.0:
                    # h's left child (i,k), headed by c: c <= k. The weights are u(k|i,j)
                    first = row + i + 1
                    proportions(terms, gamma, first, alpha_t, column + i + 1, total, length, single)
                    add_scaled(starts, h * width + i + 1, terms, 0, p, length)
                    cell = at + (i * side + i + 1) * side + i + 1
                    to = h * width + i + 1
                    store_scaled(shares, 0, terms, 0, p, length)
                    add_lower_triangle(arcs, to, span_marginals, cell, side, shares, length)
            # C-CONC: w(k|i,j)
            p = p_gamma[column + i]
            cell = at + (i * side + j) * side + i + 1
            scale_in_place(terms, span_marginals, cell, p, length)
            if p > 0.0:
                add_scaled(p_alpha, row + i, terms, 0, 1.0, length)
                add_scaled(p_right, column + i + 1, terms, 0, 1.0, length)
                add_scaled(p_left, row + i + 1, terms, 0, 1.0, length)


def _sums(
    scores: Any,
    lengths: Any,
    order: Any,
    log_partition: Any,
    span_marginals: Any,
    arc_marginals: Any,
    status: Any,
) -> None:
    longest = longest_of(lengths, order)
    size = (longest + 2) * chart_width(longest)
    charts = np.empty((4, size))
    terms = np.zeros(chart_width(longest) + PAD)
    work = np.empty((6, size if span_marginals.size else 0))
    arcs = np.empty(size if arc_marginals.size else 0, arc_marginals.dtype)
    side = scores.shape[1]
    for b in order:
        n = lengths[b]
        width = chart_width(n)
        at = b * side * side * side
        if inside(scores, b, n, charts, terms, span_marginals, at):
            status[b] = BAD_SCORE
            continue
        log_partition[b] = charts[2, n]
        if log_partition[b] == -np.inf:
            status[b] = NO_TREE
            continue
        if span_marginals.size:
            arcs[:] = 0.0
            _outside(n, side, charts, work, terms, span_marginals, at, arcs)
        if arc_marginals.size:
            for k in range(1, n + 1):
                arc_marginals[b * side * side + k] = span_marginals[at + n * side + k]
                for h in range(1, n + 1):
                    arc_marginals[(b * side + h) * side + k] = arcs[h * width + k]


sums = kernel(sums_signature(4, outputs=2))(_sums)
