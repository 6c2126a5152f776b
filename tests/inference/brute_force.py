"""All trees with a single root, by their definition, and what they add up to."""

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np

Tree = tuple[int, ...]


def ancestors(tree: Tree, word: int) -> Iterator[int]:
    """The heads above a word, the root last; endless if there is a cycle."""
    while word:
        word = tree[word - 1]
        yield word


def is_tree(tree: Tree) -> bool:
    """One root, and every word below it."""
    n = len(tree)
    for word in range(1, n + 1):
        for steps, ancestor in enumerate(ancestors(tree, word)):
            if steps > n:
                return False
            if ancestor == 0:
                break
    return tree.count(0) == 1


def is_projective(tree: Tree) -> bool:
    """Every word between a head and its dependent is below the head."""
    for dependent, head in enumerate(tree, 1):
        if head:
            low, high = min(head, dependent), max(head, dependent)
            for word in range(low + 1, high):
                if head not in ancestors(tree, word):
                    return False
    return True


@cache
def all_trees(n: int, *, projective: bool = True) -> list[Tree]:
    """Every (projective) tree over n words, in the order of their heads."""
    choices = [[h for h in range(n + 1) if h != d] for d in range(1, n + 1)]
    trees = [tree for tree in product(*choices) if is_tree(tree)]
    return [tree for tree in trees if is_projective(tree)] if projective else trees


@cache
def spans_of(tree: Tree) -> tuple[tuple[int, int], ...]:
    """The fenceposts around every word and all that is below it."""
    spans = []
    for word in range(1, len(tree) + 1):
        below = [w for w in range(1, len(tree) + 1) if w == word or word in ancestors(tree, w)]
        spans.append((min(below) - 1, max(below)))
    return tuple(spans)


def inner_sibling(tree: Tree, word: int) -> int:
    """The nearest dependent of the word's head that lies between the two, or that head."""
    head = tree[word - 1]
    low, high = min(head, word), max(head, word)
    between = [w for w in range(low + 1, high) if tree[w - 1] == head]
    return min(between, key=lambda w: abs(word - w), default=head)


CELLS = {
    "span": lambda tree: [(i, j, k) for k, (i, j) in enumerate(spans_of(tree), 1)],
    "arc": lambda tree: [(h, d) for d, h in enumerate(tree, 1)],
    "left_end": lambda tree: [(i, k) for k, (i, _) in enumerate(spans_of(tree), 1)],
    "right_end": lambda tree: [(j, k) for k, (_, j) in enumerate(spans_of(tree), 1)],
    "sibling": lambda tree: [(h, inner_sibling(tree, d), d) for d, h in enumerate(tree, 1)],
}
"""The cells of a tree, one per word, by piece."""


LEGAL = {
    "span": lambda n, i, j, k: i < k <= j <= n,
    "arc": lambda n, h, d: h <= n and 1 <= d <= n and h != d,
    "left_end": lambda n, i, k: i < k <= n,
    "right_end": lambda n, j, k: 1 <= k <= j <= n,
    "sibling": lambda n, h, b, d: (
        LEGAL["arc"](n, h, d) and (b == h or (h > 0 and min(h, d) < b < max(h, d)))
    ),
}
"""Whether a cell means something in a sentence of n words, by piece."""


def piece_score(piece: str, scores: np.ndarray, tree: Tree) -> float:
    """The sum over the cells of a tree, in float64."""
    return sum(float(scores[cell]) for cell in CELLS[piece](tree))


def arc_score(scores: np.ndarray, tree: Tree) -> float:
    """The sum over the arcs of a tree, in float64."""
    return piece_score("arc", scores, tree)
