"""Enumerated and random trees, and definitions to test against."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product


def all_trees(n: int) -> Iterator[tuple[int, ...]]:
    """All single-root trees over n words, projective or not, by trying all heads."""
    for heads in product(range(n + 1), repeat=n):
        if heads.count(0) == 1 and all(0 in ancestors(heads, k) for k in range(1, n + 1)):
            yield heads


def ancestors(heads: tuple[int, ...] | list[int], word: int) -> list[int]:
    """The word and all words above it; stops if there is a cycle."""
    above = [word]
    while above[-1] and heads[above[-1] - 1] not in above:
        above.append(heads[above[-1] - 1])
    return above


def nonprojective_by_definition(heads: tuple[int, ...] | list[int]) -> list[tuple[int, int]]:
    """Arcs that pass over a word that is not below the head."""
    return [
        (head, k)
        for k, head in enumerate(heads, 1)
        if head
        and any(
            head not in ancestors(heads, between)
            for between in range(min(head, k) + 1, max(head, k))
        )
    ]


def projective_trees(n: int) -> Iterator[tuple[int, ...]]:
    """All single-root projective trees over n words, built from smaller ones."""
    yield from _trees(0, n, 0)


def _trees(left: int, right: int, head: int) -> Iterator[tuple[int, ...]]:
    """Heads of the words left+1 … right as one subtree below `head`."""
    for root in range(left + 1, right + 1):
        for before in _forests(left, root - 1, root):
            for after in _forests(root, right, root):
                yield (*before, head, *after)


def _forests(left: int, right: int, head: int) -> Iterator[tuple[int, ...]]:
    if left == right:
        yield ()
        return
    for middle in range(left + 1, right + 1):
        for first in _trees(left, middle, head):
            for rest in _forests(middle, right, head):
                yield first + rest


def random_tree(n: int, rng: random.Random) -> list[int]:
    """A single-root tree, projective only by chance: words join in random order."""
    order = rng.sample(range(1, n + 1), n)
    heads = [0] * n
    for at, word in enumerate(order[1:], 1):
        heads[word - 1] = order[rng.randrange(at)]
    return heads


def random_projective_tree(n: int, rng: random.Random) -> list[int]:
    """A single-root projective tree: a head somewhere, random cuts on both of its sides."""
    heads = [0] * n
    stack = [(0, n, 0)]
    while stack:
        left, right, head = stack.pop()
        root = rng.randint(left + 1, right)
        heads[root - 1] = head
        for start, end in ((left, root - 1), (root, right)):
            while start < end:
                cut = rng.randint(start + 1, end)
                stack.append((start, cut, root))
                start = cut
    return heads
