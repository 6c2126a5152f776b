"""Losses on trees: max-margin, local and CRF, each for every structure.

A loss takes the scores of a batch and its gold trees, heads (B, N) and spans (B, N, 2) with −1
beyond the ends, and gives a sum over sentences; the caller divides by the number of words.
Gradients flow through the scores, `tree_score`, `log_probability` and `log_partition`, but not
through marginals, entropy and expected scores.
"""

from __future__ import annotations

import torch
from torch import Tensor

from headspan.inference.pieces import Piece
from headspan.runtime.tree_scores import TreeScores


def max_margin(scores: TreeScores, heads: Tensor, spans: Tensor) -> Tensor:
    """The margin that is missing: max over y' of s(y') + Δ(y', y) − s(y), which is 0 for y' = y.

    Δ is the number of wrong pieces.

    The cost-augmented tree is found without gradient. The scores of the pieces in which the two
    trees differ are then made again with gradient, under the same dropout: memory with
    gradient is O(n).
    """
    with torch.no_grad():
        trees = scores.best(gold=heads)
    best_heads, best_spans = torch.from_numpy(trees.heads), torch.from_numpy(trees.spans)
    total = torch.zeros(())
    for piece, part in zip(scores.structure.pieces, scores.parts, strict=True):
        wrong, right = piece.cells(best_heads, best_spans), piece.cells(heads, spans)
        differs = torch.stack([a != b for a, b in zip(wrong, right, strict=True)]).any(0)
        b, k = differs.nonzero(as_tuple=True)
        at, device = b.to(part.device), part.device
        higher = part.cells(at, *(axis[b, k].to(device) for axis in wrong))
        lower = part.cells(at, *(axis[b, k].to(device) for axis in right))
        total = total.to(device) + (higher - lower).sum() + len(b)
    return total


def local(scores: TreeScores, heads: Tensor, spans: Tensor) -> Tensor:
    """Cross-entropy, for every word and piece, over all cells that the word could have.

    For headed spans this is span selection, for arcs head selection. Where trees are built word by
    word, it is the negative log-probability of the gold trees.
    """
    total = torch.zeros(())
    for piece, part in zip(scores.structure.pieces, scores.along(heads), strict=True):
        side = torch.arange(part.shape[1], device=part.device)
        cell = torch.meshgrid(*[side] * piece.axes, indexing="ij")
        n = torch.as_tensor(scores.lengths, device=part.device).reshape(-1, *[1] * piece.axes)
        legal = part.masked_fill(~piece.legal(n, *cell), -torch.inf)
        by_word = legal.flatten(1, piece.axes - 1).logsumexp(1)
        b, *gold = _gold_cells(piece, heads, spans, part.device)
        total = total.to(part.device) + by_word[b, gold[-1]].sum() - part[(b, *gold)].sum()
    return total


def crf(scores: TreeScores, heads: Tensor, spans: Tensor) -> Tensor:
    """The negative log-probability of the gold trees."""
    parts = scores.dense()
    total: Tensor = scores.structure.log_partition(*parts, lengths=scores.lengths).sum()
    for piece, part in zip(scores.structure.pieces, parts, strict=True):
        total = total - part[_gold_cells(piece, heads, spans, part.device)].sum()
    return total


def _gold_cells(
    piece: Piece, heads: Tensor, spans: Tensor, device: torch.device
) -> tuple[Tensor, ...]:
    """(b, …): the sentence and the cell of every word of the gold trees."""
    b, k = heads.ge(0).nonzero(as_tuple=True)
    cells = (axis[b, k] for axis in piece.cells(heads, spans))
    return tuple(index.to(device) for index in (b, *cells))
