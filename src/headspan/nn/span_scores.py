"""The scores of headed spans for a batch of sentences, by their factors; made when needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headspan.nn.layers import activation
from headspan.plumbing.stages import stage
from headspan.runtime import piece_scores

_ROW_BLOCK = 1 << 20  # activations that are made at once when rows are asked for


@dataclass(frozen=True, slots=True)
class FactoredSpanScores:
    """Span scores by their factors: s(i,j,k) = act(posts_j − posts_i + bias) · words_k + offsets_k.

    posts: (B, N+1, d), the projected fenceposts; bias: (d,); words: (B, N+1, d), multiplied with
    dropout's mask; offsets: (B, N+1). Row 0 of words and offsets is not a word.
    """

    posts: Tensor
    bias: Tensor
    words: Tensor
    offsets: Tensor

    @property
    def device(self) -> torch.device:
        """The device of the scores."""
        return self.posts.device

    @property
    def pending(self) -> int:
        """The count of numbers that `dense` would have to compute."""
        sentences, posts, _ = self.posts.shape
        return sentences * posts**3

    def dense(self) -> Tensor:
        """All scores s[b, i, j, k], (B, N+1, N+1, N+1); 0 where not i < k <= j.

        The gradient keeps the factors, not the activations of n² spans: those are made again, row
        by row, on the way back.
        """
        with stage("score"):
            scores: Tensor = _DenseSpanScores.apply(  # type: ignore[no-untyped-call]
                self.posts, self.bias, self.words, self.offsets
            )
        return scores

    def cells(self, b: Tensor, *cell: Tensor) -> Tensor:
        """The scores of single headed spans (i[t], j[t], k[t]) of sentences b[t]; (t,)."""
        i, j, k = cell
        spans = activation(self.posts[b, j] - self.posts[b, i] + self.bias)
        return (spans * self.words[b, k]).sum(-1) + self.offsets[b, k]

    def sentences(self, rows: list[int], longest: int) -> FactoredSpanScores:
        """The scores of some sentences, with room for this many words."""
        last = longest + 1
        return FactoredSpanScores(
            self.posts[rows, :last], self.bias, self.words[rows, :last], self.offsets[rows, :last]
        )

    def by_rows(self, b: int, n: int) -> SpanScoreRows:
        """The scores of sentence b, which has n words, handed out row by row."""
        return SpanScoreRows(self.sentences([b], n), n)

    def rows_per_block(self, n: int) -> int:
        """How many rows of a sentence of n words to ask for at a time."""
        width = self.posts.shape[2]
        return max(1, min(_ROW_BLOCK // ((n + 1) * width), piece_scores.MOST_DENSE // (n + 1) ** 2))


class SpanScoreRows:
    """The span scores of one sentence, handed out row by row; see inference's RowProvider."""

    def __init__(self, factors: FactoredSpanScores, n: int) -> None:
        self.length = n
        self.posts, self.words = factors.posts[0], factors.words[0]
        self.bias, self.offsets = factors.bias, factors.offsets[0]

    def rows(self, start: int, stop: int) -> Tensor:
        with stage("score"):
            n, low = self.length, start + 1
            out = self.posts.new_zeros(stop - start, n + 1, n + 1)
            spans = activation(self.posts[None, low:] - self.posts[start:stop, None] + self.bias)
            out[:, low:, low:] = spans @ self.words[low:].T + self.offsets[low:]
            return out

    def cells(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> Tensor:
        i, j = torch.from_numpy(left), torch.from_numpy(right)
        return activation(self.posts[j] - self.posts[i] + self.bias) @ self.words.T + self.offsets


class _DenseSpanScores(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *factors: Tensor) -> Tensor:
        ctx.save_for_backward(*factors)
        sentences, size, _ = factors[0].shape
        scores = factors[0].new_zeros(sentences, size, size, size)
        for i in range(size - 1):
            scores[:, i, i + 1 :, i + 1 :] = _row(i, *factors)
        return scores

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        leaves = [factor.detach().requires_grad_() for factor in ctx.saved_tensors]
        with torch.enable_grad():
            for i in range(gradient.shape[1] - 1):
                row = _row(i, *leaves)
                torch.autograd.backward(row, gradient[:, i, i + 1 :, i + 1 :])
        return tuple(leaf.grad for leaf in leaves)


def _row(i: int, posts: Tensor, bias: Tensor, words: Tensor, offsets: Tensor) -> Tensor:
    """s[b, i, j, k] for j, k > i: (B, N−i, N−i)."""
    spans = activation(posts[:, i + 1 :] - posts[:, i : i + 1] + bias)
    return torch.baddbmm(offsets[:, None, i + 1 :], spans, words[:, i + 1 :].transpose(1, 2))
