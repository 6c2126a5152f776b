"""Arcs and the ends of headed spans: what `joint` knows, nearly, at the price of `arc`."""

from typing import Any

from headspan.inference.pieces import ARC, LEFT_END, RIGHT_END
from headspan.inference.structure import Structure
from headspan.inference.structures.split.items import SplitItems
from headspan.inference.structures.split.recurrence import inside

__all__ = ["Split", "split"]


class Split(Structure):
    """score(tree) = sum of s(h, k) + l(i, k) + r(j, k) over words k with head h and span (i, j).

    A headed span is scored by its two ends apart, as in Yang and Tu (Findings of ACL 2022), so that
    Eisner's halves can carry them. The scores are those of `arc`, then left_ends[b, i, k], i < k,
    and right_ends[b, j, k], k <= j; each (B, N+1, N+1).

    Best tree, sums and marginals: O(n³) time, O(n²) memory.

    Ties: the walk back takes the smallest root, then in every item of recurrence.py the smallest
    index.
    """

    pieces = (ARC, LEFT_END, RIGHT_END)
    inside = staticmethod(inside)
    items = SplitItems
    compiled = __name__

    def as_joint(self, *scores: Any) -> tuple[Any, ...]:
        arcs, left_ends, right_ends = scores
        return left_ends[:, :, None, :] + right_ends[:, None, :, :], arcs


split = Split()
