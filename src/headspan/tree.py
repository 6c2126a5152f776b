"""Trees over words: heads and headed spans, well-formedness, projectivity.

A tree over words 1…n is a list of n heads: heads[k−1] is the head of word k, 0 for the root. In a
projective tree, each word k and all words below it are contiguous: they form the headed span
(l, r, k) from fencepost l to fencepost r (0…n). Everything here takes O(n) and uses no recursion.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from headspan.plumbing.errors import HeadspanError


class Span(NamedTuple):
    """A headed span: the words left+1 … right, where `head` is above all others."""

    left: int
    right: int
    head: int


class TreeError(HeadspanError):
    """Heads or spans that do not form a tree; the message names the word."""


class NotProjective(TreeError):  # noqa: N818 (it says what the tree is)
    """A tree that is not projective; `arc` is the first offending arc, as (head, dependent)."""

    def __init__(self, arc: tuple[int, int]) -> None:
        head, dependent = arc
        super().__init__(
            f"the tree is not projective: the arc from word {head} to word {dependent} "
            f"passes over words that are not below word {head}"
        )
        self.arc = arc

    def __reduce__(self) -> tuple[type[NotProjective], tuple[tuple[int, int]]]:
        return type(self), (self.arc,)


def check_tree(heads: Sequence[int], *, single_root: bool = True) -> None:
    """Raise TreeError unless the heads form a tree: one root, no cycle, all heads in the sentence.

    single_root: False allows several words with head 0.
    """
    bottom_up(heads)
    roots = [k for k, head in enumerate(heads, 1) if head == 0]
    if single_root and len(roots) > 1:
        raise TreeError(f"there is more than one root: words {roots[0]} and {roots[1]}")


def headed_spans(heads: Sequence[int]) -> list[Span]:
    """Return the headed span of every word of a projective tree, in word order.

    Raises NotProjective, which names the first non-projective arc, if a subtree is not contiguous.
    """
    check_tree(heads)
    spans, sizes = _extents(heads)
    if any(span.right - span.left != size for span, size in zip(spans, sizes, strict=True)):
        raise NotProjective(nonprojective_arcs(heads)[0])
    return spans


def heads_of_spans(spans: Iterable[tuple[int, int, int]]) -> list[int]:
    """Return the heads of the tree with these headed spans: the inverse of `headed_spans`.

    spans: n triples (left, right, head) in any order, one per word. The head of a word is the head
    of the smallest span around its own. Raises TreeError if they are not the spans of a tree.
    """
    by_word = _in_word_order([Span(*span) for span in spans])
    n = len(by_word)
    heads = [0] * n
    stack: list[Span] = []
    for span in _outer_first(by_word):
        while stack and stack[-1].right <= span.left:
            stack.pop()
        if stack:
            _check_inside(span, stack[-1])
            heads[span.head - 1] = stack[-1].head
        elif (span.left, span.right) != (0, n):
            raise TreeError(f"no span covers the sentence: {_shown(span)} is inside no other")
        stack.append(span)
    return heads


def subtree_spans(heads: Sequence[int]) -> list[Span]:
    """Return the span from the first to the last word of each subtree.

    In a projective tree these are the headed spans, but they are defined for every tree, so that
    non-projective trees can be compared, too.
    """
    return _extents(heads)[0]


def is_projective(heads: Sequence[int]) -> bool:
    """Tell whether every subtree is contiguous. Several roots are allowed."""
    spans, sizes = _extents(heads)
    return all(span.right - span.left == size for span, size in zip(spans, sizes, strict=True))


def nonprojective_arcs(heads: Sequence[int]) -> list[tuple[int, int]]:
    """Return the arcs (head, dependent) that pass over a word not below the head, by dependent.

    An arc from the root, 0, never does: everything is below it.
    """
    left, right = _reach(heads)
    return [
        (head, k) for k, head in enumerate(heads, 1) if head and not left[head] <= k <= right[head]
    ]


def depths(heads: Sequence[int]) -> list[int]:
    """Return the depth of each word: 0 for a root, 1 for its children, and so on."""
    depth = [-1] * (len(heads) + 1)
    for k in reversed(bottom_up(heads)):
        depth[k] = depth[heads[k - 1]] + 1
    return depth[1:]


def bottom_up(heads: Sequence[int]) -> list[int]:
    """Return the words in an order in which every word comes before its head.

    Raises TreeError if there is no such order, or if a head is outside the sentence.
    """
    n = len(heads)
    waiting = [0] * (n + 1)  # children that are not in the order yet
    for k, head in enumerate(heads, 1):
        if head < 0:
            raise TreeError(f"word {k} has no head")
        if head > n:
            raise TreeError(f"word {k} has head {head} in a sentence of {n} words")
        waiting[head] += 1
    order = [k for k in range(1, n + 1) if not waiting[k]]
    for k in order:  # it grows during the loop
        head = heads[k - 1]
        waiting[head] -= 1
        if head and not waiting[head]:
            order.append(head)
    if len(order) < n:
        on_cycle = next(k for k in range(1, n + 1) if waiting[k])
        raise TreeError(f"there is a cycle: {_cycle(heads, on_cycle)}")
    return order


def _cycle(heads: Sequence[int], word: int) -> str:
    """Describe the cycle that the words above this one lead to."""
    for _ in heads:
        word = heads[word - 1]
    cycle = [word]
    while heads[cycle[-1] - 1] != word:
        cycle.append(heads[cycle[-1] - 1])
    first = cycle.index(min(cycle))
    cycle = cycle[first:] + cycle[:first]
    shown = cycle if len(cycle) <= 8 else cycle[:8]
    more = "" if len(cycle) <= 8 else f" and {len(cycle) - 8} more words"
    return " under ".join(f"word {k}" for k in shown) + more + f" under word {cycle[0]}"


def _extents(heads: Sequence[int]) -> tuple[list[Span], list[int]]:
    """Return the fenceposts around each subtree, and its number of words."""
    n = len(heads)
    left, right, size = list(range(-1, n)), list(range(n + 1)), [1] * (n + 1)
    left[0] = 0
    for k in bottom_up(heads):
        head = heads[k - 1]
        left[head] = min(left[head], left[k])
        right[head] = max(right[head], right[k])
        size[head] += size[k]
    return [Span(left[k], right[k], k) for k in range(1, n + 1)], size[1:]


def _reach(heads: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return how far to the left and right of each word all words are below it, without a gap.

    The walk from word k starts at k+1. While it is on a word below k, it jumps past that word's own
    reach, which is known because words are processed bottom-up. For h < h', no word below both is
    visited by the walks of both: the walk from h either lands on h' and jumps past everything in
    its reach, or it jumps over h' from a word that is above h' and above the word in question. So
    all walks together take O(n).
    """
    n = len(heads)
    order = bottom_up(heads)
    enter, leave = _preorder(heads, order)
    left, right = list(range(n + 1)), list(range(n + 1))
    for k in order:
        word = k + 1
        while word <= n and enter[k] <= enter[word] < leave[k]:
            word = right[word] + 1
        right[k] = word - 1
        word = k - 1
        while word >= 1 and enter[k] <= enter[word] < leave[k]:
            word = left[word] - 1
        left[k] = word + 1
    return left, right


def _preorder(heads: Sequence[int], order: list[int]) -> tuple[list[int], list[int]]:
    """Return numbers such that w is k or below k exactly if enter[k] <= enter[w] < leave[k]."""
    n = len(heads)
    size = [1] * (n + 1)
    for k in order:
        size[heads[k - 1]] += size[k]
    enter, leave, free = [0] * (n + 1), [0] * (n + 1), [1] * (n + 1)
    for k in reversed(order):
        head = heads[k - 1]
        enter[k] = free[head]
        free[head] += size[k]
        leave[k] = free[head]
        free[k] = enter[k] + 1
    return enter, leave


def _in_word_order(spans: list[Span]) -> list[Span]:
    """Return the spans in word order; check that every word has one around itself."""
    n = len(spans)
    by_word: list[Span | None] = [None] * n
    for span in spans:
        if not 1 <= span.head <= n:
            raise TreeError(f"{_shown(span)} names no word: {n} spans need the words 1…{n}")
        if not 0 <= span.left < span.head <= span.right <= n:
            raise TreeError(f"{_shown(span)} does not contain its word, or is not within 0…{n}")
        if by_word[span.head - 1] is not None:
            raise TreeError(f"word {span.head} has two spans")
        by_word[span.head - 1] = span
    return [span for span in by_word if span is not None]


def _outer_first(spans: list[Span]) -> list[Span]:
    """Sort by left end, longer spans first: two passes of a bucket sort, O(n)."""
    by_right: list[list[Span]] = [[] for _ in range(len(spans) + 1)]
    for span in spans:
        by_right[span.right].append(span)
    by_left: list[list[Span]] = [[] for _ in range(len(spans) + 1)]
    for bucket in reversed(by_right):
        for span in bucket:
            by_left[span.left].append(span)
    return [span for bucket in by_left for span in bucket]


def _check_inside(inner: Span, outer: Span) -> None:
    if inner.right > outer.right:
        raise TreeError(f"{_shown(outer)} and {_shown(inner)} cross")
    if inner.left < outer.head <= inner.right:
        raise TreeError(f"{_shown(inner)} contains word {outer.head}, whose own span contains it")


def _shown(span: Span) -> str:
    return f"the span ({span.left}, {span.right}) of word {span.head}"
