"""Sums over all trees of arcs and adjacent siblings. O(n³) time, O(n²) memory.

Inside is the recurrence of recurrence.py, ends included, with log-add-exp for ⊕ (it counts every
tree once), in float64. Outside hands each cell's probability down to the terms of its sum in
proportion to them.

Charts, so that every sum runs along a contiguous axis: left[i,h] = F_L(i,h), right[h,j] = F_R(h,j),
between[b,c] = S(b,c) and right_arc[h,c] = I_R(h,c) by rows; and, with the last index first, left_t,
right_t, between_t and left_arc_t.
"""

from typing import Any

import numpy as np

from headspan.inference.scores import BAD_SCORE, NO_TREE
from headspan.inference.simd.charts import chart_width, log_sum, longest_of, proportions
from headspan.inference.simd.compile import helper, kernel, sums_signature
from headspan.inference.simd.rows import (
    PAD,
    add_scaled,
    exp_sum,
    plus_max,
    plus_plus_max,
    single_exp_sum,
)
from headspan.inference.structures.arc.kernel import load_arcs
from headspan.inference.structures.arc.sums import sum_of_roots
from headspan.inference.structures.sibling.kernel import load_no_siblings

CHARTS = 8
LEFT_ENDS, RIGHT_ENDS = 0, 2
"""The rows of `work` in which the probabilities of ends are left."""


@helper
def _right_terms(
    terms: Any, none: Any, scores: Any, b: int, i: int, j: int, width: int, charts: Any
) -> Any:
    """The terms of I_R(i,j), and the largest: without a sibling, then by sibling."""
    left, between_t, right_arc = charts[0], charts[5], charts[6]
    row, column = i * width, j * width
    for k in range(i + 1, j):
        terms[k - i] = scores[b, i, k, j]
    largest = plus_plus_max(
        terms, 1, right_arc, row + i + 1, between_t, column + i + 1, 0.0, j - i - 1
    )
    terms[0] = left[row + j] + none[row + j]
    return max(largest, terms[0])


@helper
def _left_terms(
    terms: Any, none: Any, scores: Any, b: int, i: int, j: int, width: int, charts: Any
) -> Any:
    """The terms of I_L(i,j), and the largest: by sibling, then without one."""
    right, between, left_arc_t = charts[2], charts[4], charts[7]
    row, column = i * width, j * width
    for k in range(i + 1, j):
        terms[k - i - 1] = scores[b, j, k, i]
    largest = plus_plus_max(
        terms, 0, between, row + i + 1, left_arc_t, column + i + 1, 0.0, j - i - 1
    )
    terms[j - i - 1] = right[row + j - 1] + none[column + i]
    return max(largest, terms[j - i - 1])


@helper
def _inside(
    arcs: Any,
    none: Any,
    left_ends: Any,
    right_ends: Any,
    scores: Any,
    b: int,
    n: int,
    width: int,
    charts: Any,
    terms: Any,
    single: bool,
) -> None:
    left, left_t, right, right_t = charts[0], charts[1], charts[2], charts[3]
    between, between_t, right_arc, left_arc_t = charts[4], charts[5], charts[6], charts[7]
    charts[:, : (n + 2) * width] = -np.inf
    for k in range(1, n + 1):
        row, before = k * width, (k - 1) * width
        left[before + k] = left_t[row + k - 1] = left_ends[before + k]
        right[row + k] = right_t[row + k] = right_ends[row + k]
    for distance in range(1, n):
        for i in range(1, n - distance + 1):
            j = i + distance
            row, column, before = i * width, j * width, (i - 1) * width
            # S(i,j)
            largest = plus_max(terms, 0, right, row + i, left_t, column + i, 0.0, distance)
            value = log_sum(terms, largest, distance, single)
            between[row + j] = between_t[column + i] = value
            # I_R(i,j), I_L(i,j)
            largest = _right_terms(terms, none, scores, b, i, j, width, charts)
            right_arc[row + j] = log_sum(terms, largest, distance, single) + arcs[row + j]
            largest = _left_terms(terms, none, scores, b, i, j, width, charts)
            left_arc_t[column + i] = log_sum(terms, largest, distance, single) + arcs[column + i]
            # F_R(i,j)
            first = row + i + 1
            largest = plus_max(terms, 0, right_arc, first, right_t, column + i + 1, 0.0, distance)
            value = log_sum(terms, largest, distance, single) + right_ends[row + j]
            right[row + j] = right_t[column + i] = value
            # F_L(i-1,j)
            largest = plus_max(terms, 0, left, before + i, left_arc_t, column + i, 0.0, distance)
            value = log_sum(terms, largest, distance, single) + left_ends[before + j]
            left[before + j] = left_t[column + i - 1] = value


@helper
def _shares(terms: Any, total: float, count: int, single: bool) -> None:
    """Replace terms by exp(terms - total), the share of every term in a sum, with zeros behind."""
    if single:
        single_exp_sum(terms, 0, terms, 0, total, count)
    else:
        exp_sum(terms, 0, terms, 0, total, count)
    terms[count : count + PAD] = 0.0


@helper
def _outside(
    arcs: Any,
    none: Any,
    left_ends: Any,
    right_ends: Any,
    scores: Any,
    b: int,
    n: int,
    width: int,
    charts: Any,
    work: Any,
    terms: Any,
    single: bool,
    marginals: Any,
) -> None:
    """Hand probabilities down from F_L(0,r) and F_R(r,n), the most distant words first.

    work holds, handed to the charts in their order; the marginals of siblings are stored on the
    way. When a cell is reached, its own probability is complete.
    """
    left, left_t, right, right_t = charts[0], charts[1], charts[2], charts[3]
    between, right_arc, left_arc_t = charts[4], charts[6], charts[7]
    p_left, p_left_t, p_right, p_right_t = work[0], work[1], work[2], work[3]
    p_between, p_between_t, p_right_arc, p_left_arc_t = work[4], work[5], work[6], work[7]
    side = scores.shape[1]
    for distance in range(n - 1, 0, -1):
        for i in range(1, n - distance + 1):
            j = i + distance
            row, column, before = i * width, j * width, (i - 1) * width
            # F_L(i-1,j)
            p = p_left[before + j] = p_left[before + j] + p_left_t[column + i - 1]
            if p > 0.0:
                total = left[before + j] - left_ends[before + j]
                proportions(
                    terms, left, before + i, left_arc_t, column + i, total, distance, single
                )
                add_scaled(p_left, before + i, terms, 0, p, distance)
                add_scaled(p_left_arc_t, column + i, terms, 0, p, distance)
            # F_R(i,j)
            p = p_right[row + j] = p_right[row + j] + p_right_t[column + i]
            if p > 0.0:
                total, first = right[row + j] - right_ends[row + j], row + i + 1
                proportions(
                    terms, right_arc, first, right_t, column + i + 1, total, distance, single
                )
                add_scaled(p_right_arc, first, terms, 0, p, distance)
                add_scaled(p_right_t, column + i + 1, terms, 0, p, distance)
            # I_R(i,j)
            p = p_right_arc[row + j]
            if p > 0.0:
                _right_terms(terms, none, scores, b, i, j, width, charts)
                _shares(terms, right_arc[row + j] - arcs[row + j], distance, single)
                p_left[row + j] += p * terms[0]
                add_scaled(p_right_arc, row + i + 1, terms, 1, p, distance - 1)
                add_scaled(p_between_t, column + i + 1, terms, 1, p, distance - 1)
                cube = (b * side + i) * side
                for k in range(i, j):
                    marginals[(cube + k) * side + j] = p * terms[k - i]
            # I_L(i,j)
            p = p_left_arc_t[column + i]
            if p > 0.0:
                _left_terms(terms, none, scores, b, i, j, width, charts)
                _shares(terms, left_arc_t[column + i] - arcs[column + i], distance, single)
                cube = (b * side + j) * side
                for k in range(i + 1, j + 1):
                    marginals[(cube + k) * side + i] = p * terms[k - i - 1]
                p_right[row + j - 1] += p * terms[distance - 1]
                terms[distance - 1] = 0.0
                add_scaled(p_between, row + i + 1, terms, 0, p, distance - 1)
                add_scaled(p_left_arc_t, column + i + 1, terms, 0, p, distance - 1)
            # S(i,j)
            p = p_between[row + j] + p_between_t[column + i]
            if p > 0.0:
                total = between[row + j]
                proportions(terms, right, row + i, left_t, column + i, total, distance, single)
                add_scaled(p_right, row + i, terms, 0, p, distance)
                add_scaled(p_left_t, column + i, terms, 0, p, distance)
    for k in range(1, n + 1):
        p_left[(k - 1) * width + k] += p_left_t[k * width + k - 1]
        p_right[k * width + k] += p_right_t[k * width + k]


@helper
def sums_of_sentence(
    arcs: Any,
    none: Any,
    left_ends: Any,
    right_ends: Any,
    scores: Any,
    b: int,
    n: int,
    width: int,
    charts: Any,
    work: Any,
    terms: Any,
    log_partition: Any,
    arc_marginals: Any,
    sibling_marginals: Any,
) -> int:
    """All sums of one sentence whose arcs and ends are loaded; its status.

    The probabilities of ends are left in `work`, as in the charts of closed halves.
    """
    single = scores.itemsize == 4
    side = scores.shape[1]
    nothing = np.zeros((0, 0), np.int64)
    if load_no_siblings(arcs, none, width, scores, b, n, nothing, nothing, 0.0):
        return BAD_SCORE
    for low in range(1, n + 1):
        for k in range(low + 1, n):
            for high in range(k + 1, n + 1):
                if not (scores[b, low, k, high] < np.inf and scores[b, high, k, low] < np.inf):
                    return BAD_SCORE
    _inside(arcs, none, left_ends, right_ends, scores, b, n, width, charts, terms, single)
    left, right = charts[0], charts[2]
    total = sum_of_roots(terms, left, 0, right, arcs, n, width)
    if total == -np.inf:
        return NO_TREE
    log_partition[b] = total
    if arc_marginals.size == 0:
        return 0
    work[:, : (n + 2) * width] = 0.0
    for k in range(1, n + 1):
        p = np.exp((left[k] + right[k * width + n]) + arcs[k] - total)
        arc_marginals[b * side * side + k] = p
        sibling_marginals[b * side * side * side + k] = p
        work[LEFT_ENDS, k] += p
        work[RIGHT_ENDS, k * width + n] += p
    _outside(
        arcs, none, left_ends, right_ends, scores, b, n, width, charts, work, terms, single,
        sibling_marginals,
    )  # fmt: skip
    for i in range(1, n + 1):
        for j in range(i + 1, n + 1):
            arc_marginals[(b * side + i) * side + j] = work[6, i * width + j]
            arc_marginals[(b * side + j) * side + i] = work[7, j * width + i]
    return 0


def _sums(
    arc_scores: Any,
    sibling_scores: Any,
    lengths: Any,
    order: Any,
    log_partition: Any,
    arc_marginals: Any,
    sibling_marginals: Any,
    status: Any,
) -> None:
    longest = longest_of(lengths, order)
    size = (longest + 2) * chart_width(longest)
    charts = np.empty((CHARTS, size))
    work = np.empty((CHARTS, size if arc_marginals.size else 0))
    arcs, none, ends = np.zeros(size), np.zeros(size), np.zeros(size)
    terms = np.zeros(chart_width(longest) + PAD)
    no_gold = np.zeros((0, 0), np.int64)
    for b in order:
        n = lengths[b]
        width = chart_width(n)
        if load_arcs(arcs, width, arc_scores, b, n, no_gold, 0.0):
            status[b] = BAD_SCORE
            continue
        status[b] = sums_of_sentence(
            arcs, none, ends, ends, sibling_scores, b, n, width, charts, work, terms,
            log_partition, arc_marginals, sibling_marginals,
        )  # fmt: skip


sums = kernel(sums_signature(3, 4, outputs=2))(_sums)
