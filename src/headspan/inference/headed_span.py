"""Trees as headed spans: score(tree) = sum of s(l, r, k) over the headed spans (l, r) of words k.

The paper's structure. Everywhere below, words are 1 … n and fenceposts 0 … n, and

    scores[b, i, j, k] is the score of (i, j) as the headed span of word k, 0 <= i < k <= j <= n;
    shape (B, N+1, N+1, N+1), or (N+1, N+1, N+1) for a single sentence without a batch axis.
    NumPy array or tensor, float32 or float64. Other cells are never read. -inf forbids a span.
    lengths[b] is n for sentence b; shape (B,), or a number without the batch axis. Default: N.

The kernels are quickest when j or k (either) is contiguous in memory. `backend` is chosen from
where the scores live: compiled loops ("kernels") on the CPU, tensor operations ("batched")
elsewhere. `threads` is how many sentences are worked on at a time by the kernels; None means as
many as there are processors.

Ties: the walk back from the whole sentence takes the smallest head k of a span (i, j) among the
best, and cuts the children on either side of a head from the right, each last child as long as
possible among the best.
"""

from typing import Any

import numpy as np

from headspan.inference.inputs import Backend
from headspan.inference.results import Trees
from headspan.inference.structure import Gold, Structure


class _HeadedSpans(Structure):
    kinds = ("span",)
    kernels = "span"
    batched = "span"

    def gold_arguments(self, gold: Gold | None, dtype: Any) -> tuple[Any, ...]:
        if gold is None:
            return np.zeros((0, 0, 0), np.int64), dtype(0)
        return gold.spans, dtype(gold.costs[0])


_SPANS = _HeadedSpans()


def best_tree(
    scores: Any,
    *,
    lengths: Any = None,
    backend: Backend | None = None,
    threads: int | None = None,
) -> Trees:
    """The tree with the highest score, single root. O(n³) time, O(n²) memory beyond the scores.

    Raises ScoresError for NaN or +inf, and NoTreeError if -inf scores leave no tree.
    """
    return _SPANS.best_tree((scores,), lengths, backend, threads)
