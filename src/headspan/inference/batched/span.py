"""Headed spans on tensors: kernels/span.py and kernels/span_sums.py, width by width."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headspan.inference.batched.common import (
    NEVER,
    add_costs,
    indices,
    legal_spans,
    note_missing_trees,
    proportions,
    to_host,
    wide,
)
from headspan.inference.structure import BAD_SCORE


def best(
    cube: Tensor,
    lengths: NDArray[np.int64],
    gold: Any,
    heads: NDArray[np.int64],
    spans: NDArray[np.int64],
    status: NDArray[np.int64],
) -> Tensor:
    """Fill in the best trees and give their scores; the cube is read in place, width by width."""
    from headspan.inference.kernels.trees import walk_spans

    size, side = cube.shape[:2]
    n = torch.as_tensor(lengths, device=cube.device)
    bad = torch.zeros(size, dtype=torch.bool, device=cube.device)
    alpha = cube.new_full((size, side, side), NEVER)
    alpha.diagonal(dim1=1, dim2=2).zero_()
    gamma = torch.full_like(alpha, NEVER)
    words = torch.zeros_like(alpha, dtype=torch.long)
    starts = torch.zeros_like(words)
    for width in range(1, side):
        i = indices(side - width, cube)
        j = i + width
        k = i[:, None] + indices(width, cube)
        left, right = i[:, None], j[:, None]
        scores = cube[:, left, right, k + 1]
        bad |= (~(scores < float("inf")) & (right <= n[:, None, None])).flatten(1).any(1)
        if gold is not None:
            _take_cost_off(scores, gold, width)
        # C-CONC and HEADLESS
        terms = (alpha[:, left, k] + alpha[:, k + 1, right]) + scores
        gamma[:, i, j], which = terms.max(-1)
        words[:, i, j] = which + i + 1
        # S-CONC; k = i is γ(i,j) alone
        terms = alpha[:, left, k] + gamma[:, k, right]
        alpha[:, i, j], which = terms.max(-1)
        starts[:, i, j] = which + i
    values = gamma[indices(size, cube), 0, n]
    status[bad.cpu().numpy()] = BAD_SCORE
    note_missing_trees(values, status)
    if not status.any():
        walk_spans[np.float64](to_host(words), to_host(starts), lengths, heads, spans)
    return values if gold is None else add_costs(values, lengths, gold.costs[0])


def _take_cost_off(scores: Tensor, gold: Any, width: int) -> None:
    """Lower the scores (b, i, k-i-1) of the gold spans of one width in place."""
    left, right = gold.spans[..., 0], gold.spans[..., 1]
    rows, words = np.nonzero(right - left == width)
    starts = left[rows, words]
    cells = [torch.as_tensor(x, device=scores.device) for x in (rows, starts, words - starts)]
    scores[tuple(cells)] -= gold.costs[0]


def sums(
    cube: Tensor,
    lengths: NDArray[np.int64],
    status: NDArray[np.int64],
    marginals: bool,
    arcs: bool,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Find log Z, span marginals and arc marginals."""
    scores = wide(legal_spans(cube, lengths, status))
    size = scores.shape[0]
    alpha, gamma = _inside(scores)
    rows = indices(size, scores)
    n = torch.as_tensor(lengths, device=scores.device)
    total = gamma[rows, 0, n]
    note_missing_trees(total, status)
    if not marginals or status.any():
        return total, None, None
    found = _outside(scores, alpha, gamma, n)
    matrix = _arcs(scores, alpha, gamma, found, n) if arcs else None
    return (
        total,
        found.to(cube.dtype),
        None if matrix is None else matrix.to(cube.dtype),
    )


def _inside(scores: Tensor) -> tuple[Tensor, Tensor]:
    size, side = scores.shape[:2]
    alpha = scores.new_full((size, side, side), NEVER)
    alpha.diagonal(dim1=1, dim2=2).zero_()
    gamma = torch.full_like(alpha, NEVER)
    for width in range(1, side):
        i = indices(side - width, scores)
        j = i + width
        k = i[:, None] + indices(width, scores)
        left, right = i[:, None], j[:, None]
        # C-CONC and HEADLESS
        terms = (alpha[:, left, k] + alpha[:, k + 1, right]) + scores[:, left, right, k + 1]
        gamma[:, i, j] = terms.logsumexp(-1)
        # S-CONC
        alpha[:, i, j] = (alpha[:, left, k] + gamma[:, k, right]).logsumexp(-1)
    return alpha, gamma


def _outside(scores: Tensor, alpha: Tensor, gamma: Tensor, n: Tensor) -> Tensor:
    """Span marginals: every cell hands its probability down, the widest first."""
    size, side = scores.shape[:2]
    p_alpha, p_gamma = torch.zeros_like(alpha), torch.zeros_like(gamma)
    p_gamma[indices(size, scores), 0, n] = 1.0
    found = torch.zeros_like(scores)
    for width in range(side - 1, 0, -1):
        i = indices(side - width, scores)
        j = i + width
        k = i[:, None] + indices(width, scores)
        left, right = i[:, None], j[:, None]
        # S-CONC
        share = proportions(alpha[:, left, k] + gamma[:, k, right], alpha[:, i, j])
        share = share * p_alpha[:, i, j, None]
        p_alpha[:, left, k] += share
        p_gamma[:, k, right] += share
        # C-CONC
        terms = (alpha[:, left, k] + alpha[:, k + 1, right]) + scores[:, left, right, k + 1]
        share = proportions(terms, gamma[:, i, j]) * p_gamma[:, i, j, None]
        p_alpha[:, left, k] += share
        p_alpha[:, k + 1, right] += share
        found[:, left, right, k + 1] = share
    return found


def _arcs(scores: Tensor, alpha: Tensor, gamma: Tensor, found: Tensor, n: Tensor) -> Tensor:
    """Arc marginals: child[b,h,p,q] is the probability that (p,q) is a child of h.

    ends[b,h,q] and starts[b,h,p] as in kernels/span_sums.py.
    """
    size, side = scores.shape[:2]
    child = scores.new_zeros(size, side, side, side)
    ends = found.sum(1).transpose(1, 2).clone()
    starts = found.sum(2).transpose(1, 2).clone()
    for j in range(side - 1, 1, -1):
        h, k = indices(j, scores, 1)[:, None], indices(j, scores)[None, :]
        terms = alpha[:, h, k] + gamma[:, k, j]
        share = proportions(terms, alpha[:, 1:j, j]) * ends[:, 1:j, j, None]
        child[:, 1:j, :j, j] += share
        ends[:, 1:j, :j] += share
    for i in range(side - 2):
        h, k = indices(side, scores, i + 2)[:, None], indices(side, scores, i + 1)[None, :]
        terms = gamma[:, i, k] + alpha[:, k, h - 1]
        share = proportions(terms, alpha[:, i, i + 1 : side - 1]) * starts[:, i + 2 :, i, None]
        child[:, i + 2 :, i, i + 1 :] += share
        starts[:, i + 2 :, i + 1 :] += share
    c = indices(side, scores, 1)
    inner = alpha[:, :, None, :-1] + alpha[:, c].transpose(1, 2)[:, None]
    words = proportions(inner + scores[..., 1:], gamma)
    matrix = scores.new_zeros(size, side, side)
    matrix[:, :, 1:] = torch.einsum("bhpq,bpqc->bhc", child, words)
    matrix[:, 0] = found[indices(size, scores), 0, n]
    return matrix
