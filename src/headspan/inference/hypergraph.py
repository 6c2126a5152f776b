"""The best tree, the k best trees in order, and samples: three walks over one hypergraph.

A recurrence is a hypergraph: items, and for every item its alternatives, each made of at most two
smaller items and a score. Charts hold the value of every item, its best one or the log of the sum
over its derivations. The recurrences give every tree exactly one derivation, so that derivations
are trees. All values are float64, but for those of the best tree, which has the type of the scores.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Generator, Hashable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

Item = Hashable
ScoredTrees = list[tuple[float, list[int]]]
"""(score, heads) of several trees of a sentence."""
Candidate = tuple[float, int, tuple[int, ...]]  # minus the value, the alternative, child ranks


class Hypergraph(ABC):
    """The items of one sentence of n words, over filled charts."""

    goal: Item
    """The item of which every whole tree is a derivation."""

    @abstractmethod
    def values(self, item: Item) -> NDArray[np.float64]:
        """The value of every alternative of an item by the charts, −inf for impossible ones."""

    @abstractmethod
    def children(self, item: Item, alternative: int) -> Sequence[Item]:
        """The items that an alternative is made of; an item without children is worth its score."""

    @abstractmethod
    def score(self, item: Item, alternative: int) -> float:
        """The score that an alternative adds to the values of its children."""

    @abstractmethod
    def arc(self, item: Item, alternative: int, head: int) -> tuple[int, int, int]:
        """The arc that an alternative of an item below `head` adds, and the head for its children.

        (head of the arc, its dependent or 0 if there is no arc, head for the children).
        """


def best(graph: Hypergraph, n: int) -> list[int]:
    """The heads of the best tree, over charts of maxima; of equal alternatives, the first."""
    heads = [0] * n
    stack: list[tuple[Item, int]] = [(graph.goal, 0)]
    while stack:
        item, head = stack.pop()
        alternative = int(graph.values(item).argmax())
        governor, dependent, below = graph.arc(item, alternative, head)
        if dependent:
            heads[dependent - 1] = governor
        stack.extend((child, below) for child in graph.children(item, alternative))
    return heads


def k_best(graph: Hypergraph, n: int, k: int) -> ScoredTrees:
    """The k best trees, best first; fewer if there are fewer.

    After Huang and Chiang (2005), algorithm 3: with the best value of every item known, the second
    best derivation of the whole differs from the best in one alternative or in one rank of one
    child, and so on. Only the items that can matter are ever looked at.
    """
    search = _Search(graph, k)
    trees: ScoredTrees = []
    for rank in range(k):
        search.run(graph.goal, rank)
        value = search.value(graph.goal, rank)
        if value is None:
            break
        trees.append((value, search.heads(rank, n)))
    return trees


def sample(graph: Hypergraph, n: int, count: int, rng: np.random.Generator) -> ScoredTrees:
    """Trees drawn from p(tree) = exp(score(tree)) / Z, over charts of log-sums.

    From the goal down, every item is replaced by one of its alternatives, drawn in proportion. The
    proportions of an item are worked out once, however many trees contain it.
    """
    cumulated: dict[Item, list[float]] = {}
    trees: ScoredTrees = []
    for _ in range(count):
        heads = [0] * n
        score = 0.0
        stack: list[tuple[Item, int]] = [(graph.goal, 0)]
        while stack:
            item, head = stack.pop()
            if item not in cumulated:
                values = graph.values(item)
                cumulated[item] = np.exp(values - values.max()).cumsum().tolist()
            steps = cumulated[item]
            alternative = 0
            if len(steps) > 1:
                alternative = bisect_right(steps, rng.random() * steps[-1])
            score += graph.score(item, alternative)
            governor, dependent, below = graph.arc(item, alternative, head)
            if dependent:
                heads[dependent - 1] = governor
            stack.extend((child, below) for child in graph.children(item, alternative))
        trees.append((score, heads))
    return trees


@dataclass
class _Ranking:
    """The derivations of one item: the best so far, and the candidates for the next."""

    waiting: list[Candidate]
    ranked: list[Candidate] = field(default_factory=list)
    seen: set[tuple[int, tuple[int, ...]]] = field(default_factory=set)


class _Search:
    def __init__(self, graph: Hypergraph, k: int) -> None:
        self.graph = graph
        self.k = k
        self.rankings: dict[Item, _Ranking] = {}

    def ranking(self, item: Item) -> _Ranking:
        if item not in self.rankings:
            values = self.graph.values(item)
            # No more than k alternatives can be among the k best; sorted, they are a heap.
            order = np.argsort(-values, kind="stable")[: self.k]
            waiting: list[Candidate] = []
            for alternative in order.tolist():
                if values[alternative] == -np.inf:
                    break
                ranks = (0,) * len(self.graph.children(item, alternative))
                waiting.append((-float(values[alternative]), alternative, ranks))
            self.rankings[item] = _Ranking(waiting)
        return self.rankings[item]

    def require(self, item: Item, rank: int) -> Generator[tuple[Item, int], None, None]:
        """Rank the derivations of an item down to `rank`, asking for its children's by yielding."""
        ranking = self.ranking(item)
        while len(ranking.ranked) <= rank:
            if ranking.ranked:
                _, alternative, ranks = ranking.ranked[-1]
                children = self.graph.children(item, alternative)
                for position in range(len(children)):
                    following = list(ranks)
                    following[position] += 1
                    key = (alternative, tuple(following))
                    if key in ranking.seen:
                        continue
                    ranking.seen.add(key)
                    yield from zip(children, following, strict=True)
                    values = [self.value(c, r) for c, r in zip(children, following, strict=True)]
                    if None not in values:
                        known = sum(value for value in values if value is not None)
                        total = known + self.graph.score(item, alternative)
                        heappush(ranking.waiting, (-total, *key))
            if not ranking.waiting:
                return
            ranking.ranked.append(heappop(ranking.waiting))

    def value(self, item: Item, rank: int) -> float | None:
        """The value of a derivation that has been required before; None if there is none."""
        ranked = self.ranking(item).ranked
        return -ranked[rank][0] if rank < len(ranked) else None

    def run(self, item: Item, rank: int) -> None:
        """Require a derivation, with a stack of our own: items nest as deep as a tree."""
        stack = [self.require(item, rank)]
        while stack:
            request = next(stack[-1], None)
            if request is None:
                stack.pop()
            else:
                stack.append(self.require(*request))

    def heads(self, rank: int, n: int) -> list[int]:
        """The tree of a ranked derivation of the goal."""
        heads = [0] * n
        stack: list[tuple[Item, int, int]] = [(self.graph.goal, rank, 0)]
        while stack:
            item, place, head = stack.pop()
            self.run(item, place)
            _, alternative, ranks = self.ranking(item).ranked[place]
            governor, dependent, below = self.graph.arc(item, alternative, head)
            if dependent:
                heads[dependent - 1] = governor
            children = self.graph.children(item, alternative)
            stack.extend((c, r, below) for c, r in zip(children, ranks, strict=True))
        return heads
