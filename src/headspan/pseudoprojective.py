r"""Pseudo-projective parsing (Nivre and Nilsson, 2005): lift non-projective arcs, record it in the
labels, and restore the arcs afterwards.

Projectivizing lifts the dependent of the shortest non-projective arc to its head's head until the
tree is projective; of equally short arcs, the one with the leftmost dependent comes first. The
scheme determines the label of a lifted word (d is its own relation, h that of its original head)
and of the words it was lifted past (relation p):

    scheme       lifted   passed
    head         d|h      p
    path         d|       p%
    head+path    d|h      p%

This is MaltParser's notation. A `|`, `%` or `\` in a relation of the treebank is escaped by a `\`.

Restoring searches below a lifted word's present head, breadth first and nearest first, for a word
with the relation h, or along the marks %. Often several words fit. Since projectivizing the right
tree must give exactly the present tree and labels, candidates are tried, the most likely first,
until one passes this check. If none does, as can happen with labels that a model predicted, the
most likely one is used. No candidate is below the word itself, so the result is always a tree.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple, TypeAlias

from headspan.plumbing.errors import check_choice
from headspan.tree import depths, nonprojective_arcs

Scheme: TypeAlias = Literal["head", "path", "head+path"]

_MOST_TRIES = 64
_MOST_STEPS = 200_000  # bound on lifts × words during restoring, for huge sentences
_ENCODED = re.compile(r"((?:[^|%\\]|\\.|\\$)*)(?:(\|)((?:[^%\\]|\\.|\\$)*))?(%)?", re.DOTALL)


class LabelledTree(NamedTuple):
    """A tree and its labels: heads[k−1] and deprels[k−1] belong to word k."""

    heads: list[int]
    deprels: list[str]


class _Mark(NamedTuple):
    """A decoded label.

    It holds the word's relation, whether the word was lifted, the relation of the head it was
    lifted from, and whether another word was lifted past it.
    """

    relation: str
    lifted: bool
    head_relation: str
    passed: bool


def projectivize(
    heads: Sequence[int], deprels: Sequence[str], *, scheme: Scheme = "head"
) -> LabelledTree:
    """Return a projective tree whose labels say how to restore the original one.

    heads: heads[k−1] is the head of word k, 0 for a root. deprels: the relations in the same order.
    Takes O(n) for each arc that is lifted.
    """
    check_choice("scheme", scheme, Scheme)
    return _encoded(_lift(heads), deprels, scheme)


def _encoded(lifting: _Lifting, deprels: Sequence[str], scheme: Scheme) -> LabelledTree:
    lifted_from, passed, new, _ = lifting
    labels = [
        _encode(
            _Mark(relation, bool(source), deprels[source - 1] if source else "", was_passed), scheme
        )
        for relation, source, was_passed in zip(deprels, lifted_from, passed, strict=True)
    ]
    return LabelledTree(new, labels)


def deprojectivize(
    heads: Sequence[int], deprels: Sequence[str], *, scheme: Scheme = "head"
) -> LabelledTree:
    """Restore the tree that `projectivize` was given, as far as the labels tell.

    Whatever the labels say, the result is a tree if the input is one, and its labels are plain
    relations.
    """
    check_choice("scheme", scheme, Scheme)
    marks = [_decode(label) for label in deprels]
    relations = [mark.relation for mark in marks]
    depth = depths(heads)
    lifted = [k for k, mark in enumerate(marks, 1) if mark.lifted]
    if not lifted:
        return LabelledTree(list(heads), relations)
    lifted.sort(key=lambda k: (depth[k - 1], -k))  # words before the words below them
    best: list[int] | None = None
    encoded = LabelledTree(list(heads), list(deprels))
    budget = _MOST_STEPS // len(heads)
    for ranks in islice(_by_likelihood(len(lifted)), _MOST_TRIES):
        budget -= len(lifted)
        restored = _restore(heads, marks, lifted, ranks, scheme)
        if restored is not None:
            best = best or restored
            lifting = _lift(restored, most=budget)
            if _encoded(lifting, relations, scheme) == encoded:
                return LabelledTree(restored, relations)
            budget -= lifting.lifts
        if budget <= 0:
            break
    return LabelledTree(best or list(heads), relations)


def relation(label: str) -> str:
    """Return the relation inside a label, as a label without any encoding."""
    return _escaped(_decode(label).relation)


class _Lifting(NamedTuple):
    """The result of lifting.

    For each word: the head it was lifted from (0 if it was not lifted), whether another word was
    lifted past it, and its new head.
    """

    lifted_from: list[int]
    passed: list[bool]
    heads: list[int]
    lifts: int


def _lift(heads: Sequence[int], *, most: int | None = None) -> _Lifting:
    """Lift arcs until the tree is projective, at most `most` times."""
    new = list(heads)
    lifted_from, passed = [0] * len(new), [False] * len(new)
    lifts = 0
    while (most is None or lifts < most) and (arcs := nonprojective_arcs(new)):
        lifts += 1
        head, dependent = min(arcs, key=lambda arc: abs(arc[0] - arc[1]))  # the leftmost of equals
        lifted_from[dependent - 1] = lifted_from[dependent - 1] or head
        passed[head - 1] = True
        new[dependent - 1] = new[head - 1]
    return _Lifting(lifted_from, passed, new, lifts)


def _by_likelihood(words: int) -> Iterator[tuple[int, ...]]:
    """Yield which candidate each lifted word takes: all the first, then one the second, …"""
    first = (0,) * words
    heap, seen = [(0, first)], {first}
    while heap:
        total, ranks = heapq.heappop(heap)
        yield ranks
        for at in range(words):
            following = (*ranks[:at], ranks[at] + 1, *ranks[at + 1 :])
            if following not in seen:
                seen.add(following)
                heapq.heappush(heap, (total + 1, following))


def _restore(
    heads: Sequence[int],
    marks: Sequence[_Mark],
    lifted: Sequence[int],
    ranks: Sequence[int],
    scheme: Scheme,
) -> list[int] | None:
    """Return the heads if each lifted word takes the candidate of its rank; None if there is none.

    A word without candidates is tried once more at the end, when other words may have moved below
    its head; if it still has none, it stays where it is.
    """
    new = list(heads)
    waiting = list(zip(lifted, ranks, strict=True))
    for last in (False, True):
        again = []
        for word, rank in waiting:
            candidates = _candidates(new, marks, word, scheme)
            if rank < len(candidates):
                new[word - 1] = candidates[rank]
            elif candidates or (last and rank):
                return None
            else:
                again.append((word, rank))
        waiting = again
    return new


def _candidates(
    heads: Sequence[int], marks: Sequence[_Mark], word: int, scheme: Scheme
) -> list[int]:
    """Return the words below the head of `word` that may be its original head, most likely first.

    If only the path is marked, the deepest word is the most likely; otherwise it is the highest
    word with the head's relation. Within a level, it is the nearest.
    """
    children: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for k, head in enumerate(heads, 1):
        if k != word and (scheme == "head" or marks[k - 1].passed):
            children[head].append(k)
    level, levels = children[heads[word - 1]], list[list[int]]()
    while level:
        level = sorted(level, key=lambda k: abs(k - word))
        levels.append(level)
        level = [child for k in level for child in children[k]]
    if scheme == "path":
        return [k for level in reversed(levels) for k in level]
    relation = marks[word - 1].head_relation
    return [k for level in levels for k in level if marks[k - 1].relation == relation]


def _encode(mark: _Mark, scheme: Scheme) -> str:
    label = _escaped(mark.relation)
    if mark.lifted:
        label += "|" + ("" if scheme == "path" else _escaped(mark.head_relation))
    return label + "%" if mark.passed and scheme != "head" else label


@lru_cache(maxsize=4096)  # a treebank has few labels, and many words
def _decode(label: str) -> _Mark:
    """Decode a label; of a label that `_encode` never makes, only the start counts."""
    match = _ENCODED.match(label)
    relation, bar, head, percent = match.groups() if match else (label, None, None, None)
    return _Mark(
        relation=_unescaped(relation) or ("_" if label else ""),
        lifted=bar is not None,
        head_relation=_unescaped(head or ""),
        passed=percent is not None,
    )


def _escaped(relation: str) -> str:
    return re.sub(r"[|%\\]", r"\\\g<0>", relation)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
