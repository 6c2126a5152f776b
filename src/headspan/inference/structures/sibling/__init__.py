"""Arcs and adjacent siblings: the second-order structure of TreeCRF2O."""

from headspan.inference.pieces import ARC, SIBLING
from headspan.inference.structure import Structure
from headspan.inference.structures.sibling.items import SiblingItems
from headspan.inference.structures.sibling.recurrence import inside

__all__ = ["Sibling", "sibling"]


class Sibling(Structure):
    """score(tree) = sum of s(h, d) + t(h, b, d) over words d with head h and inner sibling b.

    The inner sibling of d is the dependent of h next to d on the side of h; b = h if there is none.
    After McDonald and Pereira (2006) and Zhang et al. (2020). The scores are those of `arc`, then
    siblings[b, h, s, d], (B, N+1, N+1, N+1), where s = h or s is between h and d.

    Best tree, sums and marginals: O(n³) time, O(n²) memory besides the scores. Constraints on spans
    and brackets cannot be expressed.

    Ties: the walk back takes the smallest root, then in every item of recurrence.py the smallest
    index.
    """

    pieces = (ARC, SIBLING)
    inside = staticmethod(inside)
    items = SiblingItems
    compiled = __name__


sibling = Sibling()
