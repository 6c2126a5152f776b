"""What the three batched recurrences share."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headspan.inference.structure import BAD_SCORE, NO_TREE

NEVER = float("-inf")


def wide(tensor: Tensor) -> Tensor:
    """Sums are made in float64 where the device has it."""
    return tensor if tensor.device.type == "mps" else tensor.double()


def indices(stop: int, like: Tensor, start: int = 0) -> Tensor:
    """The numbers start … stop-1 on the device of the scores."""
    return torch.arange(start, stop, device=like.device)


def legal_spans(cube: Tensor, lengths: NDArray[np.int64], status: NDArray[np.int64]) -> Tensor:
    """A copy of span scores with -inf wherever i < k <= j <= n does not hold."""
    side = indices(cube.shape[1], cube)
    i, j, k = side[:, None, None], side[None, :, None], side[None, None, :]
    n = torch.as_tensor(lengths, device=cube.device)[:, None, None, None]
    return _checked(cube, (i < k) & (k <= j) & (j <= n), status)


def legal_arcs(matrix: Tensor, lengths: NDArray[np.int64], status: NDArray[np.int64]) -> Tensor:
    """A copy of arc scores with -inf wherever there is no such arc."""
    side = indices(matrix.shape[1], matrix)
    h, d = side[:, None], side[None, :]
    n = torch.as_tensor(lengths, device=matrix.device)[:, None, None]
    return _checked(matrix, (h <= n) & (d >= 1) & (d <= n) & (h != d), status)


def _checked(scores: Tensor, legal: Tensor, status: NDArray[np.int64]) -> Tensor:
    bad = (legal & ~(scores < float("inf"))).flatten(1).any(1)
    status[bad.cpu().numpy()] = BAD_SCORE
    return scores.masked_fill(~legal, NEVER)


def note_missing_trees(values: Tensor, status: NDArray[np.int64]) -> None:
    """Sentences whose best score or log Z is -inf have no tree."""
    missing = (values == NEVER).cpu().numpy() & (status == 0)
    status[missing] = NO_TREE


def proportions(terms: Tensor, total: Tensor) -> Tensor:
    """exp(terms - total): what the terms of a sum, along the last axis, contributed to it."""
    total = total[..., None]
    return torch.where(total > NEVER, torch.exp(terms - total), torch.zeros_like(terms))


def take_cost_off_spans(cube: Tensor, gold: Any, lengths: NDArray[np.int64]) -> None:
    """Lower the scores of the gold spans in place."""
    rows, words = np.nonzero(np.arange(gold.heads.shape[1]) < lengths[:, None])
    left, right = gold.spans[rows, words, 0], gold.spans[rows, words, 1]
    cells = [torch.as_tensor(x, device=cube.device) for x in (rows, left, right, words + 1)]
    cube[tuple(cells)] -= gold.costs[0]


def take_cost_off_arcs(matrix: Tensor, gold: Any, lengths: NDArray[np.int64], cost: float) -> None:
    """Lower the scores of the gold arcs in place."""
    rows, words = np.nonzero(np.arange(gold.heads.shape[1]) < lengths[:, None])
    cells = [
        torch.as_tensor(x, device=matrix.device) for x in (rows, gold.heads[rows, words], words + 1)
    ]
    matrix[tuple(cells)] -= cost


def add_costs(values: Tensor, lengths: NDArray[np.int64], *costs: float) -> Tensor:
    """Add n times each cost: see kernels/span.py."""
    n = torch.as_tensor(lengths, device=values.device).to(values.dtype)
    total = sum((n * cost for cost in costs[1:]), n * costs[0])
    return values + total


def to_host(tensor: Tensor) -> NDArray[np.int64]:
    """Stored decisions, for the walk."""
    return np.ascontiguousarray(tensor.cpu().numpy().astype(np.int64))
