"""The k best trees, exact and in order, and samples, from the kernels for best trees and sums.

Both decide word by word which head it has; scores are those of one sentence, (1, N+1, N+1).
"""

from heapq import heappop, heappush
from itertools import count as counted
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headspan.inference.hypergraph import ScoredTrees
from headspan.inference.structures.spanning_tree.kernel import best
from headspan.inference.structures.spanning_tree.sums import sums

_NO_GOLD = np.zeros((0, 0), np.int64)


class _Part(NamedTuple):
    """Trees with given heads of the first words and without some arcs, and the best of them."""

    loss: float
    """Minus the score of the best."""
    number: int
    """Parts of equal loss are taken in the order in which they were found."""
    tree: list[int]
    fixed: int
    """So many words have the heads that they have in the best tree."""
    forbidden: tuple[tuple[int, int], ...]


def k_best(scores: NDArray[np.float64], n: int, k: int) -> ScoredTrees:
    """The k best trees, best first; fewer if there are fewer.

    After Lawler (1972) and Murty (1968): all trees but the best of a part fall into n parts. In
    part d, words 1 … d−1 have the heads of the best tree, and word d has another one.
    """
    numbers = counted()
    waiting: list[_Part] = []

    def add(
        scores: NDArray[np.float64], fixed: int, forbidden: tuple[tuple[int, int], ...]
    ) -> None:
        found = _best(scores, n)
        if found is not None:
            score, tree = found
            heappush(waiting, _Part(-score, next(numbers), tree, fixed, forbidden))

    add(scores, 0, ())
    trees: ScoredTrees = []
    while waiting:
        part = heappop(waiting)
        trees.append((-part.loss, part.tree))
        if len(trees) == k:
            break
        own = scores.copy()
        for head, word in part.forbidden:
            own[0, head, word] = -np.inf
        for word, head in enumerate(part.tree, 1):
            if word > part.fixed:
                kept = own[0, head, word]
                own[0, head, word] = -np.inf
                add(own, word - 1, (*part.forbidden, (head, word)))
                own[0, head, word] = kept
            _fix(own, head, word)
    return trees


def sample(
    scores: NDArray[np.float64], n: int, count: int, rng: np.random.Generator
) -> ScoredTrees:
    """Trees drawn from p(tree) = exp(score(tree)) / Z; none if there are none.

    The head of every word is drawn from its marginals, given the heads of the words before it. What
    the samples have in common is worked out once.
    """
    cumulated: dict[tuple[int, ...], list[float]] = {}
    if _marginals(scores, n) is None:
        return []
    trees: ScoredTrees = []
    for _ in range(count):
        tree: tuple[int, ...] = ()
        while len(tree) < n:
            if tree not in cumulated:
                cumulated[tree] = _next_head(scores, n, tree)
            steps = cumulated[tree]
            tree = (*tree, int(np.searchsorted(steps, rng.random() * steps[-1], side="right")))
        score = sum(float(scores[0, head, word]) for word, head in enumerate(tree, 1))
        trees.append((score, list(tree)))
    return trees


def _next_head(scores: NDArray[np.float64], n: int, tree: tuple[int, ...]) -> list[float]:
    """Cumulated probabilities of the heads of the next word, given those of the words before it."""
    own = scores.copy()
    for word, head in enumerate(tree, 1):
        _fix(own, head, word)
    marginals = _marginals(own, n)
    if marginals is None:
        raise AssertionError("a sample has no tree left")
    steps: list[float] = marginals[:, len(tree) + 1].cumsum().tolist()
    return steps


def _fix(scores: NDArray[np.float64], head: int, word: int) -> None:
    """Leave one head of a word."""
    kept = scores[0, head, word]
    scores[0, :, word] = -np.inf
    scores[0, head, word] = kept


def _best(scores: NDArray[np.float64], n: int) -> tuple[float, list[int]] | None:
    heads, spans = np.empty((1, n), np.int64), np.empty((1, n, 2), np.int64)
    value, status = np.empty(1), np.zeros(1, np.int64)
    first, lengths = np.zeros(1, np.int64), np.array([n])
    best[np.float64](scores, lengths, first, _NO_GOLD, 0.0, heads, spans, value, status)
    return None if status[0] else (float(value[0]), heads[0].tolist())


def _marginals(scores: NDArray[np.float64], n: int) -> NDArray[np.float64] | None:
    log_partition, status = np.empty(1), np.zeros(1, np.int64)
    marginals = np.zeros(scores.size)
    first, lengths = np.zeros(1, np.int64), np.array([n])
    sums[np.float64](scores, lengths, first, log_partition, marginals, status)
    return None if status[0] else marginals.reshape(scores.shape[1:])
