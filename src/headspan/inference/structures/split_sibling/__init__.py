"""Arcs, adjacent siblings and the ends of headed spans, together."""

from headspan.inference.pieces import ARC, LEFT_END, RIGHT_END, SIBLING
from headspan.inference.structure import Structure
from headspan.inference.structures.sibling.items import SiblingItems
from headspan.inference.structures.sibling.recurrence import inside

__all__ = ["SplitSibling", "split_sibling"]


class SplitSibling(Structure):
    """score(tree) = the scores of `sibling` and of `split`, with the arcs counted once.

    The scores are those of `sibling`, then the left and right ends of `split`. The recurrence is
    that of `sibling`, whose halves carry the ends.

    Best tree, sums and marginals: O(n³) time, O(n²) memory besides the scores. Constraints on spans
    and brackets cannot be expressed. Ties: as for `sibling`.
    """

    pieces = (ARC, SIBLING, LEFT_END, RIGHT_END)
    inside = staticmethod(inside)
    items = SiblingItems
    compiled = __name__


split_sibling = SplitSibling()
