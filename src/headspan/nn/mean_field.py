"""Arc scores that know of siblings, co-parents and grandparents, by mean-field inference.

After Wang and Tu (2020), with the scores of Wang, Huang and Tu (2019). Every word has a
distribution over its heads, and each is brought up to date from those of all other words, a fixed
number of times. Gradients flow through all of it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from headspan.inference.pieces import ARC
from headspan.nn.scorers import ArcScorer
from headspan.nn.triaffine import LARGEST, Triaffine
from headspan.runtime import piece_scores
from headspan.runtime.piece_scores import DenseScores

ITERATIONS = 3
"""How often the distributions are brought up to date, as in Wang and Tu (2020)."""


class MeanFieldScorer(nn.Module):
    """The logits of every word's distribution over heads, from first- and second-order scores."""

    def __init__(self, inputs: int, size: int, dropout: float) -> None:
        super().__init__()
        self.arcs = ArcScorer(inputs, size, dropout)
        self.siblings = Triaffine(inputs, size, dropout)
        self.coparents = Triaffine(inputs, size, dropout)
        self.grandparents = Triaffine(inputs, size, dropout)

    def forward(self, context: Tensor, lengths: Tensor) -> DenseScores:
        """Logits [b, h, d], (B, N+1, N+1).

        Where no gradient is needed, a few sentences at a time are scored, to save memory.
        """
        if torch.is_grad_enabled():
            return DenseScores(self._logits(context, lengths))
        places = context.shape[1] - 1
        block = max(1, piece_scores.MOST_DENSE // (places * max(places, LARGEST) ** 2))
        few = zip(torch.split(context, block), torch.split(lengths, block), strict=True)
        return DenseScores(torch.cat([self._logits(*some) for some in few]))

    def _logits(self, context: Tensor, lengths: Tensor) -> Tensor:
        return posterior(
            self.arcs(context, lengths).dense(),
            self.siblings(context).dense(),
            self.coparents(context).dense(),
            self.grandparents(context).dense(),
            lengths,
        )


def posterior(
    arcs: Tensor,
    siblings: Tensor,
    coparents: Tensor,
    grandparents: Tensor,
    lengths: Tensor,
    iterations: int = ITERATIONS,
) -> Tensor:
    """The logits of q_d(h), the probability that h is the head of d; [b, h, d], (B, N+1, N+1).

    arcs[b, h, d]: the score of the arc from h to d. The others are (B, N+1, N+1, N+1):
    siblings[b, h, d, k]: of d and k as dependents of h, read for d < k and mirrored;
    coparents[b, d, h, k]: of h and k as heads of d, read for h < k and mirrored;
    grandparents[b, h, g, d]: of the arcs from g to h and from h to d.

    q starts as the softmax of the arcs' scores over legal heads, and is then, in every iteration,
    the softmax of s(h,d) + Σ_k q_k(h) sib(h,d,k) + q_d(k) cop(d,h,k) + q_k(d) gp(d,h,k)
    + q_h(k) gp(h,k,d), over all k but h and d. All scores must be finite; those of padding and of
    illegal arcs count nothing, and logits there mean nothing.
    """
    places = torch.arange(arcs.shape[1], device=arcs.device)
    n = lengths.to(arcs.device)[:, None, None]
    illegal = ~ARC.legal(n, places[:, None], places)
    siblings, coparents = _mirrored(siblings), _mirrored(coparents)
    grandparents = grandparents.masked_fill(places[:, None] == places, 0.0)
    logits = arcs
    for _ in range(iterations):
        q = logits.masked_fill(illegal, torch.finfo(logits.dtype).min).softmax(1)
        q = q.masked_fill(illegal, 0.0)
        dependents, heads = q[..., None], q.mT[..., None]  # of the place on axis 1
        to_dependents = siblings @ dependents + grandparents.mT @ heads  # [b, h, d]
        to_heads = coparents @ heads + grandparents @ dependents  # [b, d, h]
        logits = arcs + to_dependents[..., 0] + to_heads[..., 0].mT
    return logits


def _mirrored(scores: Tensor) -> Tensor:
    """The upper triangle of the last two axes on both sides of a diagonal of zeros."""
    upper = scores.triu(1)
    return upper + upper.mT
