"""Trees as arcs: the first-order structure of the biaffine parser."""

from headspan.inference.pieces import ARC
from headspan.inference.structure import Structure
from headspan.inference.structures.arc.items import ArcItems
from headspan.inference.structures.arc.recurrence import inside

__all__ = ["Arc", "arc"]


class Arc(Structure):
    """score(tree) = sum of s(h, d) over the arcs from heads h to dependents d. After Eisner.

    scores[b, h, d] is the score of the arc from h to d, 0 <= h <= n, 1 <= d <= n, h != d;
    (B, N+1, N+1).

    Best tree, sums and marginals: O(n³) time, O(n²) memory.

    Ties: the walk back takes the smallest of the best roots, then the smallest k in R(i,j), L(i,j)
    and b(i,j) (see recurrence.py for the letters).
    """

    pieces = (ARC,)
    inside = staticmethod(inside)
    items = ArcItems
    compiled = __name__


arc = Arc()
