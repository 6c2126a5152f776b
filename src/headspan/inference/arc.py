"""Trees as arcs: score(tree) = sum of s(h, d) over the arcs from heads h to dependents d.

The first-order structure of the biaffine parser. Everywhere below, words are 1 … n, 0 is the root,
and

    scores[b, h, d] is the score of the arc from h to d, 0 <= h <= n, 1 <= d <= n, h != d;
    shape (B, N+1, N+1), or (N+1, N+1) for a single sentence without a batch axis.
    NumPy array or tensor, float32 or float64. Other cells are never read. -inf forbids an arc.
    lengths[b] is n for sentence b; shape (B,), or a number without the batch axis. Default: N.

`backend` is chosen from where the scores live: compiled loops ("kernels") on the CPU, tensor
operations ("batched") elsewhere. `threads` is how many sentences are worked on at a time by the
kernels; None means as many as there are processors.

Ties: the walk back takes the smallest among the best root, then in R(i,j) and L(i,j) the smallest
k, and in b(i,j) the smallest k (see kernels/arc.py for the letters).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headspan.inference import constrained, lists
from headspan.inference.constraints import Constraints
from headspan.inference.inputs import Backend
from headspan.inference.joint import JOINT
from headspan.inference.recurrences import ArcRecurrence
from headspan.inference.results import Marginals, TreeLists, Trees
from headspan.inference.structure import Gold, Structure


class _Arcs(Structure):
    kinds = ("arc",)
    kernels = "arc"
    batched = "arc"
    recurrence = ArcRecurrence

    def gold_arguments(self, gold: Gold | None, dtype: Any) -> tuple[Any, ...]:
        if gold is None:
            return np.zeros((0, 0), np.int64), dtype(0)
        return gold.heads, dtype(gold.costs[0])


ARCS = _Arcs()


def best_tree(
    scores: Any,
    *,
    constraints: Constraints | Sequence[Constraints | None] | None = None,
    lengths: Any = None,
    backend: Backend | None = None,
    threads: int | None = None,
) -> Trees:
    """The tree with the highest score, single root. Eisner, O(n³) time, O(n²) memory.

    `constraints` hold for every sentence, or are a sequence with one set (or None) a sentence.
    O(n³) still; spans or brackets among them make it O(n⁴).

    Raises ScoresError for NaN or +inf, NoTreeError if -inf scores or constraints leave no tree.
    """
    if constraints is not None:
        return constrained.best_tree(ARCS, JOINT, (scores,), constraints, lengths, backend, threads)
    return ARCS.best_tree((scores,), lengths, backend, threads)


def cost_augmented_tree(
    scores: Any,
    gold: Any,
    *,
    cost: float = 1.0,
    lengths: Any = None,
    backend: Backend | None = None,
    threads: int | None = None,
) -> Trees:
    """The tree with the highest score + cost: `cost` for every arc that is not in the gold tree.

    gold[b, k-1] is the head of word k in the gold tree; (B, N), or (N,) without a batch axis.
    Costs as much as best_tree; the scores are neither copied nor changed. `scores` of the result
    include the cost.
    """
    return ARCS.best_tree((scores,), lengths, backend, threads, gold=gold, costs=(cost,))


def tree_score(scores: Any, heads: Any, *, lengths: Any = None) -> Any:
    """The score of a given tree a sentence, (B,); heads are (B, N). Differentiable for tensors."""
    return ARCS.tree_scores((scores,), heads, lengths)


def log_partition(
    scores: Any,
    *,
    lengths: Any = None,
    backend: Backend | None = None,
    threads: int | None = None,
) -> Any:
    """The log of the sum of exp(score) over all trees; (B,). O(n³) time, O(n²) memory.

    Differentiable (once) if the scores are tensors that require a gradient.
    """
    return ARCS.log_partition((scores,), lengths, backend, threads)


def marginals(
    scores: Any,
    *,
    lengths: Any = None,
    backend: Backend | None = None,
    threads: int | None = None,
) -> Marginals:
    """Probabilities of arcs and roots under p(tree) = exp(score(tree)) / Z; spans are None.

    O(n³) time, O(n²) memory.
    """
    return ARCS.marginals((scores,), lengths, backend, threads, arcs=True)


def entropy(
    scores: Any,
    *,
    lengths: Any = None,
    backend: Backend | None = None,
    threads: int | None = None,
) -> Any:
    """The entropy of p(tree) in nats; (B,). Costs as much as marginals."""
    return ARCS.entropy((scores,), lengths, backend, threads)


def log_probability(
    scores: Any,
    heads: Any,
    *,
    lengths: Any = None,
    backend: Backend | None = None,
    threads: int | None = None,
) -> Any:
    """The log of p(tree) of a given tree a sentence, (B,); heads are (B, N).

    Differentiable for tensors.
    """
    return ARCS.log_probability((scores,), heads, lengths, backend, threads)


def expected_score(
    scores: Any,
    *,
    values: Any = None,
    lengths: Any = None,
    backend: Backend | None = None,
    threads: int | None = None,
) -> Any:
    """The expectation of score(tree) under p(tree); (B,). Costs as much as marginals.

    With `values`, in the shape of the scores, that of their sum over the tree's pieces instead.
    """
    return ARCS.expected_score(
        (scores,), lengths, backend, threads, (values,) if values is not None else None
    )


def sample(
    scores: Any,
    count: int,
    *,
    seed: int,
    lengths: Any = None,
    threads: int | None = None,
) -> TreeLists:
    """`count` independent trees a sentence from p(tree). O(n³), then O(n²) a sample.

    The same seed gives the same samples. Runs on the CPU wherever the scores are.
    """
    return lists.sample(ARCS, (scores,), count, seed, lengths, threads, "arc_samples")


def k_best(
    scores: Any,
    k: int,
    *,
    constraints: Constraints | Sequence[Constraints | None] | None = None,
    lengths: Any = None,
    threads: int | None = None,
) -> TreeLists:
    """The k best trees a sentence: exact, distinct, best first. Trees that score -inf do not count.

    `constraints` are those of best_tree: only trees that satisfy them count.

    Lazy: O(n³) for the best, then about O(n) a tree and item that has to be looked at again. Runs
    on the CPU wherever the scores are.
    """
    if constraints is not None:
        return constrained.k_best(ARCS, JOINT, (scores,), k, constraints, lengths, threads)
    return lists.k_best(ARCS, (scores,), k, lengths, threads)


def minimum_risk_tree(
    scores: Any,
    *,
    lengths: Any = None,
    backend: Backend | None = None,
    threads: int | None = None,
) -> Trees:
    """The tree with the highest expected number of right heads; `scores` say how many.

    That is Eisner's best tree on the arc marginals.
    """
    found = marginals(scores, lengths=lengths, backend=backend, threads=threads)
    return best_tree(found.arcs, lengths=lengths, backend=backend, threads=threads)
