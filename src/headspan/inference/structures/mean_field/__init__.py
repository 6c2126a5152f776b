"""Trees as arcs whose scores know of second-order pieces, by mean-field inference."""

from headspan.inference.pieces import POSTERIOR_ARC
from headspan.inference.structures.arc import Arc

__all__ = ["MeanField", "mean_field"]


class MeanField(Arc):
    """score(tree) = sum of s(h, d) over arcs, s being the logits of a posterior over heads.

    The network finds the posterior of every word's head from scores of arcs, siblings, co-parents
    and grandparents (`headspan.nn.mean_field`); that is approximate, in O(n³) time and memory. From
    there on this is `arc`. A constant added to all heads of a word changes no best tree, so that
    logits do as well as log-probabilities. Sums and marginals are those of the trees, under the
    distribution that the logits define; they are not the posterior's.
    """

    pieces = (POSTERIOR_ARC,)

    def needs_dense_scores(self, *, sums: bool) -> bool:
        """Yes: second-order scores are n³, though those of arcs are n²."""
        return True


mean_field = MeanField()
