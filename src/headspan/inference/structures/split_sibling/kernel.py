"""The best tree over arcs, adjacent siblings and ends of headed spans; see sibling/kernel.py."""

from typing import Any

import numpy as np

from headspan.inference.scores import BAD_SCORE
from headspan.inference.simd.charts import chart_width, longest_of
from headspan.inference.simd.compile import best_signature, kernel
from headspan.inference.structures.arc.kernel import load_arcs
from headspan.inference.structures.sibling.kernel import best_of_sentence
from headspan.inference.structures.split.kernel import load_ends


def _best(
    arc_scores: Any,
    sibling_scores: Any,
    left_scores: Any,
    right_scores: Any,
    lengths: Any,
    order: Any,
    gold: Any,
    _gold: Any,  # the same, for the second piece
    gold_left: Any,
    gold_right: Any,
    arc_cost: Any,
    sibling_cost: Any,
    left_cost: Any,
    right_cost: Any,
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
    left_ends, right_ends = np.zeros(size, values.dtype), np.zeros(size, values.dtype)
    stack = np.empty((3 * longest + 5, 3), np.int64)
    siblings = np.empty(gold.shape, np.int64)
    for b in order:
        n = lengths[b]
        width = chart_width(n)
        bad = load_arcs(arcs, width, arc_scores, b, n, gold, arc_cost)
        bad |= load_ends(left_ends, right_ends, width, left_scores, right_scores, b, n)
        if bad:
            status[b] = BAD_SCORE
            continue
        if gold.shape[0]:
            for k in range(1, n + 1):
                left_ends[gold_left[b, k - 1, 0] * width + k] -= left_cost
                right_ends[k * width + gold_right[b, k - 1, 1]] -= right_cost
        status[b] = best_of_sentence(
            arcs, none, left_ends, right_ends, sibling_scores, b, n, width, charts, rows, stack,
            gold, siblings, sibling_cost, heads, spans, values,
        )  # fmt: skip
        if gold.shape[0]:
            values[b] += ((arc_cost * n + sibling_cost * n) + left_cost * n) + right_cost * n


best = kernel(best_signature(3, 4, 3, 3, gold=(2, 2, 3, 3)))(_best)
