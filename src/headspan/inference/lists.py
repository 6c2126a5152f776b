"""Several trees a sentence: the k best, and samples. On the CPU, wherever the scores are."""

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from headspan.inference.errors import ScoresError
from headspan.inference.inputs import Batch, read_scores
from headspan.inference.kbest import k_best as find_k_best
from headspan.inference.results import TreeLists
from headspan.inference.structure import Structure
from headspan.inference.threads import over_sentences


def k_best(
    structure: Structure,
    scores: Sequence[Any],
    k: int,
    lengths: Any,
    threads: int | None,
) -> TreeLists:
    """The k best trees of every sentence, worked out on the CPU wherever the scores are."""
    if k < 1:
        raise ScoresError(f"cannot find {k} best trees")
    # The best tree first: it checks the scores.
    structure.best_tree(scores, lengths, "kernels", threads)
    batch = read_scores(structure.kinds, scores, lengths, "kernels")
    found = []
    for b, n in enumerate(batch.lengths.tolist()):
        sentence = structure.recurrence(*(part[b] for part in batch.parts), n)
        found.append(find_k_best(sentence, n, k))
    heads = np.full((batch.size, k, batch.longest), -1, np.int64)
    values = np.full((batch.size, k), -np.inf, batch.dtype)
    for b, trees in enumerate(found):
        for rank, (score, tree) in enumerate(trees):
            heads[b, rank, : len(tree)] = tree
            values[b, rank] = score
    counts = np.array([len(trees) for trees in found], np.int64)
    return _tree_lists(batch, heads, values, counts)


def sample(
    structure: Structure,
    scores: Sequence[Any],
    count: int,
    seed: int,
    lengths: Any,
    threads: int | None,
    kernel: str,
) -> TreeLists:
    """Trees drawn from the distribution, worked out on the CPU wherever the scores are.

    The samples of a sentence depend on the seed, its scores and its place in the batch, not on
    padding or threads.
    """
    if count < 1:
        raise ScoresError(f"cannot draw {count} samples")
    batch = read_scores(structure.kinds, scores, lengths, "kernels")
    uniforms = np.zeros((batch.size, count, 2 * batch.longest))
    for b, n in enumerate(batch.lengths):
        draws = np.random.default_rng([seed, b]).random((count, 2 * n))
        uniforms[b, :, : 2 * n] = draws
    heads = np.full((batch.size, count, batch.longest), -1, np.int64)
    status = np.zeros(batch.size, np.int64)
    module = import_module("headspan.inference.kernels.sampling")
    run = getattr(module, kernel)[batch.dtype]
    over_sentences(
        lambda order: run(*batch.parts, batch.lengths, order, uniforms, heads, status),
        batch.lengths,
        threads,
    )
    structure.raise_for(batch, status)
    counts = np.full(batch.size, count, np.int64)
    lists = _tree_lists(batch, heads, np.zeros((batch.size, count), batch.dtype), counts)
    spans = np.asarray(lists.spans).reshape(batch.size, count, batch.longest, 2)
    return replace(lists, scores=batch.give(_scores(structure, batch, heads, spans)))


def _scores(structure: Structure, batch: Batch, heads: Any, spans: Any) -> Any:
    """The scores of lists of trees: heads (B, K, N), spans (B, K, N, 2); result (B, K)."""
    inside = (np.arange(batch.longest) < batch.lengths[:, None])[:, None, :]
    b = np.arange(batch.size)[:, None, None]
    words = np.arange(1, batch.longest + 1)
    cells = {"span": (b, spans[..., 0], spans[..., 1], words), "arc": (b, heads, words)}
    total = np.zeros(heads.shape[:2], batch.dtype)
    for kind, part in zip(structure.kinds, batch.parts, strict=True):
        total += np.where(inside, part[cells[kind]], 0).sum(-1, dtype=batch.dtype)
    return total


def _tree_lists(batch: Batch, heads: Any, values: Any, counts: Any) -> TreeLists:
    """Lists of trees with their headed spans."""
    from headspan.inference.kernels.trees import spans_of_heads

    spans = np.full((*heads.shape, 2), -1, np.int64)
    for b, (n, count) in enumerate(zip(batch.lengths, counts, strict=True)):
        spans_of_heads[np.float64](heads[b, :count], np.full(count, n, np.int64), spans[b, :count])
    return TreeLists(
        batch.give(heads),
        batch.give(spans),
        batch.give(values),
        counts if batch.has_batch_axis else counts[0],
        batch.give_lengths(),
    )
