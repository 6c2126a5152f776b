"""Trees drawn from p(tree) = exp(score(tree)) / Z: inside once, then O(n²) a sample.

From the whole sentence down, every sum of the recurrence is replaced by one of its terms, drawn in
proportion. A tree over n words takes at most 2n draws, which come as uniform numbers.
"""

from typing import Any

import numpy as np
from numba import types

from headspan.inference.kernels import arc_sums, span_sums
from headspan.inference.kernels.arc import LEFT, RIGHT, load_arcs
from headspan.inference.kernels.compile import INDICES, array, helper, kernel, scores
from headspan.inference.kernels.operations import PAD
from headspan.inference.kernels.span import BAD_SCORE, NO_TREE, chart_width


@helper
def _draw(terms: Any, count: int, uniform: float) -> int:
    """An index in proportion to exp(terms)."""
    largest = -np.inf
    for t in range(count):
        largest = max(largest, terms[t])
    total = 0.0
    for t in range(count):
        terms[t] = np.exp(terms[t] - largest)
        total += terms[t]
    left = uniform * total
    last = 0
    for t in range(count):
        if terms[t] > 0.0:
            last = t
            left -= terms[t]
            if left < 0.0:
                return t
    return last


@helper
def _one_span_tree(
    cube: Any, b: int, n: int, charts: Any, terms: Any, stack: Any, uniforms: Any, heads: Any
) -> None:
    alpha, alpha_t, gamma_t = charts[0], charts[1], charts[3]
    width = chart_width(n)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, n, 0
    top, drawn = 1, 0
    while top:
        top -= 1
        i, j, head = stack[top, 0], stack[top, 1], stack[top, 2]
        for k in range(i + 1, j + 1):
            inner = alpha[i * width + k - 1] + alpha_t[j * width + k]
            terms[k - i - 1] = inner + cube[b, i, j, k]
        word = i + 1 + _draw(terms, j - i, uniforms[drawn])
        drawn += 1
        heads[word - 1] = head
        for side in range(2):
            low = i if side == 0 else word
            high = word - 1 if side == 0 else j
            while high > low:
                for k in range(low, high):
                    terms[k - low] = alpha[low * width + k] + gamma_t[high * width + k]
                k = low + _draw(terms, high - low, uniforms[drawn])
                drawn += 1
                stack[top, 0], stack[top, 1], stack[top, 2] = k, high, word
                top += 1
                high = k


def _span_samples(
    cube: Any, lengths: Any, order: Any, uniforms: Any, heads: Any, status: Any
) -> None:
    longest = 0
    for b in order:
        longest = max(longest, lengths[b])
    charts = np.empty((4, (longest + 2) * chart_width(longest)))
    terms = np.zeros(chart_width(longest) + PAD)
    stack = np.empty((longest + 1, 3), np.int64)
    no_weights = np.zeros(0)
    for b in order:
        n = lengths[b]
        if span_sums.inside(cube, b, n, charts, terms, no_weights, 0):
            status[b] = BAD_SCORE
        elif charts[2, n] == -np.inf:
            status[b] = NO_TREE
        else:
            for t in range(heads.shape[1]):
                _one_span_tree(cube, b, n, charts, terms, stack, uniforms[b, t], heads[b, t])


@helper
def _one_arc_tree(
    arcs: Any, n: int, width: int, charts: Any, terms: Any, stack: Any, uniforms: Any, heads: Any
) -> None:
    right, right_t, left, left_t = charts[0], charts[1], charts[2], charts[3]
    right_arc, left_arc_t = charts[4], charts[5]
    for k in range(1, n + 1):
        terms[k - 1] = (left[width + k] + right[k * width + n]) + arcs[k]
    root = 1 + _draw(terms, n, uniforms[0])
    drawn = 1
    heads[root - 1] = 0
    stack[0, 0], stack[0, 1], stack[0, 2] = 1, root, LEFT
    stack[1, 0], stack[1, 1], stack[1, 2] = root, n, RIGHT
    top = 2
    while top:
        top -= 1
        i, j, side = stack[top, 0], stack[top, 1], stack[top, 2]
        if i == j:
            continue
        if side == RIGHT:
            for k in range(i + 1, j + 1):
                terms[k - i - 1] = right_arc[i * width + k] + right_t[j * width + k]
            k = i + 1 + _draw(terms, j - i, uniforms[drawn])
            heads[k - 1] = i
            stack[top, 0], stack[top, 1], stack[top, 2] = k, j, RIGHT
            low, high = i, k
        else:
            for k in range(i, j):
                terms[k - i] = left[i * width + k] + left_arc_t[j * width + k]
            k = i + _draw(terms, j - i, uniforms[drawn])
            heads[k - 1] = j
            stack[top, 0], stack[top, 1], stack[top, 2] = i, k, LEFT
            low, high = k, j
        top += 1
        for k in range(low, high):
            terms[k - low] = right[low * width + k] + left_t[high * width + k + 1]
        k = low + _draw(terms, high - low, uniforms[drawn + 1])
        drawn += 2
        stack[top, 0], stack[top, 1], stack[top, 2] = low, k, RIGHT
        stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = k + 1, high, LEFT
        top += 2


def _arc_samples(
    matrix: Any, lengths: Any, order: Any, uniforms: Any, heads: Any, status: Any
) -> None:
    longest = 0
    for b in order:
        longest = max(longest, lengths[b])
    size = (longest + 2) * chart_width(longest)
    charts = np.empty((7, size))
    arcs = np.zeros(size)
    terms = np.zeros(chart_width(longest) + PAD)
    stack = np.empty((3 * longest + 3, 3), np.int64)
    no_gold = np.zeros((0, 0), np.int64)
    for b in order:
        n = lengths[b]
        width = chart_width(n)
        if load_arcs(arcs, width, matrix, b, n, no_gold, 0.0):
            status[b] = BAD_SCORE
            continue
        arc_sums.inside(arcs, n, width, charts, terms, matrix.itemsize == 4)
        possible = False
        for k in range(1, n + 1):
            possible |= (charts[2, width + k] + charts[0, k * width + n]) + arcs[k] > -np.inf
        if not possible:
            status[b] = NO_TREE
            continue
        for t in range(heads.shape[1]):
            _one_arc_tree(arcs, n, width, charts, terms, stack, uniforms[b, t], heads[b, t])


def _signature(dimensions: int):  # type: ignore[no-untyped-def]
    return lambda number: types.void(
        scores(number, dimensions),
        INDICES,
        INDICES,
        array(types.float64, 3),
        array(types.int64, 3),
        INDICES,
    )


span_samples = kernel(_signature(4))(_span_samples)
arc_samples = kernel(_signature(3))(_arc_samples)
