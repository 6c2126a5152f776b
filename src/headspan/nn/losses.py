"""How wrong the scores are: max-margin, local and CRF losses, for each structure.

Every loss is a sum over the sentences of a batch; whoever calls divides by the number of words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from headspan.inference import arc, headed_span, joint
from headspan.nn.cube import best_trees, score_cube
from headspan.nn.scorers import SpanTerms


def span_max_margin(terms: SpanTerms, lengths: Tensor, heads: Tensor, spans: Tensor) -> Tensor:
    """max(0, max over y' of s(y') + Δ(y', y) − s(y)), Δ being the number of wrong headed spans.

    heads: (B, N), spans: (B, N, 2), of the gold trees. The scores of the spans on which the two
    trees differ are made once more with gradient, under the same dropout; memory is O(n).
    """
    found = best_trees(terms, lengths, heads)
    return _span_difference(terms, torch.from_numpy(found.spans), spans)


def _span_difference(terms: SpanTerms, found: Tensor, gold: Tensor) -> Tensor:
    """Σ s(found) − s(gold) + 1 over the words whose spans differ. found, gold: (B, N, 2)."""
    b, k = (found != gold).any(-1).nonzero(as_tuple=True)
    if not len(b):
        return terms.posts.sum() * 0
    device = terms.posts.device
    wrong, right = found[b, k].to(device), gold[b, k].to(device)
    b, k = b.to(device), k.to(device) + 1
    higher = terms.cells(b, wrong[:, 0], wrong[:, 1], k)
    lower = terms.cells(b, right[:, 0], right[:, 1], k)
    return (higher - lower).sum() + len(b)


def span_local(terms: SpanTerms, lengths: Tensor, spans: Tensor) -> Tensor:
    """Span selection: for every word, cross-entropy over all (p, q) with p < k <= q."""
    cube = score_cube(terms)
    size = cube.shape[1]
    post = torch.arange(size, device=cube.device)
    inside = (post[:, None, None] < post) & (post <= post[None, :, None])
    legal = inside & (post[None, :, None] <= lengths.to(cube.device)[:, None, None, None])
    total = cube.masked_fill(~legal, -torch.inf).flatten(1, 2).logsumexp(1)
    b, k, i, j = _gold_cells(spans, lengths, cube.device)
    return total[b, k].sum() - cube[b, i, j, k].sum()


def span_crf(terms: SpanTerms, lengths: Tensor, spans: Tensor) -> Tensor:
    """The negative log-probability of the gold trees."""
    cube = score_cube(terms)
    b, k, i, j = _gold_cells(spans, lengths, cube.device)
    total: Tensor = headed_span.log_partition(cube, lengths=lengths).sum()
    return total - cube[b, i, j, k].sum()


def arc_max_margin(scores: Tensor, lengths: Tensor, heads: Tensor) -> Tensor:
    """As for spans, with Δ the number of wrong heads. scores: (B, N+1, N+1)."""
    trees = arc.cost_augmented_tree(scores.detach(), heads, lengths=lengths)
    return _arc_difference(scores, trees.heads.cpu(), heads)


def _arc_difference(scores: Tensor, found: Tensor, gold: Tensor) -> Tensor:
    b, k = (found != gold).nonzero(as_tuple=True)
    device = scores.device
    wrong, right = found[b, k].to(device), gold[b, k].to(device)
    b, k = b.to(device), k.to(device) + 1
    return (scores[b, wrong, k] - scores[b, right, k]).sum() + len(b)


def arc_local(scores: Tensor, lengths: Tensor, heads: Tensor) -> Tensor:
    """Head selection: for every word, cross-entropy over all heads."""
    place = torch.arange(scores.shape[1], device=scores.device)
    legal = (place[:, None] != place) & (place[:, None] <= lengths.to(scores.device)[:, None, None])
    masked = scores.masked_fill(~legal, -torch.inf).transpose(1, 2)[:, 1:]
    b, k = heads.ge(0).nonzero(as_tuple=True)
    device = scores.device
    return functional.cross_entropy(
        masked[b.to(device), k.to(device)], heads[b, k].to(device), reduction="sum"
    )


def arc_crf(scores: Tensor, lengths: Tensor, heads: Tensor) -> Tensor:
    """The negative log-probability of the gold trees."""
    b, k = heads.ge(0).nonzero(as_tuple=True)
    device = scores.device
    gold = scores[b.to(device), heads[b, k].to(device), k.to(device) + 1].sum()
    total: Tensor = arc.log_partition(scores, lengths=lengths).sum()
    return total - gold


def joint_max_margin(
    terms: SpanTerms, scores: Tensor, lengths: Tensor, heads: Tensor, spans: Tensor
) -> Tensor:
    """Spans and arcs in one tree; Δ counts wrong spans and wrong heads."""
    with torch.no_grad():
        trees = joint.cost_augmented_tree(score_cube(terms), scores, heads, lengths=lengths)
    return _span_difference(terms, trees.spans.cpu(), spans) + _arc_difference(
        scores, trees.heads.cpu(), heads
    )


def joint_crf(
    terms: SpanTerms, scores: Tensor, lengths: Tensor, heads: Tensor, spans: Tensor
) -> Tensor:
    """The negative log-probability of the gold trees under both scores."""
    cube = score_cube(terms)
    total: Tensor = joint.log_partition(cube, scores, lengths=lengths).sum()
    gold: Tensor = joint.tree_score(cube, scores, heads, lengths=lengths).sum()
    return total - gold


def _gold_cells(spans: Tensor, lengths: Tensor, device: Any) -> tuple[Tensor, ...]:
    """(b, k, i, j) of every gold headed span."""
    inside = torch.arange(spans.shape[1])[None] < lengths[:, None]
    b, k = inside.nonzero(as_tuple=True)
    i, j = spans[b, k].unbind(-1)
    return b.to(device), (k + 1).to(device), i.to(device), j.to(device)


def padded(rows: list[Any], width: int, shape: tuple[int, ...] = ()) -> Tensor:
    """Rows of numbers as one tensor, −1 behind their ends."""
    out = np.full((len(rows), width, *shape), -1, np.int64)
    for b, row in enumerate(rows):
        out[b, : len(row)] = row
    return torch.from_numpy(out)
