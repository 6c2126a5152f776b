"""The best tree over headed spans from scores that arrive row by row. O(n²) memory in all.

Filling the chart with i descending needs only the scores of one left boundary at a time, and the
walk back needs only the cells it visits. So dense scores never have to exist: a sentence of
2,000 words takes some dozens of megabytes instead of 32 gigabytes.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from headspan.inference.failures import NoTreeError, ScoresError, TreeError
from headspan.inference.results import Trees
from headspan.inference.scores import is_tensor


class RowProvider(Protocol):
    """Scores of one sentence of `length` words, handed out on demand."""

    length: int

    def rows(self, start: int, stop: int) -> Any:
        """scores[i - start, j, k] of (i, j) as the headed span of k, for start <= i < stop.

        Shape (stop - start, n+1, n+1), an array or a CPU tensor, float32 or float64, j or k
        contiguous. Only i < k <= j is read. Asked for once each, from the last rows to the first.
        """
        ...

    def cells(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> Any:
        """scores[t, k] of (left[t], right[t]) as the headed span of k; shape (m, n+1).

        Asked for on the way back, for n spans in all, as many at a time as the tree is wide. They
        may differ from what rows() gave by rounding.
        """
        ...


def best_tree_by_rows(
    provider: RowProvider, *, block: int = 16, gold: Any = None, cost: float = 1.0
) -> Trees:
    """The same tree as best_tree, or as cost_augmented_tree if gold heads (n,) are given.

    `block` is how many rows are asked for at a time.
    """
    from headspan.inference.simd.charts import chart_width
    from headspan.inference.structures.headed_span.kernel import fill_rows, new_charts

    n = provider.length
    if n < 1 or block < 1:
        raise ScoresError(f"cannot parse {n} words in blocks of {block} rows")
    gold_spans = _gold_spans(gold, n)
    alpha: Any = None
    gamma: Any = None
    buffer: Any = None
    dtype: Any = None
    for start in range((n - 1) // block * block, -1, -block):
        stop = min(start + block, n)
        rows = _read(provider.rows(start, stop), (stop - start, n + 1, n + 1))
        if alpha is None:
            dtype = rows.dtype
            alpha, gamma, buffer = new_charts(n, dtype)
        elif rows.dtype != dtype:
            raise ScoresError(f"rows {start} to {stop} are {rows.dtype}, earlier ones {dtype}")
        off = dtype.type(cost)
        if fill_rows[dtype](rows[None], start, n, gold_spans, off, alpha, gamma, buffer):
            raise ScoresError(f"a score in rows {start} to {stop} is NaN or +inf")
    width = chart_width(n)
    alpha, gamma = alpha.reshape(-1, width), gamma.reshape(-1, width)
    score = gamma[0, n]
    if score == -np.inf:
        raise NoTreeError("the scores forbid every tree: all are -inf")
    if gold is not None:
        score += off * dtype.type(n)
    heads, spans = _walk(provider, n, alpha, gamma, gold_spans, off)
    return Trees(heads, spans, score, np.int64(n))


def _walk(
    provider: RowProvider, n: int, alpha: Any, gamma: Any, gold: Any, cost: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """From the whole sentence down, a generation at a time; ties as in kernel.py."""
    heads = np.full(n, -1, np.int64)
    spans = np.full((n, 2), -1, np.int64)
    generation = [(0, n, 0)]
    while generation:
        left = np.array([i for i, _, _ in generation])
        right = np.array([j for _, j, _ in generation])
        cells = _read(provider.cells(left, right), (len(generation), n + 1)).astype(alpha.dtype)
        children = []
        for (i, j, head), scores in zip(generation, cells, strict=True):
            own = scores[i + 1 : j + 1].copy()
            if gold.shape[0]:
                is_gold = (gold[0, i:j, 0] == i) & (gold[0, i:j, 1] == j)
                own[is_gold] -= cost
            word = i + 1 + int(np.argmax((alpha[i, i:j] + alpha[i + 1 : j + 1, j]) + own))
            heads[word - 1] = head
            spans[word - 1] = i, j
            for low, high in ((i, word - 1), (word, j)):
                end = high
                while end > low:
                    k = low + int(np.argmax(alpha[low, low:end] + gamma[low:end, end]))
                    children.append((k, end, word))
                    end = k
        generation = children
    return heads, spans


def _read(scores: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    array = scores.detach().cpu().numpy() if is_tensor(scores) else np.asarray(scores)
    if array.shape != shape:
        raise ScoresError(f"the provider gave scores of shape {array.shape}, expected {shape}")
    if array.dtype not in (np.float32, np.float64):
        raise ScoresError(f"scores must be float32 or float64, found {array.dtype}")
    if array.ndim == 3 and array.itemsize not in array.strides[1:]:
        return np.ascontiguousarray(array)
    return array


def _gold_spans(gold: Any, n: int) -> NDArray[np.int64]:
    from headspan.inference.headed_spans import spans_of_trees

    if gold is None:
        return np.zeros((0, 0, 0), np.int64)
    heads = np.asarray(gold.cpu() if is_tensor(gold) else gold).astype(np.int64).reshape(1, -1)
    if heads.shape[1] == n:
        spans, wrong = spans_of_trees(heads, np.array([n]))
        if wrong < 0:
            return spans
    raise TreeError(f"gold heads are not a projective tree over {n} words with a single root")
