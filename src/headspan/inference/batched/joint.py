"""Headed spans and arcs together on tensors: kernels/joint.py and joint_sums.py, width by width.

left[b,h,i] = L_h(i), right[b,h,j] = R_h(j), hooks[b,p,q,h] = γ_h(p,q).
"""

from collections.abc import Callable
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
    legal_spans,
    note_missing_trees,
    proportions,
    take_cost_off_arcs,
    take_cost_off_spans,
    to_host,
    wide,
)

Reduce = Callable[[Tensor], tuple[Tensor, Tensor | None]]


class _Charts:
    """The recurrence, for whatever stands for the sum: a maximum or log-sum-exp."""

    def __init__(self, cube: Tensor, matrix: Tensor) -> None:
        self.cube, self.matrix = cube, matrix
        size, self.side = cube.shape[:2]
        self.left = cube.new_full((size, self.side, self.side), NEVER)
        self.left.diagonal(offset=-1, dim1=1, dim2=2).zero_()
        self.right = torch.full_like(self.left, NEVER)
        self.right.diagonal(dim1=1, dim2=2)[:, 1:] = 0.0
        self.hooks = torch.full_like(cube, NEVER)

    def places(self, width: int) -> tuple[Tensor, Tensor, Tensor]:
        """(p, q, c) for all spans of one width: the words c = p+1 … q of each."""
        p = indices(self.side - width, self.cube)
        return p, p + width, p[:, None] + 1 + indices(width, self.cube)

    def hook_terms(self, width: int) -> Tensor:
        """β(p,q,c) + s(h,c), with axes (b, span, h, c)."""
        p, q, c = self.places(width)
        low, high = p[:, None], q[:, None]
        # C-CONC
        beta = (self.left[:, c, low] + self.right[:, c, high]) + self.cube[:, low, high, c]
        arcs = self.matrix[:, :, c].transpose(1, 2)
        return beta[:, :, None, :] + arcs

    def left_terms(self, width: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """(h, i, q, γ_h(i,q) + L_h(q)) for the heads h = i + width + 1."""
        i = indices(self.side - width - 1, self.cube)
        h = i + width + 1
        q = i[:, None] + 1 + indices(width, self.cube)
        terms = self.hooks[:, i[:, None], q, h[:, None]] + self.left[:, h[:, None], q]
        return h, i, q, terms

    def right_terms(self, width: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """(h, j, p, R_h(p) + γ_h(p,j)) for the ends j = h + width."""
        h = indices(self.side - width, self.cube, 1)
        j = h + width
        p = h[:, None] + indices(width, self.cube)
        terms = self.right[:, h[:, None], p] + self.hooks[:, p, j[:, None], h[:, None]]
        return h, j, p, terms

    def fill(self, reduce: Reduce) -> None:
        """All charts, the narrowest spans first; and where the best alternatives are."""
        self.words = torch.zeros_like(self.cube, dtype=torch.long)
        self.first_ends = torch.zeros_like(self.left, dtype=torch.long)
        self.last_starts = torch.zeros_like(self.first_ends)
        for width in range(1, self.side):
            p, q, _ = self.places(width)
            self.hooks[:, p, q], which = reduce(self.hook_terms(width))
            if which is not None:
                self.words[:, p, q] = which + p[:, None] + 1
            if width == self.side - 1:
                break
            # S-CONC on the left and on the right
            h, i, _, terms = self.left_terms(width)
            self.left[:, h, i], which = reduce(terms)
            if which is not None:
                self.first_ends[:, h, i] = which + i + 1
            h, j, _, terms = self.right_terms(width)
            self.right[:, h, j], which = reduce(terms)
            if which is not None:
                self.last_starts[:, h, j] = which + h


def _maximum(terms: Tensor) -> tuple[Tensor, Tensor | None]:
    values, which = terms.max(-1)
    return values, which


def best(
    cube: Tensor,
    matrix: Tensor,
    lengths: NDArray[np.int64],
    gold: Any,
    heads: NDArray[np.int64],
    spans: NDArray[np.int64],
    status: NDArray[np.int64],
) -> Tensor:
    """Fill in the best trees and give their scores."""
    from headspan.inference.kernels.trees import walk_joint

    span_scores = legal_spans(cube, lengths, status)
    arc_scores = legal_arcs(matrix, lengths, status)
    if gold is not None:
        take_cost_off_spans(span_scores, gold, lengths)
        take_cost_off_arcs(arc_scores, gold, lengths, gold.costs[1])
    charts = _Charts(span_scores, arc_scores)
    charts.fill(_maximum)
    n = torch.as_tensor(lengths, device=cube.device)
    values = charts.hooks[indices(len(lengths), cube), 0, n, 0]
    note_missing_trees(values, status)
    if not status.any():
        decisions = [to_host(x) for x in (charts.words, charts.first_ends, charts.last_starts)]
        walk_joint[np.float64](*decisions, lengths, heads, spans)
    return values if gold is None else add_costs(values, lengths, *gold.costs)


def sums(
    cube: Tensor,
    matrix: Tensor,
    lengths: NDArray[np.int64],
    status: NDArray[np.int64],
    marginals: bool,
    arcs: bool,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Find log Z, span marginals and arc marginals."""
    span_scores = wide(legal_spans(cube, lengths, status))
    arc_scores = wide(legal_arcs(matrix, lengths, status))
    charts = _Charts(span_scores, arc_scores)
    charts.fill(lambda terms: (terms.logsumexp(-1), None))
    n = torch.as_tensor(lengths, device=cube.device)
    total = charts.hooks[indices(len(lengths), cube), 0, n, 0]
    note_missing_trees(total, status)
    if not marginals or status.any():
        return total, None, None
    p_spans, p_arcs = _outside(charts, n)
    return total, p_spans.to(cube.dtype), p_arcs.to(cube.dtype)


def _outside(charts: _Charts, n: Tensor) -> tuple[Tensor, Tensor]:
    """Span and arc marginals: every cell hands its probability down, the widest first."""
    p_left, p_right = torch.zeros_like(charts.left), torch.zeros_like(charts.right)
    p_hooks = torch.zeros_like(charts.hooks)
    p_spans, p_arcs = torch.zeros_like(charts.cube), torch.zeros_like(charts.matrix)
    p_hooks[indices(len(n), n), 0, n, 0] = 1.0
    for width in range(charts.side - 1, 0, -1):
        if width < charts.side - 1:
            h, j, p, terms = charts.right_terms(width)
            share = proportions(terms, charts.right[:, h, j]) * p_right[:, h, j, None]
            p_right[:, h[:, None], p] += share
            p_hooks[:, p, j[:, None], h[:, None]] += share
            h, i, q, terms = charts.left_terms(width)
            share = proportions(terms, charts.left[:, h, i]) * p_left[:, h, i, None]
            p_left[:, h[:, None], q] += share
            p_hooks[:, i[:, None], q, h[:, None]] += share
        p, q, c = charts.places(width)
        # the hook
        share = proportions(charts.hook_terms(width), charts.hooks[:, p, q])
        share = share * p_hooks[:, p, q, :, None]
        flat = c.reshape(-1)
        p_arcs.index_add_(2, flat, share.permute(0, 2, 1, 3).flatten(2))
        share = share.sum(2)
        # C-CONC
        p_left[:, c, p[:, None]] += share
        p_right[:, c, q[:, None]] += share
        p_spans[:, p[:, None], q[:, None], c] = share
    return p_spans, p_arcs
