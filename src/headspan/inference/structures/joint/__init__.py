"""Headed spans and arcs together: a span score that knows the head above it."""

from headspan.inference.pieces import ARC, HEADED_SPAN
from headspan.inference.structure import Structure
from headspan.inference.structures.joint.items import JointItems
from headspan.inference.structures.joint.recurrence import inside

__all__ = ["Joint", "joint"]


class Joint(Structure):
    """score(tree) = sum of s(i, j, k) over headed spans + sum of s(h, d) over arcs.

    The scores are those of `headed_span`, (B, N+1, N+1, N+1), and then those of `arc`,
    (B, N+1, N+1).

    Best tree, sums and marginals: O(n⁴) time, O(n³) memory. All constraints can be expressed here.

    Ties: the walk back takes, among the best, the smallest head of a span, on the left of a head
    the shortest first child, and on its right the longest last child.
    """

    pieces = (HEADED_SPAN, ARC)
    inside = staticmethod(inside)
    items = JointItems
    compiled = __name__
    exponent = 4


joint = Joint()
