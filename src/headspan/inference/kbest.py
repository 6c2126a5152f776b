"""The k best trees, exact and in order, after Huang and Chiang (2005), algorithm 3.

A structure's recurrence is a hypergraph: items, and for every item its alternatives, each made of
at most two smaller items and a score. With the best value of every item known, the second best
derivation of the whole differs from the best in one alternative or in one rank of one child, and
so on: only what is asked for is ever looked at. The recurrences give every tree exactly one
derivation, so derivations are trees. All values are float64.
"""

from collections.abc import Generator, Hashable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Item = Hashable
Candidate = tuple[float, int, tuple[int, ...]]  # minus the value, the alternative, child ranks


class Recurrence(Protocol):
    """The items of one sentence."""

    goal: Item

    def values(self, item: Item) -> NDArray[np.float64]:
        """The best value of every alternative of an item, -inf for impossible ones."""
        ...

    def children(self, item: Item, alternative: int) -> Sequence[Item]:
        """The items that an alternative is made of; items without children stand for 0."""
        ...

    def combine(self, item: Item, alternative: int, values: Sequence[float]) -> float:
        """The value of an alternative for given values of its children."""
        ...

    def arc(self, item: Item, alternative: int, head: int) -> tuple[int, int, int]:
        """(head, dependent or 0 for none, head for the children) of an item below `head`."""
        ...


@dataclass
class _Ranking:
    """What is known about the derivations of one item: the best so far and who may be next."""

    waiting: list[Candidate]
    ranked: list[Candidate] = field(default_factory=list)
    seen: set[tuple[int, tuple[int, ...]]] = field(default_factory=set)


class _Search:
    def __init__(self, recurrence: Recurrence, k: int) -> None:
        self.recurrence = recurrence
        self.k = k
        self.rankings: dict[Item, _Ranking] = {}

    def ranking(self, item: Item) -> _Ranking:
        if item not in self.rankings:
            values = self.recurrence.values(item)
            # No more than k alternatives can be among the k best; sorted, they are a heap.
            order = np.argsort(-values, kind="stable")[: self.k]
            waiting: list[Candidate] = []
            for alternative in order.tolist():
                if values[alternative] == -np.inf:
                    break
                ranks = (0,) * len(self.recurrence.children(item, alternative))
                waiting.append((-float(values[alternative]), alternative, ranks))
            self.rankings[item] = _Ranking(waiting)
        return self.rankings[item]

    def require(self, item: Item, rank: int) -> Generator[tuple[Item, int], None, None]:
        """Rank the derivations of an item down to `rank`, asking for children's by yielding."""
        ranking = self.ranking(item)
        while len(ranking.ranked) <= rank:
            if ranking.ranked:
                _, alternative, ranks = ranking.ranked[-1]
                children = self.recurrence.children(item, alternative)
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
                        known = [value for value in values if value is not None]
                        total = self.recurrence.combine(item, alternative, known)
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
            wanted = next(stack[-1], None)
            if wanted is None:
                stack.pop()
            else:
                stack.append(self.require(*wanted))

    def heads(self, rank: int, n: int) -> list[int]:
        """The tree of a ranked derivation of the goal."""
        heads = [0] * n
        stack: list[tuple[Item, int, int]] = [(self.recurrence.goal, rank, 0)]
        while stack:
            item, place, head = stack.pop()
            self.run(item, place)
            _, alternative, ranks = self.ranking(item).ranked[place]
            governor, dependent, below = self.recurrence.arc(item, alternative, head)
            if dependent:
                heads[dependent - 1] = governor
            children = self.recurrence.children(item, alternative)
            stack.extend((c, r, below) for c, r in zip(children, ranks, strict=True))
        return heads


def k_best(recurrence: Recurrence, n: int, k: int) -> list[tuple[float, list[int]]]:
    """(score, heads) of the k best trees, best first; fewer if there are fewer."""
    search = _Search(recurrence, k)
    found = []
    for rank in range(k):
        search.run(recurrence.goal, rank)
        value = search.value(recurrence.goal, rank)
        if value is None:
            break
        found.append((value, search.heads(rank, n)))
    return found
