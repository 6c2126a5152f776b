"""The cube of span scores, where it has to exist, and the best tree, where it need not."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headspan.inference import Trees, headed_span
from headspan.nn.layers import activation
from headspan.nn.scorers import SpanTerms
from headspan.plumbing.stages import stage

_LARGEST_CUBE = 1 << 22  # scores; beyond, sentences are decoded row by row
_ROW_BLOCK = 1 << 20  # activations at a time when rows are asked for, if their scores fit, too


def score_cube(terms: SpanTerms) -> Tensor:
    """All scores s[b, i, j, k], (B, N+1, N+1, N+1), differentiable; 0 where not i < k <= j.

    What is kept for the gradient are the terms, not the activations of n² spans: those are made
    again, row by row, on the way back.
    """
    cube: Tensor = _Cube.apply(terms.posts, terms.bias, terms.words, terms.offsets)  # type: ignore[no-untyped-call]
    return cube


def fits(terms: SpanTerms) -> bool:
    """Whether the cube of a batch is small enough to be made as a whole."""
    sentences, posts, _ = terms.posts.shape
    return sentences * posts**3 <= _LARGEST_CUBE


def best_trees(terms: SpanTerms, lengths: Tensor, gold: Tensor | None = None) -> Trees:
    """The best trees, or with gold heads (B, N) the cost-augmented ones, as NumPy arrays.

    Without gradient. Small batches go through a cube, long sentences row by row: O(n²) memory.
    """
    with torch.no_grad():
        sentences, posts, _ = terms.posts.shape
        if fits(terms) or terms.posts.device.type != "cpu":
            with stage("score"):
                cube = _filled(terms.posts, terms.bias, terms.words, terms.offsets)
            threads = torch.get_num_threads()
            if gold is None:
                trees = headed_span.best_tree(cube, lengths=lengths, threads=threads)
            else:
                trees = headed_span.cost_augmented_tree(
                    cube, gold, lengths=lengths, threads=threads
                )
            heads, spans, scores = (
                part.cpu().numpy() for part in (trees.heads, trees.spans, trees.scores)
            )
            return Trees(heads, spans, scores, trees.lengths)
        heads = np.full((sentences, posts - 1), -1, np.int64)
        spans = np.full((sentences, posts - 1, 2), -1, np.int64)
        scores = np.zeros(sentences)
        for b, n in enumerate(lengths.tolist()):
            activations, found = (n + 1) * terms.posts.shape[2], (n + 1) ** 2  # of one row
            block = max(1, min(_ROW_BLOCK // activations, _LARGEST_CUBE // found))
            chosen = None if gold is None else gold[b, :n].numpy()
            tree = headed_span.best_tree_by_rows(_Rows(terms, b, n), block=block, gold=chosen)
            heads[b, :n], spans[b, :n], scores[b] = tree.heads, tree.spans, tree.scores
        return Trees(heads, spans, scores, lengths.numpy())


class _Rows:
    """The scores of one sentence, handed out row by row."""

    def __init__(self, terms: SpanTerms, b: int, n: int) -> None:
        self.length = n
        self.posts = terms.posts[b, : n + 1]
        self.bias = terms.bias
        self.words = terms.words[b, : n + 1]
        self.offsets = terms.offsets[b, : n + 1]

    def rows(self, start: int, stop: int) -> Tensor:
        with stage("score"):
            return self._rows(start, stop)

    def _rows(self, start: int, stop: int) -> Tensor:
        n = self.length
        out = self.posts.new_zeros(stop - start, n + 1, n + 1)
        low = start + 1
        spans = activation(self.posts[None, low:] - self.posts[start:stop, None] + self.bias)
        out[:, low:, low:] = spans @ self.words[low:].T + self.offsets[low:]
        return out

    def cells(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> Tensor:
        i, j = torch.from_numpy(left), torch.from_numpy(right)
        return activation(self.posts[j] - self.posts[i] + self.bias) @ self.words.T + self.offsets


def _row(i: int, posts: Tensor, bias: Tensor, words: Tensor, offsets: Tensor) -> Tensor:
    """s[b, i, j, k] for j, k > i: (B, N−i, N−i)."""
    spans = activation(posts[:, i + 1 :] - posts[:, i : i + 1] + bias)
    return torch.baddbmm(offsets[:, None, i + 1 :], spans, words[:, i + 1 :].transpose(1, 2))


def _filled(posts: Tensor, bias: Tensor, words: Tensor, offsets: Tensor) -> Tensor:
    sentences, size, _ = posts.shape
    cube = posts.new_zeros(sentences, size, size, size)
    for i in range(size - 1):
        cube[:, i, i + 1 :, i + 1 :] = _row(i, posts, bias, words, offsets)
    return cube


class _Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *terms: Tensor) -> Tensor:
        ctx.save_for_backward(*terms)
        return _filled(*terms)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        leaves = [term.detach().requires_grad_() for term in ctx.saved_tensors]
        with torch.enable_grad():
            for i in range(gradient.shape[1] - 1):
                row = _row(i, *leaves)
                torch.autograd.backward(row, gradient[:, i, i + 1 :, i + 1 :])
        return tuple(leaf.grad for leaf in leaves)
