"""Best trees over headed spans the way they are usually decoded on tensors.

Width by width with the paper's recurrence, and the backpointers from autograd: the gradient of the
best score is 1 on the headed spans of the best tree. This is the yardstick that the compiled loops
are measured against, not something to use.
"""

import torch
from torch import Tensor


def best_spans(scores: Tensor, lengths: Tensor) -> Tensor:
    """gradient[b, i, j, k] is 1 where (i, j) is the headed span of k in the best tree."""
    with torch.enable_grad():
        leaf = scores.detach().requires_grad_()
        cube = leaf + 0.0
        size, side = cube.shape[:2]
        alpha = cube.new_full((size, side, side), float("-inf"))
        alpha.diagonal(0, 1, 2).fill_(0.0)
        roots = []
        step, row, column = alpha.stride()
        s_step, s_i, s_j, s_k = cube.stride()
        for width in range(1, side):
            spans = side - width
            shape = (size, spans, width)
            left = alpha.as_strided(shape, (step, row + column, column))
            right = alpha.as_strided(shape, (step, row + column, row), row + width * column)
            own = cube.as_strided(shape, (s_step, s_i + s_j + s_k, s_k), width * s_j + s_k)
            beta = (left + right + own).max(-1).values
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
