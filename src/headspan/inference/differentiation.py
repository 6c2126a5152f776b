"""Everything that follows from a recurrence on tensors, by differentiation; for any device.

The best tree is the gradient of the maximum: 1 for its cells, 0 for all others. Marginals are the
gradient of log Z.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from headspan.inference.algebra import NEVER
from headspan.inference.pieces import Piece
from headspan.inference.scores import BAD_SCORE, NO_TREE, ScoreBatch

if TYPE_CHECKING:
    from headspan.inference.structure import GoldTrees, Structure


class _TensorAlgebra:
    """Charts as tensors on the device and in the type of some scores."""

    def __init__(self, like: Tensor, *, maximum: bool) -> None:
        self.like = like
        self.maximum = maximum

    def chart(self, *shape: int) -> Tensor:
        return self.like.new_full(shape, NEVER)

    def range(self, start: int, stop: int) -> Tensor:
        return torch.arange(start, stop, device=self.like.device)

    def index(self, numbers: NDArray[np.int64]) -> Tensor:
        return torch.as_tensor(numbers, device=self.like.device)

    def sum(self, terms: Tensor) -> Tensor:
        # Among equal terms, max picks the first, as the compiled loops do.
        if self.maximum:
            return terms.max(-1).values
        total: Tensor = _LogSumExp.apply(terms)  # type: ignore[no-untyped-call]
        return total


class _LogSumExp(torch.autograd.Function):
    """torch's, but with the gradient 0 and not NaN where all terms are −inf."""

    @staticmethod
    def forward(ctx: Any, terms: Tensor) -> Tensor:
        total = terms.logsumexp(-1)
        ctx.save_for_backward(terms, total)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        terms, total = ctx.saved_tensors
        shares = torch.exp(terms - total[..., None])
        return torch.where(total > NEVER, gradient, 0)[..., None] * shares.nan_to_num_(0)


def best(
    structure: "Structure", batch: ScoreBatch, gold: "GoldTrees | None", status: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Tensor]:
    """The heads of the best trees, (B, N), and their scores, (B,)."""
    with torch.inference_mode(False), torch.enable_grad():
        scores = [
            _legal(piece, part, batch.lengths, status)
            for piece, part in zip(structure.pieces, batch.parts, strict=True)
        ]
        if gold is not None:
            for piece, part, cost in zip(structure.pieces, scores, gold.costs, strict=True):
                part[_gold_cells(piece, gold, batch.lengths, part)] -= cost
        total, gradients = _differentiated(structure, batch.lengths, scores, maximum=True)
    _note_missing_trees(total, status)
    piece = structure.deciding_piece
    heads = piece.heads(gradients[structure.pieces.index(piece)].cpu().numpy())
    if gold is not None:
        n = torch.as_tensor(batch.lengths, device=total.device).to(total.dtype)
        total = total + sum(n * cost for cost in gold.costs)
    return heads, total


def sums(
    structure: "Structure", batch: ScoreBatch, status: NDArray[np.int64]
) -> tuple[Tensor, list[Tensor]]:
    """Find log Z, (B,), in float64 where the device has it, and the marginals of every piece."""
    with torch.inference_mode(False), torch.enable_grad():
        scores = [
            _wide(_legal(piece, part, batch.lengths, status))
            for piece, part in zip(structure.pieces, batch.parts, strict=True)
        ]
        total, gradients = _differentiated(structure, batch.lengths, scores, maximum=False)
    _note_missing_trees(total, status)
    return total, [part.to(batch.parts[0].dtype) for part in gradients]


def log_partition(structure: "Structure", batch: ScoreBatch, status: NDArray[np.int64]) -> Tensor:
    """Find log Z, (B,), without marginals."""
    with torch.inference_mode(False), torch.no_grad():
        scores = [
            _wide(_legal(piece, part, batch.lengths, status))
            for piece, part in zip(structure.pieces, batch.parts, strict=True)
        ]
        algebra = _TensorAlgebra(scores[0], maximum=False)
        total: Tensor = structure.inside(algebra, batch.lengths, *scores).total
    _note_missing_trees(total, status)
    return total


def _differentiated(
    structure: "Structure", lengths: NDArray[np.int64], scores: list[Tensor], *, maximum: bool
) -> tuple[Tensor, tuple[Tensor, ...]]:
    leaves = [part.requires_grad_() for part in scores]
    algebra = _TensorAlgebra(leaves[0], maximum=maximum)
    total = structure.inside(algebra, lengths, *leaves).total
    gradients = torch.autograd.grad(total.sum(), leaves, allow_unused=True)
    filled = (
        torch.zeros_like(leaf) if gradient is None else gradient
        for leaf, gradient in zip(leaves, gradients, strict=True)
    )
    return total.detach(), tuple(filled)


def _legal(
    piece: Piece, scores: Tensor, lengths: NDArray[np.int64], status: NDArray[np.int64]
) -> Tensor:
    """A copy with −inf in every illegal cell; notes sentences with NaN or +inf in a legal one."""
    side = torch.arange(scores.shape[1], device=scores.device)
    cell = torch.meshgrid(*[side] * piece.axes, indexing="ij")
    n = torch.as_tensor(lengths, device=scores.device).reshape(-1, *[1] * piece.axes)
    legal = piece.legal(n, *cell)
    bad = (legal & ~(scores < float("inf"))).flatten(1).any(1)
    status[bad.cpu().numpy()] = BAD_SCORE
    return scores.masked_fill(~legal, NEVER)


def _gold_cells(
    piece: Piece, gold: "GoldTrees", lengths: NDArray[np.int64], scores: Tensor
) -> tuple[Tensor, ...]:
    rows, words = np.nonzero(np.arange(gold.heads.shape[1]) < lengths[:, None])
    cells = (axis[rows, words] for axis in piece.cells(gold.heads, gold.spans))
    return tuple(torch.as_tensor(index, device=scores.device) for index in (rows, *cells))


def _note_missing_trees(total: Tensor, status: NDArray[np.int64]) -> None:
    missing = (total == NEVER).cpu().numpy() & (status == 0)
    status[missing] = NO_TREE


def _wide(scores: Tensor) -> Tensor:
    return scores if scores.device.type == "mps" else scores.double()


class LogPartition(torch.autograd.Function):
    """log Z as a torch function: its gradient is the marginals, from whichever backend."""

    @staticmethod
    def forward(
        ctx: Any, structure: Any, lengths: Any, backend: Any, threads: Any, *scores: Tensor
    ) -> Tensor:
        """Inside and outside in one go; the marginals wait for the backward pass."""
        batch = structure.read(scores, lengths, backend)
        sums = structure.sums(batch, threads, marginals=True)
        pieces = (sums.by_piece[piece.name] for piece in structure.pieces)
        ctx.save_for_backward(*map(batch.as_result, pieces))
        result: Tensor = batch.as_result(torch.as_tensor(sums.log_partition).to(scores[0].dtype))
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        """The incoming gradient of a sentence, times its marginals."""
        scaled = []
        for marginals in ctx.saved_tensors:
            extra = marginals.ndim - gradient.ndim
            scaled.append(marginals * gradient.reshape(gradient.shape + (1,) * extra))
        return (None, None, None, None, *scaled)
