"""Sums over all trees of arcs and ends of headed spans. O(n³) time, O(n²) memory.

Inside is the recurrence of recurrence.py with log-add-exp for ⊕ (it counts every tree once), in
float64. Outside hands each cell's probability down to the terms of its sum in proportion to them.

Charts, so that every sum runs along a contiguous axis: left[i,h] = F_L(i,h), open_right[h,j] =
C_R(h,j), right[h,j] = F_R(h,j) and right_arc[h,c] = I_R(h,c) by rows; and, with the last index
first, left_t, open_left_t, right_t and left_arc_t.
"""

from typing import Any

import numpy as np

from headspan.inference.scores import BAD_SCORE, NO_TREE
from headspan.inference.simd.charts import chart_width, log_sum, longest_of, proportions
from headspan.inference.simd.compile import helper, kernel, sums_signature
from headspan.inference.simd.rows import PAD, add_scaled, plus_max
from headspan.inference.structures.arc.kernel import load_arcs
from headspan.inference.structures.arc.sums import sum_of_roots
from headspan.inference.structures.split.kernel import load_ends


@helper
def _inside(
    arcs: Any,
    left_ends: Any,
    right_ends: Any,
    n: int,
    width: int,
    charts: Any,
    terms: Any,
    single: bool,
) -> None:
    left, left_t, open_left_t, open_right = charts[0], charts[1], charts[2], charts[3]
    right, right_t, right_arc, left_arc_t = charts[4], charts[5], charts[6], charts[7]
    charts[:, : (n + 2) * width] = -np.inf
    for k in range(1, n + 1):
        row, before = k * width, (k - 1) * width
        open_left_t[row + k - 1] = open_right[row + k] = 0.0
        left[before + k] = left_t[row + k - 1] = left_ends[before + k]
        right[row + k] = right_t[row + k] = right_ends[row + k]
    for distance in range(1, n):
        for i in range(1, n - distance + 1):
            j = i + distance
            row, column, before = i * width, j * width, (i - 1) * width
            # I_L(i,j), I_R(i,j)
            largest = plus_max(terms, 0, right, row + i, open_left_t, column + i, 0.0, distance)
            value = log_sum(terms, largest, distance, single)
            left_arc_t[column + i] = value + arcs[column + i]
            largest = plus_max(terms, 0, open_right, row + i, left_t, column + i, 0.0, distance)
            value = log_sum(terms, largest, distance, single)
            right_arc[row + j] = value + arcs[row + j]
            # C_R(i,j), F_R(i,j)
            first = row + i + 1
            largest = plus_max(terms, 0, right_arc, first, right_t, column + i + 1, 0.0, distance)
            value = log_sum(terms, largest, distance, single)
            open_right[row + j] = value
            right[row + j] = right_t[column + i] = value + right_ends[row + j]
            # C_L(i-1,j), F_L(i-1,j)
            largest = plus_max(terms, 0, left, before + i, left_arc_t, column + i, 0.0, distance)
            value = log_sum(terms, largest, distance, single)
            open_left_t[column + i - 1] = value
            left[before + j] = left_t[column + i - 1] = value + left_ends[before + j]


@helper
def _outside(
    arcs: Any, n: int, width: int, charts: Any, work: Any, terms: Any, single: bool
) -> None:
    """Hand probabilities down from F_L(0,r) and F_R(r,n), the most distant words first.

    work holds, handed to: F_L and F_R by rows and by columns; C_R by rows; C_L by columns; I_R by
    rows; I_L by columns. When a cell is reached, its own probability is complete.
    """
    left, left_t, open_left_t, open_right = charts[0], charts[1], charts[2], charts[3]
    right, right_t, right_arc, left_arc_t = charts[4], charts[5], charts[6], charts[7]
    p_left, p_left_t, p_open_left_t, p_open_right = work[0], work[1], work[2], work[3]
    p_right, p_right_t, p_right_arc, p_left_arc_t = work[4], work[5], work[6], work[7]
    for distance in range(n - 1, 0, -1):
        for i in range(1, n - distance + 1):
            j = i + distance
            row, column, before = i * width, j * width, (i - 1) * width
            # F_L(i-1,j), C_L(i-1,j)
            p_left[before + j] += p_left_t[column + i - 1]
            p = p_open_left_t[column + i - 1] + p_left[before + j]
            if p > 0.0:
                total, first = open_left_t[column + i - 1], before + i
                proportions(terms, left, first, left_arc_t, column + i, total, distance, single)
                add_scaled(p_left, first, terms, 0, p, distance)
                add_scaled(p_left_arc_t, column + i, terms, 0, p, distance)
            # F_R(i,j), C_R(i,j)
            p_right[row + j] += p_right_t[column + i]
            p = p_open_right[row + j] + p_right[row + j]
            if p > 0.0:
                total, first = open_right[row + j], row + i + 1
                proportions(
                    terms, right_arc, first, right_t, column + i + 1, total, distance, single
                )
                add_scaled(p_right_arc, first, terms, 0, p, distance)
                add_scaled(p_right_t, column + i + 1, terms, 0, p, distance)
            # I_L(i,j)
            p = p_left_arc_t[column + i]
            if p > 0.0:
                total = left_arc_t[column + i] - arcs[column + i]
                proportions(terms, right, row + i, open_left_t, column + i, total, distance, single)
                add_scaled(p_right, row + i, terms, 0, p, distance)
                add_scaled(p_open_left_t, column + i, terms, 0, p, distance)
            # I_R(i,j)
            p = p_right_arc[row + j]
            if p > 0.0:
                total = right_arc[row + j] - arcs[row + j]
                proportions(terms, open_right, row + i, left_t, column + i, total, distance, single)
                add_scaled(p_open_right, row + i, terms, 0, p, distance)
                add_scaled(p_left_t, column + i, terms, 0, p, distance)
    for k in range(1, n + 1):
        p_left[(k - 1) * width + k] += p_left_t[k * width + k - 1]
        p_right[k * width + k] += p_right_t[k * width + k]


def _sums(
    arc_scores: Any,
    left_scores: Any,
    right_scores: Any,
    lengths: Any,
    order: Any,
    log_partition: Any,
    arc_marginals: Any,
    left_marginals: Any,
    right_marginals: Any,
    status: Any,
) -> None:
    longest = longest_of(lengths, order)
    size = (longest + 2) * chart_width(longest)
    charts = np.empty((8, size))
    work = np.empty((8, size if arc_marginals.size else 0))
    arcs = np.zeros(size)
    left_ends = np.zeros(size)
    right_ends = np.zeros(size)
    terms = np.zeros(chart_width(longest) + PAD)
    no_gold = np.zeros((0, 0), np.int64)
    single = arc_scores.itemsize == 4
    side = arc_scores.shape[1]
    for b in order:
        n = lengths[b]
        width = chart_width(n)
        bad = load_arcs(arcs, width, arc_scores, b, n, no_gold, 0.0)
        bad |= load_ends(left_ends, right_ends, width, left_scores, right_scores, b, n)
        if bad:
            status[b] = BAD_SCORE
            continue
        _inside(arcs, left_ends, right_ends, n, width, charts, terms, single)
        left, right = charts[0], charts[4]
        total = sum_of_roots(terms, left, 0, right, arcs, n, width)
        if total == -np.inf:
            status[b] = NO_TREE
            continue
        log_partition[b] = total
        if arc_marginals.size == 0:
            continue
        work[:, : (n + 2) * width] = 0.0
        for k in range(1, n + 1):
            p = np.exp((left[k] + right[k * width + n]) + arcs[k] - total)
            arc_marginals[b * side * side + k] = p
            work[0, k] += p
            work[4, k * width + n] += p
        _outside(arcs, n, width, charts, work, terms, single)
        for i in range(1, n + 1):
            for j in range(i + 1, n + 1):
                arc_marginals[(b * side + i) * side + j] = work[6, i * width + j]
                arc_marginals[(b * side + j) * side + i] = work[7, j * width + i]
            for p in range(n + 1):
                if p < i:
                    left_marginals[(b * side + p) * side + i] = work[0, p * width + i]
                else:
                    right_marginals[(b * side + p) * side + i] = work[4, i * width + p]


sums = kernel(sums_signature(3, 3, 3, outputs=3))(_sums)
