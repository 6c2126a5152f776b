"""Eisner's algorithm on tensors: kernels/arc.py and kernels/arc_sums.py, width by width."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headspan.inference.batched.common import (
    NEVER,
    add_costs,
    indices,
    legal_arcs,
    note_missing_trees,
    proportions,
    take_cost_off_arcs,
    to_host,
    wide,
)


def _new_charts(scores: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """R, L, r, l and b; the words 1 … N are the places 1 … N."""
    right = torch.full_like(scores, NEVER)
    right.diagonal(dim1=1, dim2=2)[:, 1:] = 0.0
    empty = torch.full_like(scores, NEVER)
    return right, right.clone(), empty, empty.clone(), empty.clone()


def _spans(scores: Tensor, width: int) -> tuple[Tensor, Tensor, Tensor]:
    """(i, j, k): the places of all spans of one width, and i … j-1 for each."""
    i = indices(scores.shape[1] - width, scores, 1)
    return i, i + width, i[:, None] + indices(width, scores)


def _roots(scores: Tensor, right: Tensor, left: Tensor, n: Tensor) -> Tensor:
    """s(0,r) + L(1,r) + R(r,n) for r = 1 … N; -inf behind the sentence."""
    rows = indices(scores.shape[0], scores)
    return (left[:, 1, 1:] + right[rows, :, n][:, 1:]) + scores[:, 0, 1:]


def best(
    matrix: Tensor,
    lengths: NDArray[np.int64],
    gold: Any,
    heads: NDArray[np.int64],
    spans: NDArray[np.int64],
    status: NDArray[np.int64],
) -> Tensor:
    """Fill in the best trees and give their scores."""
    from headspan.inference.kernels.trees import walk_arcs

    scores = legal_arcs(matrix, lengths, status)
    if gold is not None:
        take_cost_off_arcs(scores, gold, lengths, gold.costs[0])
    right, left, right_arc, left_arc, base = _new_charts(scores)
    splits, right_at, left_at = (torch.zeros_like(scores, dtype=torch.long) for _ in range(3))
    for width in range(1, scores.shape[1] - 1):
        i, j, k = _spans(scores, width)
        low, high = i[:, None], j[:, None]
        base[:, i, j], which = (right[:, low, k] + left[:, k + 1, high]).max(-1)
        splits[:, i, j] = which + i
        # E-R-LINK, E-L-LINK
        right_arc[:, i, j] = base[:, i, j] + scores[:, i, j]
        left_arc[:, i, j] = base[:, i, j] + scores[:, j, i]
        # E-R-CONC, E-L-CONC
        right[:, i, j], which = (right_arc[:, low, k + 1] + right[:, k + 1, high]).max(-1)
        right_at[:, i, j] = which + i + 1
        left[:, i, j], which = (left[:, low, k] + left_arc[:, k, high]).max(-1)
        left_at[:, i, j] = which + i
    n = torch.as_tensor(lengths, device=scores.device)
    values, which = _roots(scores, right, left, n).max(-1)
    note_missing_trees(values, status)
    if not status.any():
        decisions = [to_host(x) for x in (splits, right_at, left_at, which + 1)]
        walk_arcs[np.float64](*decisions, lengths, heads, spans)
    return values if gold is None else add_costs(values, lengths, gold.costs[0])


def sums(
    matrix: Tensor,
    lengths: NDArray[np.int64],
    status: NDArray[np.int64],
    marginals: bool,
    arcs: bool,
) -> tuple[Tensor, None, Tensor | None]:
    """Find log Z and arc marginals."""
    scores = wide(legal_arcs(matrix, lengths, status))
    charts = _new_charts(scores)
    right, left, right_arc, left_arc, base = charts
    for width in range(1, scores.shape[1] - 1):
        i, j, k = _spans(scores, width)
        low, high = i[:, None], j[:, None]
        base[:, i, j] = (right[:, low, k] + left[:, k + 1, high]).logsumexp(-1)
        # E-R-LINK, E-L-LINK
        right_arc[:, i, j] = base[:, i, j] + scores[:, i, j]
        left_arc[:, i, j] = base[:, i, j] + scores[:, j, i]
        # E-R-CONC, E-L-CONC
        right[:, i, j] = (right_arc[:, low, k + 1] + right[:, k + 1, high]).logsumexp(-1)
        left[:, i, j] = (left[:, low, k] + left_arc[:, k, high]).logsumexp(-1)
    n = torch.as_tensor(lengths, device=scores.device)
    roots = _roots(scores, right, left, n)
    total = roots.logsumexp(-1)
    note_missing_trees(total, status)
    if not marginals or status.any():
        return total, None, None
    return total, None, _outside(charts, proportions(roots, total), n).to(matrix.dtype)


def _outside(charts: tuple[Tensor, ...], roots: Tensor, n: Tensor) -> Tensor:
    """Arc marginals: every cell hands its probability down, the widest first."""
    right, left, right_arc, left_arc, base = charts
    p_right, p_left, p_right_arc, p_left_arc = (torch.zeros_like(right) for _ in range(4))
    p_right[indices(right.shape[0], right), 1:, n] = roots
    p_left[:, 1, 1:] = roots
    for width in range(right.shape[1] - 2, 0, -1):
        i, j, k = _spans(right, width)
        low, high = i[:, None], j[:, None]
        # E-R-CONC
        share = proportions(right_arc[:, low, k + 1] + right[:, k + 1, high], right[:, i, j])
        share = share * p_right[:, i, j, None]
        p_right_arc[:, low, k + 1] += share
        p_right[:, k + 1, high] += share
        # E-L-CONC
        share = proportions(left[:, low, k] + left_arc[:, k, high], left[:, i, j])
        share = share * p_left[:, i, j, None]
        p_left[:, low, k] += share
        p_left_arc[:, k, high] += share
        # E-R-LINK, E-L-LINK
        share = proportions(right[:, low, k] + left[:, k + 1, high], base[:, i, j])
        share = share * (p_right_arc + p_left_arc)[:, i, j, None]
        p_right[:, low, k] += share
        p_left[:, k + 1, high] += share
    found = p_right_arc + p_left_arc.transpose(1, 2)
    found[:, 0, 1:] = roots
    return found
