"""Sums over all trees of arcs, and what is likely, after Eisner. O(n³) time, O(n²) memory.

Inside is the recurrence of recurrence.py with log-add-exp for ⊕ (it counts every tree once), in
float64. Outside hands each cell's probability down to the terms of its sum in proportion to them.
"""

from typing import Any

import numpy as np

from headspan.inference.scores import BAD_SCORE, NO_TREE
from headspan.inference.simd.charts import chart_width, log_sum, longest_of, proportions
from headspan.inference.simd.compile import helper, kernel, sums_signature
from headspan.inference.simd.rows import PAD, add_scaled, plus_max
from headspan.inference.structures.arc.kernel import load_arcs


@helper
def inside(arcs: Any, n: int, width: int, charts: Any, terms: Any, single: bool) -> None:
    """R, L by rows and columns, r by rows, l by columns, b by rows."""
    right, right_t, left, left_t = charts[0], charts[1], charts[2], charts[3]
    right_arc, left_arc_t, base = charts[4], charts[5], charts[6]
    charts[:, : (n + 2) * width] = -np.inf
    for i in range(1, n + 1):
        right[i * width + i] = right_t[i * width + i] = 0.0
        left[i * width + i] = left_t[i * width + i] = 0.0
    for length in range(1, n):
        for i in range(1, n - length + 1):
            j = i + length
            row, column = i * width, j * width
            # b(i,j)
            largest = plus_max(terms, 0, right, row + i, left_t, column + i + 1, 0.0, length)
            value = log_sum(terms, largest, length, single)
            base[row + j] = value
            # E-R-LINK, E-L-LINK
            right_arc[row + j] = value + arcs[row + j]
            left_arc_t[column + i] = value + arcs[column + i]
            # E-R-CONC
            largest = plus_max(
                terms, 0, right_arc, row + i + 1, right_t, column + i + 1, 0.0, length
            )
            value = log_sum(terms, largest, length, single)
            right[row + j] = right_t[column + i] = value
            # E-L-CONC
            largest = plus_max(terms, 0, left, row + i, left_arc_t, column + i, 0.0, length)
            value = log_sum(terms, largest, length, single)
            left[row + j] = left_t[column + i] = value


@helper
def _outside(n: int, width: int, charts: Any, work: Any, terms: Any, single: bool) -> None:
    """Hand probabilities down from R(r,n) and L(1,r) to the arcs.

    work holds, handed to: R and L within their row and (by columns) from rows above; r by rows;
    l by columns.
    """
    right, right_t, left, left_t = charts[0], charts[1], charts[2], charts[3]
    right_arc, left_arc_t, base = charts[4], charts[5], charts[6]
    p_right, p_right_t, p_left, p_left_t = work[0], work[1], work[2], work[3]
    p_right_arc, p_left_arc_t = work[4], work[5]
    for length in range(n - 1, 0, -1):
        for i in range(1, n - length + 1):
            j = i + length
            row, column = i * width, j * width
            p = p_right[row + j] + p_right_t[column + i]
            if p > 0.0:
                # E-R-CONC
                total, first = right[row + j], row + i + 1
                proportions(terms, right_arc, first, right_t, column + i + 1, total, length, single)
                add_scaled(p_right_arc, first, terms, 0, p, length)
                add_scaled(p_right_t, column + i + 1, terms, 0, p, length)
            p = p_left[row + j] + p_left_t[column + i]
            if p > 0.0:
                # E-L-CONC
                total = left[row + j]
                proportions(terms, left, row + i, left_arc_t, column + i, total, length, single)
                add_scaled(p_left, row + i, terms, 0, p, length)
                add_scaled(p_left_arc_t, column + i, terms, 0, p, length)
            # E-R-LINK, E-L-LINK
            p = p_right_arc[row + j] + p_left_arc_t[column + i]
            if p > 0.0:
                total = base[row + j]
                proportions(terms, right, row + i, left_t, column + i + 1, total, length, single)
                add_scaled(p_right, row + i, terms, 0, p, length)
                add_scaled(p_left_t, column + i + 1, terms, 0, p, length)


@helper
def sum_of_roots(
    terms: Any, left: Any, first: int, right: Any, arcs: Any, n: int, width: int
) -> float:
    """The log of the sum over all roots; see `best_root` of kernel.py."""
    largest = -np.inf
    for k in range(1, n + 1):
        terms[k - 1] = (left[first + k] + right[k * width + n]) + arcs[k]
        largest = max(largest, terms[k - 1])
    return log_sum(terms, largest, n, False)


def _sums(
    scores: Any,
    lengths: Any,
    order: Any,
    log_partition: Any,
    arc_marginals: Any,
    status: Any,
) -> None:
    longest = longest_of(lengths, order)
    size = (longest + 2) * chart_width(longest)
    charts = np.empty((7, size))
    work = np.empty((6, size if arc_marginals.size else 0))
    arcs = np.zeros(size)
    terms = np.zeros(chart_width(longest) + PAD)
    no_gold = np.zeros((0, 0), np.int64)
    single = scores.itemsize == 4
    side = scores.shape[1]
    for b in order:
        n = lengths[b]
        width = chart_width(n)
        if load_arcs(arcs, width, scores, b, n, no_gold, 0.0):
            status[b] = BAD_SCORE
            continue
        inside(arcs, n, width, charts, terms, single)
        right, left = charts[0], charts[2]
        total = sum_of_roots(terms, left, width, right, arcs, n, width)
        if total == -np.inf:
            status[b] = NO_TREE
            continue
        log_partition[b] = total
        if arc_marginals.size == 0:
            continue
        work[:, : (n + 2) * width] = 0.0
        for k in range(1, n + 1):
            p = np.exp((left[width + k] + right[k * width + n]) + arcs[k] - total)
            arc_marginals[b * side * side + k] = p
            work[0, k * width + n] += p
            work[2, width + k] += p
        _outside(n, width, charts, work, terms, single)
        for i in range(1, n + 1):
            for j in range(i + 1, n + 1):
                arc_marginals[(b * side + i) * side + j] = work[4, i * width + j]
                arc_marginals[(b * side + j) * side + i] = work[5, j * width + i]


sums = kernel(sums_signature(3, outputs=1))(_sums)
