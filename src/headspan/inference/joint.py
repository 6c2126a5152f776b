"""Headed spans and arcs together: score(tree) = sum of s(l, r, k) + sum of s(h, d).

What neither says alone: a span score that knows the head above it. Everywhere below, words are
1 … n, fenceposts 0 … n, and

    span_scores[b, i, j, k] is as in headed_span.py, (B, N+1, N+1, N+1), or without the batch axis;
    arc_scores[b, h, d] is as in arc.py, (B, N+1, N+1), or without the batch axis;
    both arrays or both tensors of one type, float32 or float64.
    lengths[b] is n for sentence b; shape (B,), or a number without the batch axis. Default: N.

`backend` is chosen from where the scores live: compiled loops ("kernels") on the CPU, tensor
operations ("batched") elsewhere. `threads` is how many sentences are worked on at a time by the
kernels; None means as many as there are processors.

Ties: the walk back takes, among the best, the smallest head of a span, on the left of a head the
shortest first child, and on its right the longest last child.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headspan.inference import constrained, lists
from headspan.inference.constraints import Constraints
from headspan.inference.inputs import Backend
from headspan.inference.recurrences import JointRecurrence
from headspan.inference.results import Marginals, TreeLists, Trees
from headspan.inference.structure import Gold, Structure


class _Joint(Structure):
    kinds = ("span", "arc")
    kernels = "joint"
    batched = "joint"
    recurrence = JointRecurrence
    power = 4

    def gold_arguments(self, gold: Gold | None, dtype: Any) -> tuple[Any, ...]:
        if gold is None:
            none = np.zeros((0, 0, 0), np.int64), np.zeros((0, 0), np.int64)
            return (*none, dtype(0), dtype(0))
        return gold.spans, gold.heads, dtype(gold.costs[0]), dtype(gold.costs[1])


JOINT = _Joint()


def best_tree(
    span_scores: Any,
    arc_scores: Any,
    *,
    constraints: Constraints | Sequence[Constraints | None] | None = None,
    lengths: Any = None,
    backend: Backend | None = None,
    threads: int | None = None,
) -> Trees:
    """The tree with the highest score, single root. O(n⁴) time, O(n³) memory.

    `constraints` hold for every sentence, or are a sequence with one set (or None) a sentence.
    All of them can be honoured here, on masked copies of the scores.

    Raises ScoresError for NaN or +inf, NoTreeError if -inf scores or constraints leave no tree.
    """
    if constraints is not None:
        return constrained.best_tree(
            JOINT, JOINT, (span_scores, arc_scores), constraints, lengths, backend, threads
        )
    return JOINT.best_tree((span_scores, arc_scores), lengths, backend, threads)


def cost_augmented_tree(
    span_scores: Any,
    arc_scores: Any,
    gold: Any,
    *,
    span_cost: float = 1.0,
    arc_cost: float = 1.0,
    lengths: Any = None,
    backend: Backend | None = None,
    threads: int | None = None,
) -> Trees:
    """The tree with the highest score + cost of what is not in the gold tree.

    `span_cost` is for every headed span, `arc_cost` for every arc that the gold tree lacks.

    gold[b, k-1] is the head of word k in the gold tree; (B, N), or (N,) without a batch axis.
    Costs as much as best_tree; the scores are neither copied nor changed. `scores` of the result
    include the cost.
    """
    return JOINT.best_tree(
        (span_scores, arc_scores), lengths, backend, threads, gold=gold, costs=(span_cost, arc_cost)
    )


def tree_score(span_scores: Any, arc_scores: Any, heads: Any, *, lengths: Any = None) -> Any:
    """The score of a given tree a sentence, (B,); heads are (B, N). Differentiable for tensors."""
    return JOINT.tree_scores((span_scores, arc_scores), heads, lengths)


def log_partition(
    span_scores: Any,
    arc_scores: Any,
    *,
    lengths: Any = None,
    backend: Backend | None = None,
    threads: int | None = None,
) -> Any:
    """The log of the sum of exp(score) over all trees; (B,). O(n⁴) time, O(n³) memory.

    Differentiable (once) if the scores are tensors that require a gradient.
    """
    return JOINT.log_partition((span_scores, arc_scores), lengths, backend, threads)


def marginals(
    span_scores: Any,
    arc_scores: Any,
    *,
    lengths: Any = None,
    backend: Backend | None = None,
    threads: int | None = None,
) -> Marginals:
    """Probabilities of headed spans, arcs and roots under p(tree) = exp(score(tree)) / Z.

    O(n⁴) time, O(n³) memory.
    """
    return JOINT.marginals((span_scores, arc_scores), lengths, backend, threads, arcs=True)


def entropy(
    span_scores: Any,
    arc_scores: Any,
    *,
    lengths: Any = None,
    backend: Backend | None = None,
    threads: int | None = None,
) -> Any:
    """The entropy of p(tree) in nats; (B,). Costs as much as marginals."""
    return JOINT.entropy((span_scores, arc_scores), lengths, backend, threads)


def log_probability(
    span_scores: Any,
    arc_scores: Any,
    heads: Any,
    *,
    lengths: Any = None,
    backend: Backend | None = None,
    threads: int | None = None,
) -> Any:
    """The log of p(tree) of a given tree a sentence, (B,); heads are (B, N).

    Differentiable for tensors.
    """
    return JOINT.log_probability((span_scores, arc_scores), heads, lengths, backend, threads)


def expected_score(
    span_scores: Any,
    arc_scores: Any,
    *,
    values: Any = None,
    lengths: Any = None,
    backend: Backend | None = None,
    threads: int | None = None,
) -> Any:
    """The expectation of score(tree) under p(tree); (B,). Costs as much as marginals.

    With `values`, a pair (span values, arc values), that of their sum over the tree instead.
    """
    return JOINT.expected_score((span_scores, arc_scores), lengths, backend, threads, values)


def k_best(
    span_scores: Any,
    arc_scores: Any,
    k: int,
    *,
    constraints: Constraints | Sequence[Constraints | None] | None = None,
    lengths: Any = None,
    threads: int | None = None,
) -> TreeLists:
    """The k best trees a sentence: exact, distinct, best first. Trees that score -inf do not count.

    `constraints` are those of best_tree: only trees that satisfy them count.

    Lazy: O(n⁴) for the best, then about O(n) a tree and item that has to be looked at again. Runs
    on the CPU wherever the scores are.
    """
    scores = (span_scores, arc_scores)
    if constraints is not None:
        return constrained.k_best(JOINT, JOINT, scores, k, constraints, lengths, threads)
    return lists.k_best(JOINT, scores, k, lengths, threads)


def minimum_risk_tree(
    span_scores: Any,
    arc_scores: Any,
    *,
    lengths: Any = None,
    backend: Backend | None = None,
    threads: int | None = None,
) -> Trees:
    """The tree with the highest expected number of right heads; `scores` say how many.

    That is Eisner's best tree on the arc marginals.
    """
    from headspan.inference import arc

    found = marginals(span_scores, arc_scores, lengths=lengths, backend=backend, threads=threads)
    return arc.best_tree(found.arcs, lengths=lengths, backend=backend, threads=threads)
