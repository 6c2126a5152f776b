"""log Z as a torch function: its gradient is the marginals."""

from typing import Any

import torch
from torch.autograd.function import once_differentiable

from headspan.inference.inputs import read_scores


class LogPartition(torch.autograd.Function):
    """d log Z / d s(piece) = p(piece is in the tree)."""

    @staticmethod
    def forward(
        ctx: Any, structure: Any, lengths: Any, backend: Any, threads: Any, *scores: torch.Tensor
    ) -> torch.Tensor:
        """Inside and outside in one go; the marginals wait for the backward pass."""
        batch = read_scores(structure.kinds, scores, lengths, backend)
        found = structure.sums(batch, threads, marginals=True, arcs=False)
        pieces = {"span": found.spans, "arc": found.arcs}
        ctx.save_for_backward(*(batch.give(pieces[kind]) for kind in structure.kinds))
        log_partition = torch.as_tensor(found.log_partition).to(scores[0].dtype)
        result: torch.Tensor = batch.give(log_partition)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        """The incoming gradient of a sentence, times its marginals."""
        scaled = []
        for marginals in ctx.saved_tensors:
            extra = marginals.ndim - gradient.ndim
            scaled.append(marginals * gradient.reshape(gradient.shape + (1,) * extra))
        return (None, None, None, None, *scaled)
