"""Trees as headed spans: the paper's structure."""

from headspan.inference.pieces import HEADED_SPAN
from headspan.inference.structure import Structure
from headspan.inference.structures.headed_span.by_rows import RowProvider, best_tree_by_rows
from headspan.inference.structures.headed_span.items import HeadedSpanItems
from headspan.inference.structures.headed_span.recurrence import inside

__all__ = ["HeadedSpan", "RowProvider", "headed_span"]


class HeadedSpan(Structure):
    """score(tree) = sum of s(i, j, k) over the headed spans (i, j) of its words k.

    scores[b, i, j, k] is the score of (i, j) as the headed span of word k, 0 <= i < k <= j <= n;
    (B, N+1, N+1, N+1). The kernels are quickest when j or k is contiguous in memory.

    Best tree: O(n³) time, O(n²) memory beyond the scores. Sums and span marginals likewise; arc
    marginals are O(n⁴) with a small constant.

    Ties: the walk back from the whole sentence takes the smallest head k of a span (i, j) among the
    best, and cuts the children on either side of a head from the right, each last child as long as
    possible among the best.
    """

    pieces = (HEADED_SPAN,)
    inside = staticmethod(inside)
    items = HeadedSpanItems
    compiled = __name__
    reads_rows = True
    best_tree_by_rows = staticmethod(best_tree_by_rows)


headed_span = HeadedSpan()
