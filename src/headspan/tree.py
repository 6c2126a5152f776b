"""Trees over words: heads and headed spans, well-formedness, projectivity.

A tree over words 1…n is a list of n heads: heads[k−1] is the head of word k, 0 for the root. In a
projective tree the words below each word k, k included, are contiguous; from fencepost l to
fencepost r (0…n) they are the headed span (l, r, k). Everything here is O(n) and without recursion.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from headspan.plumbing.errors import HeadspanError


class Span(NamedTuple):
    """A headed span: the words left+1 … right, of which `head` is the highest."""

    left: int
    right: int
    head: int


class TreeError(HeadspanError):
    """Heads or spans that are not a tree; the message names the word."""


class NotProjective(TreeError):  # noqa: N818 (it names the finding)
    """A tree that is not projective; `arc` is its first offending arc, as (head, dependent)."""

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
    """Raise TreeError unless the heads are a tree: one root, no cycle, no head outside.

    single_root: False allows several words to have head 0.
    """
    bottom_up(heads)
    roots = [k for k, head in enumerate(heads, 1) if head == 0]
    if single_root and len(roots) > 1:
        raise TreeError(f"there is more than one root: words {roots[0]} and {roots[1]}")


def headed_spans(heads: Sequence[int]) -> list[Span]:
    """The headed span of every word of a projective tree, in word order.

    Raises NotProjective, naming the first offending arc, when some subtree is not contiguous.
    """
    check_tree(heads)
    spans, sizes = _extents(heads)
    if any(span.right - span.left != size for span, size in zip(spans, sizes, strict=True)):
        raise NotProjective(nonprojective_arcs(heads)[0])
    return spans


def heads_of_spans(spans: Iterable[tuple[int, int, int]]) -> list[int]:
    """The heads of the tree whose headed spans are these: the way back from `headed_spans`.

    spans: n triples (left, right, head word) in any order, one a word. The head of a word is the
    word of the smallest span around its own. Raises TreeError when they are not such a set.
    """
    given = [Span(*span) for span in spans]
    by_word = _one_a_word(given)
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
            raise TreeError(f"no span covers the sentence: {_shown(span)} stands alone")
        stack.append(span)
    return heads


def subtree_spans(heads: Sequence[int]) -> list[Span]:
    """From the first to the last word below each word: its headed span if the tree is projective.

    Defined for every tree, so that non-projective ones can be compared too.
    """
    return _extents(heads)[0]


def is_projective(heads: Sequence[int]) -> bool:
    """Whether every subtree of the tree is contiguous. Several roots are allowed."""
    spans, sizes = _extents(heads)
    return all(span.right - span.left == size for span, size in zip(spans, sizes, strict=True))


def nonprojective_arcs(heads: Sequence[int]) -> list[tuple[int, int]]:
    """The arcs (head, dependent) that pass over a word not below the head, by dependent.

    An arc from the root, 0, never does: everything is below it.
    """
    left, right = _reach(heads)
    return [
        (head, k) for k, head in enumerate(heads, 1) if head and not left[head] <= k <= right[head]
    ]


def depths(heads: Sequence[int]) -> list[int]:
    """How many arcs lie between each word and its root word: 0 for a root, 1 for its children."""
    depth = [-1] * (len(heads) + 1)
    for k in reversed(bottom_up(heads)):
        depth[k] = depth[heads[k - 1]] + 1
    return depth[1:]


def bottom_up(heads: Sequence[int]) -> list[int]:
    """The words in an order in which each stands before its head.

    Raises TreeError when there is none, or when a head lies outside the sentence.
    """
    n = len(heads)
    waiting = [0] * (n + 1)  # children not yet in the order
    for k, head in enumerate(heads, 1):
        if head < 0:
            raise TreeError(f"word {k} has no head")
        if head > n:
            raise TreeError(f"word {k} has head {head} in a sentence of {n} words")
        waiting[head] += 1
    order = [k for k in range(1, n + 1) if not waiting[k]]
    for k in order:  # grows while it is walked
        head = heads[k - 1]
        waiting[head] -= 1
        if head and not waiting[head]:
            order.append(head)
    if len(order) < n:
        on_cycle = next(k for k in range(1, n + 1) if waiting[k])
        raise TreeError(f"there is a cycle: {_cycle(heads, on_cycle)}")
    return order


def _cycle(heads: Sequence[int], word: int) -> str:
    """The cycle that the words above this one run into, spelled out."""
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
    """First and last word of each subtree, as fenceposts, and its number of words."""
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
    """How far to the left and right of each word all words are below it, without a gap.

    From word k the walk goes to k+1; while the word it stands on is below k, it jumps behind that
    word's own reach, which is known since words are taken bottom-up. No word is landed on with
    success in the walks of two words h < h': both would have to be above it, the walk from h either
    lands on h' and jumps behind all that is below h', or jumps over h' from a word that is above
    h' and above the word in question too. So all walks together are O(n).
    """
    n = len(heads)
    order = bottom_up(heads)
    enter, leave = _preorder(heads, order)
    left, right = list(range(n + 1)), list(range(n + 1))
    for k in order:
        place = k + 1
        while place <= n and enter[k] <= enter[place] < leave[k]:
            place = right[place] + 1
        right[k] = place - 1
        place = k - 1
        while place >= 1 and enter[k] <= enter[place] < leave[k]:
            place = left[place] - 1
        left[k] = place + 1
    return left, right


def _preorder(heads: Sequence[int], order: list[int]) -> tuple[list[int], list[int]]:
    """Numbers such that w is below k, or k itself, exactly if enter[k] <= enter[w] < leave[k]."""
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


def _one_a_word(spans: list[Span]) -> list[Span]:
    """The spans in word order, each around its word, all words there."""
    n = len(spans)
    by_word: list[Span | None] = [None] * n
    for span in spans:
        if not 1 <= span.head <= n:
            raise TreeError(f"{_shown(span)} names no word: there are {n} spans, so {n} words")
        if not 0 <= span.left < span.head <= span.right <= n:
            raise TreeError(f"{_shown(span)} does not lie around its word within 0…{n}")
        if by_word[span.head - 1] is not None:
            raise TreeError(f"word {span.head} has two spans")
        by_word[span.head - 1] = span
    return [span for span in by_word if span is not None]


def _outer_first(spans: list[Span]) -> list[Span]:
    """By left end, the longer first: two passes of a bucket sort, O(n)."""
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
        raise TreeError(f"{_shown(inner)} contains word {outer.head}, whose own span is around it")


def _shown(span: Span) -> str:
    return f"the span ({span.left}, {span.right}) of word {span.head}"
