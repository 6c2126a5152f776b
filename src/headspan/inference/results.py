"""The results of inference.

Arrays are NumPy arrays when the scores were, and tensors on the scores' device when those were
tensors. The batch axis is there if and only if the scores had one. n is the length of a sentence,
N the longest length that the scores have room for.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Trees:
    """One tree per sentence.

    heads[b, k-1] is the head of word k, 0 for the root; (B, N), -1 beyond the end of the sentence.
    spans[b, k-1] is (left, right), the fenceposts of the headed span of word k; (B, N, 2). In a
    tree that is not projective, they are around word k and all words below it, perhaps with others.
    scores[b] is the tree's score, with its cost in cost-augmented inference; (B,).
    lengths[b] is the number of words; (B,), always a NumPy array.
    """

    heads: Any
    spans: Any
    scores: Any
    lengths: Any

    def sentence(self, b: int) -> "Trees":
        """The tree of sentence b alone, without padding."""
        n = int(self.lengths[b])
        return Trees(self.heads[b, :n], self.spans[b, :n], self.scores[b], self.lengths[b])


@dataclass(frozen=True, slots=True)
class TreeLists:
    """Several trees per sentence: the k best, or samples.

    heads (B, K, N), spans (B, K, N, 2) and scores (B, K) are as in Trees. counts[b] says how many
    of the K are trees, (B,): a short sentence has fewer than k trees. The rest is -1 and -inf.
    """

    heads: Any
    spans: Any
    scores: Any
    counts: Any
    lengths: Any

    def tree(self, b: int, rank: int) -> Trees:
        """The tree at `rank` (from 0) of sentence b alone, without padding."""
        if not 0 <= rank < int(self.counts[b]):
            raise IndexError(f"sentence {b} has {int(self.counts[b])} trees, there is no {rank}")
        n = int(self.lengths[b])
        return Trees(
            self.heads[b, rank, :n],
            self.spans[b, rank, :n],
            self.scores[b, rank],
            self.lengths[b],
        )


@dataclass(frozen=True, slots=True)
class Marginals:
    """Probabilities under p(tree) = exp(score(tree)) / Z.

    log_partition[b] is log Z; (B,).
    by_piece holds, for every piece of the structure by name, the probability of each of its cells,
    in the shape of its scores; and "arc" also where arcs are not among its pieces.
    roots[b, k] is the probability that word k is the root; (B, N+1).
    """

    log_partition: Any
    by_piece: dict[str, Any]
    roots: Any

    @property
    def spans(self) -> Any:
        """spans[b, i, j, k] is the probability that (i, j) is the headed span of word k.

        (B, N+1, N+1, N+1), or None where the structure does not score headed spans.
        """
        return self.by_piece.get("span")

    @property
    def arcs(self) -> Any:
        """arcs[b, h, d] is the probability that h is the head of d, h = 0 being the root.

        (B, N+1, N+1), or None where it was not asked for.
        """
        return self.by_piece.get("arc")
