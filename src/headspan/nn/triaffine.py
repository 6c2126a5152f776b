"""Deep triaffine scores of triples of words, kept as factors until they are needed.

s(x, y, z) = Σ W[p, q, r] x_p y_q z_r over projections of the three words. W is folded into the
words y, so that the pairs (y, z) are one product away, and the n³ scores another: the largest thing
in memory, besides the scores themselves, has n²·d numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from headspan.nn.layers import Projection, SharedDropout, with_one
from headspan.plumbing.stages import stage

LARGEST = 100
"""The largest width of a projection, as in Zhang et al. (2020): W has its third power."""


class Triaffine(nn.Module):
    """Scores of all triples of places 0 … N of a sentence; <bos> is at 0."""

    def __init__(self, inputs: int, size: int, dropout: float) -> None:
        super().__init__()
        size = min(size, LARGEST)
        self.first = Projection(inputs, size)
        self.second = Projection(inputs, size)
        self.third = Projection(inputs, size)
        self.weight = nn.Parameter(torch.zeros(size, size + 1, size + 1))
        self.dropout = SharedDropout(dropout)

    def forward(self, context: Tensor) -> TriaffineScores:
        """context: (B, N+2, inputs)."""
        places = context[:, :-1]
        first = with_one(self.dropout(self.first(places)))
        second = self.dropout(self.second(places))
        third = with_one(self.dropout(self.third(places)))
        folded = (second @ self.weight.flatten(1)).unflatten(-1, self.weight.shape[1:])
        return TriaffineScores(first, folded, third)


@dataclass(frozen=True, slots=True)
class TriaffineScores:
    """Scores by their factors: s(x, y, z) = first_xᵀ folded_y third_z.

    first and third: (B, N+1, d); folded: (B, N+1, d, d).
    """

    first: Tensor
    folded: Tensor
    third: Tensor

    @property
    def device(self) -> torch.device:
        """The device of the scores."""
        return self.first.device

    @property
    def pending(self) -> int:
        """The count of numbers that `dense` would have to compute."""
        sentences, places, _ = self.first.shape
        return sentences * places**3

    def dense(self) -> Tensor:
        """All scores s[b, x, y, z], (B, N+1, N+1, N+1)."""
        with stage("score"):
            pairs = self.third[:, None] @ self.folded.transpose(2, 3)  # [b, y, z, d]
            scores = self.first @ pairs.flatten(1, 2).transpose(1, 2)
            return scores.view(*scores.shape[:2], *pairs.shape[1:3])

    def cells(self, b: Tensor, *cell: Tensor) -> Tensor:
        """The scores of the triples (x[t], y[t], z[t]) of sentences b[t]; (t,)."""
        x, y, z = cell
        pairs = (self.folded[b, y] @ self.third[b, z, :, None])[..., 0]
        return (self.first[b, x] * pairs).sum(-1)

    def sentences(self, rows: list[int], longest: int) -> TriaffineScores:
        """The scores of some sentences, with room for this many words."""
        last = longest + 1
        return TriaffineScores(
            self.first[rows, :last], self.folded[rows, :last], self.third[rows, :last]
        )


class SiblingScorer(nn.Module):
    """Triaffine scores of heads, inner siblings and dependents; without a sibling the score is 0.

    As in Zhang et al. (2020), where only words that have an inner sibling are scored.
    """

    def __init__(self, inputs: int, size: int, dropout: float) -> None:
        super().__init__()
        self.triples = Triaffine(inputs, size, dropout)

    def forward(self, context: Tensor, lengths: Tensor) -> SiblingScores:
        """Scores s[b, h, s, d] of the sibling s between h and d, (B, N+1, N+1, N+1)."""
        return SiblingScores(self.triples(context))


@dataclass(frozen=True, slots=True)
class SiblingScores:
    """Triaffine scores, with 0 where the sibling is the head: there is none."""

    triples: TriaffineScores

    @property
    def device(self) -> torch.device:
        """The device of the scores."""
        return self.triples.device

    @property
    def pending(self) -> int:
        """The count of numbers that `dense` would have to compute."""
        return self.triples.pending

    def dense(self) -> Tensor:
        """All scores, (B, N+1, N+1, N+1)."""
        scores = self.triples.dense()
        places = torch.arange(scores.shape[1], device=scores.device)
        return scores.masked_fill((places[:, None] == places)[..., None], 0.0)

    def cells(self, b: Tensor, *cell: Tensor) -> Tensor:
        """The scores of single cells of sentences b[t]; (t,)."""
        h, s, _ = cell
        return self.triples.cells(b, *cell).masked_fill(h == s, 0.0)

    def sentences(self, rows: list[int], longest: int) -> SiblingScores:
        """The scores of some sentences, with room for this many words."""
        return SiblingScores(self.triples.sentences(rows, longest))
