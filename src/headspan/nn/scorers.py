"""Deep biaffine scores of headed spans, arcs and relations.

Project before you subtract: the first layer of the span MLP is linear, W(h_j − h_i) + b =
Wh_j − Wh_i + b, so the n+1 fenceposts are projected and never the n² spans. Fold the biaffine into
the words: [c'; 1]ᵀW is one vector per word, and a span's score is its activation times that vector.
Relations likewise: [p'; 1]ᵀW_r, which is most of the work, is made once for the children of p.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from headspan.nn.layers import Projection, SharedDropout, with_one
from headspan.nn.span_scores import FactoredSpanScores
from headspan.runtime.piece_scores import DenseScores

_FAMILY = 4  # children whose relations to their parent are scored together
_FAMILIES = 256  # at a time where no gradient is needed


class SpanScorer(nn.Module):
    """Deep biaffine scores of headed spans."""

    def __init__(self, inputs: int, size: int, dropout: float) -> None:
        super().__init__()
        self.span = Projection(inputs, size)
        self.word = Projection(inputs, size)
        self.weight = nn.Parameter(torch.zeros(size + 1, size + 1))
        self.dropout = SharedDropout(dropout)

    def forward(self, context: Tensor, lengths: Tensor) -> FactoredSpanScores:
        """context: (B, N+2, 2H), forward half first, <bos> at 0 and <eos> at n+1."""
        posts = fenceposts(context) @ self.span.linear.weight.T
        words = self.dropout(self.word(context[:, :-1]))
        folded = with_one(words) @ self.weight
        vectors, offsets = folded[..., :-1], folded[..., -1]
        mask = self.dropout.mask(context.shape[0], vectors.shape[2], vectors)
        if mask is not None:
            vectors = vectors * mask[:, None]
        return FactoredSpanScores(posts, self.span.linear.bias, vectors, offsets)


def fenceposts(context: Tensor) -> Tensor:
    """h_k = [f_k; b_{k+1}] for k = 0 … N; (B, N+1, 2H)."""
    half = context.shape[2] // 2
    return torch.cat([context[:, :-1, :half], context[:, 1:, half:]], -1)


class ArcScorer(nn.Module):
    """Deep biaffine scores of arcs; <bos> is the root's place."""

    def __init__(self, inputs: int, size: int, dropout: float) -> None:
        super().__init__()
        self.head = Projection(inputs, size)
        self.dependent = Projection(inputs, size)
        self.weight = nn.Parameter(torch.zeros(size + 1, size + 1))
        self.dropout = SharedDropout(dropout)

    def forward(self, context: Tensor, lengths: Tensor) -> DenseScores:
        """Scores s[b, h, d], (B, N+1, N+1)."""
        heads = self.dropout(self.head(context[:, :-1]))
        dependents = self.dropout(self.dependent(context[:, :-1]))
        return DenseScores(with_one(heads) @ self.weight @ with_one(dependents).transpose(1, 2))


class EndScorer(nn.Module):
    """Deep biaffine scores of fenceposts as one end of the headed spans of words."""

    def __init__(self, inputs: int, size: int, dropout: float) -> None:
        super().__init__()
        self.post = Projection(inputs, size)
        self.word = Projection(inputs, size)
        self.weight = nn.Parameter(torch.zeros(size + 1, size + 1))
        self.dropout = SharedDropout(dropout)

    def forward(self, context: Tensor, lengths: Tensor) -> DenseScores:
        """Scores s[b, p, k] of fencepost p as the end of word k, (B, N+1, N+1)."""
        posts = self.dropout(self.post(fenceposts(context)))
        words = self.dropout(self.word(context[:, :-1]))
        return DenseScores(with_one(posts) @ self.weight @ with_one(words).transpose(1, 2))


class LabelScorer(nn.Module):
    """Deep biaffine scores of relations, for given arcs only."""

    def __init__(self, inputs: int, size: int, labels: int, dropout: float) -> None:
        super().__init__()
        self.parent = Projection(inputs, size)
        self.child = Projection(inputs, size)
        self.weight = nn.Parameter(torch.zeros(labels, size + 1, size + 1))
        self.dropout = SharedDropout(dropout)

    def forward(self, parents: Tensor, children: Tensor, b: Tensor, i: Tensor, j: Tensor) -> Tensor:
        """Scores of every relation, (t, R), for arcs from place i[t] of parents to place j[t] of
        children in sentences b[t]; both (B, ·, inputs).
        """
        upper = with_one(self.dropout(self.parent(parents)))
        lower = with_one(self.dropout(self.child(children)))[b, j]
        first, group, slot = _families(b * parents.shape[1] + i)
        upper = upper[b[first], i[first]]
        lower = lower.new_zeros(len(first), _FAMILY, lower.shape[1]).index_put((group, slot), lower)
        weight = self.weight.transpose(0, 1).flatten(1)
        block = max(1, len(first)) if torch.is_grad_enabled() else _FAMILIES
        scores = [
            c @ (p @ weight).view(len(p), *self.weight.shape[::2]).transpose(1, 2)
            for p, c in zip(torch.split(upper, block), torch.split(lower, block), strict=True)
        ]
        return torch.cat(scores)[group, slot]


def _families(parents: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Arcs with the same parent in groups of at most _FAMILY.

    Gives an arc of every group, (groups,), and each arc's group and its place there, both (t,).
    """
    order = parents.argsort(stable=True)
    together = parents[order]
    rank = torch.arange(len(parents), device=parents.device)
    rank = rank - torch.searchsorted(together, together)
    new = rank % _FAMILY == 0
    group, slot = torch.empty_like(order), torch.empty_like(order)
    group[order], slot[order] = new.cumsum(0) - 1, rank % _FAMILY
    return order[new], group, slot
