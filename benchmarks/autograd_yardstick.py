"""Best trees over headed spans, decoded on tensors in the usual way.

The chart is filled width by width with the paper's recurrence, and autograd gives the backpointers:
the gradient of the best score is 1 on the headed spans of the best tree. The kernels are measured
against this; it is not meant for use.
"""

import torch
from torch import Tensor


def best_spans(scores: Tensor, lengths: Tensor) -> Tensor:
    """Return an array that is 1 at [b, i, j, k] if the best tree has the headed span (i, j, k)."""
    with torch.enable_grad():
        leaf = scores.detach().requires_grad_()
        span_scores = leaf + 0.0
        size, side = span_scores.shape[:2]
        alpha = span_scores.new_full((size, side, side), float("-inf"))
        alpha.diagonal(0, 1, 2).fill_(0.0)
        roots = []
        step, row, column = alpha.stride()
        s_step, s_i, s_j, s_k = span_scores.stride()
        for width in range(1, side):
            spans = side - width
            shape = (size, spans, width)
            left = alpha.as_strided(shape, (step, row + column, column))
            right = alpha.as_strided(shape, (step, row + column, row), row + width * column)
            heads = span_scores.as_strided(shape, (s_step, s_i + s_j + s_k, s_k), width * s_j + s_k)
            beta = (left + right + heads).max(-1).values
            roots.append(beta[:, 0])
            best = beta
            if width > 1:
                shape = (size, spans, width - 1)
                left = alpha.as_strided(shape, (step, row + column, column), column)
                right = alpha.as_strided(shape, (step, row + column, row), row + width * column)
                best = torch.maximum(beta, (left + right).max(-1).values)
            alpha = alpha.clone()
            alpha.diagonal(width, 1, 2).copy_(best)
        total = torch.stack(roots, 1).gather(1, lengths[:, None] - 1).sum()
        return torch.autograd.grad(total, leaf)[0]
