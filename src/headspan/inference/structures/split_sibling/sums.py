"""Sums over all trees of arcs, adjacent siblings and ends of headed spans; see sibling/sums.py."""

from typing import Any

import numpy as np

from headspan.inference.scores import BAD_SCORE
from headspan.inference.simd.charts import chart_width, longest_of
from headspan.inference.simd.compile import kernel, sums_signature
from headspan.inference.simd.rows import PAD
from headspan.inference.structures.arc.kernel import load_arcs
from headspan.inference.structures.sibling.sums import (
    CHARTS,
    LEFT_ENDS,
    RIGHT_ENDS,
    sums_of_sentence,
)
from headspan.inference.structures.split.kernel import load_ends


def _sums(
    arc_scores: Any,
    sibling_scores: Any,
    left_scores: Any,
    right_scores: Any,
    lengths: Any,
    order: Any,
    log_partition: Any,
    arc_marginals: Any,
    sibling_marginals: Any,
    left_marginals: Any,
    right_marginals: Any,
    status: Any,
) -> None:
    longest = longest_of(lengths, order)
    size = (longest + 2) * chart_width(longest)
    charts = np.empty((CHARTS, size))
    work = np.empty((CHARTS, size if arc_marginals.size else 0))
    arcs, none, left_ends, right_ends = (
        np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size),
    )  # fmt: skip
    terms = np.zeros(chart_width(longest) + PAD)
    no_gold = np.zeros((0, 0), np.int64)
    side = arc_scores.shape[1]
    for b in order:
        n = lengths[b]
        width = chart_width(n)
        bad = load_arcs(arcs, width, arc_scores, b, n, no_gold, 0.0)
        bad |= load_ends(left_ends, right_ends, width, left_scores, right_scores, b, n)
        if bad:
            status[b] = BAD_SCORE
            continue
        status[b] = sums_of_sentence(
            arcs, none, left_ends, right_ends, sibling_scores, b, n, width, charts, work, terms,
            log_partition, arc_marginals, sibling_marginals,
        )  # fmt: skip
        if status[b] or arc_marginals.size == 0:
            continue
        for k in range(1, n + 1):
            for p in range(n + 1):
                if p < k:
                    left_marginals[(b * side + p) * side + k] = work[LEFT_ENDS, p * width + k]
                else:
                    right_marginals[(b * side + p) * side + k] = work[RIGHT_ENDS, k * width + p]


sums = kernel(sums_signature(3, 4, 3, 3, outputs=4))(_sums)
