r"""Pseudo-projective parsing (Nivre and Nilsson, 2005): lift non-projective arcs, remember in the
label what was done, restore them afterwards.

Projectivizing lifts the dependent of the shortest non-projective arc to its head's head, leftmost
dependent first among equals, until the tree is projective. What the labels then say of a word that
was lifted (d is its own relation, h the relation of its syntactic head) and of the words it was
lifted past (relation p) depends on the scheme:

    scheme       lifted   passed
    head         d|h      p
    path         d|       p%
    head+path    d|h      p%

as MaltParser spells them. A `|`, `%` or `\` in a relation of the treebank itself is written with a
`\` before it and survives.

Restoring looks below a lifted word's present head, breadth first and nearest first, for a word with
the relation h, or along the marks %. Often several words fit. But projectivizing the right tree
gives back exactly the tree and labels at hand, so candidates are tried, the most likely first,
until one tree does; where none is found, as happens with labels that a model predicted, the most
likely one is taken. No candidate is below the word itself, so what comes out is always a tree.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple, TypeAlias

from headspan.plumbing.errors import check_choice
from headspan.tree import depths, nonprojective_arcs

Scheme: TypeAlias = Literal["head", "path", "head+path"]

_MOST_TRIES = 64
_MOST_STEPS = 200_000  # lifts × words that trying may cost, for monstrous sentences
_ENCODED = re.compile(r"((?:[^|%\\]|\\.|\\$)*)(?:(\|)((?:[^%\\]|\\.|\\$)*))?(%)?", re.DOTALL)


class Parse(NamedTuple):
    """A tree with its relations: heads[k−1] and deprels[k−1] belong to word k."""

    heads: list[int]
    deprels: list[str]


class _Mark(NamedTuple):
    """What a label says: its relation, whether its word was lifted and from below which relation,
    and whether a word was lifted past it.
    """

    relation: str
    lifted: bool
    head_relation: str
    passed: bool


def projectivize(heads: Sequence[int], deprels: Sequence[str], *, scheme: Scheme = "head") -> Parse:
    """A projective tree that says in its labels how to get the given one back.

    heads: heads[k−1] is the head of word k, 0 for a root. deprels: the relations in the same order.
    O(n) for each arc that is lifted.
    """
    check_choice("scheme", scheme, Scheme)
    return _encoded(_lift(heads), deprels, scheme)


def _encoded(lifting: _Lifting, deprels: Sequence[str], scheme: Scheme) -> Parse:
    lifted_from, passed, new, _ = lifting
    labels = [
        _encode(
            _Mark(relation, bool(source), deprels[source - 1] if source else "", was_passed), scheme
        )
        for relation, source, was_passed in zip(deprels, lifted_from, passed, strict=True)
    ]
    return Parse(new, labels)


def deprojectivize(
    heads: Sequence[int], deprels: Sequence[str], *, scheme: Scheme = "head"
) -> Parse:
    """The tree that `projectivize` made this one from, as far as the labels tell.

    Total: whatever the labels say, the result is a tree if the input is one, and no encoding is
    left in its labels.
    """
    check_choice("scheme", scheme, Scheme)
    marks = [_decode(label) for label in deprels]
    relations = [mark.relation for mark in marks]
    depth = depths(heads)
    lifted = [k for k, mark in enumerate(marks, 1) if mark.lifted]
    if not lifted:
        return Parse(list(heads), relations)
    lifted.sort(key=lambda k: (depth[k - 1], -k))  # a word before the words below it
    best: list[int] | None = None
    given = Parse(list(heads), list(deprels))
    budget = _MOST_STEPS // len(heads)
    for ranks in islice(_by_likelihood(len(lifted)), _MOST_TRIES):
        budget -= len(lifted)
        restored = _restore(heads, marks, lifted, ranks, scheme)
        if restored is not None:
            best = best or restored
            lifting = _lift(restored, most=budget)
            if _encoded(lifting, relations, scheme) == given:
                return Parse(restored, relations)
            budget -= lifting.lifts
        if budget <= 0:
            break
    return Parse(best or list(heads), relations)


def relation(label: str) -> str:
    """The relation inside a label, as a label that encodes nothing."""
    return _escaped(_decode(label).relation)


class _Lifting(NamedTuple):
    """For each word the head it was lifted from (0 if it was not), whether one was lifted past it,
    and its new head.
    """

    lifted_from: list[int]
    passed: list[bool]
    heads: list[int]
    lifts: int


def _lift(heads: Sequence[int], *, most: int | None = None) -> _Lifting:
    """Lift until the tree is projective, or `most` times."""
    new = list(heads)
    lifted_from, passed = [0] * len(new), [False] * len(new)
    lifts = 0
    while (most is None or lifts < most) and (arcs := nonprojective_arcs(new)):
        lifts += 1
        head, dependent = min(arcs, key=lambda arc: abs(arc[0] - arc[1]))  # the first among equals
        lifted_from[dependent - 1] = lifted_from[dependent - 1] or head
        passed[head - 1] = True
        new[dependent - 1] = new[head - 1]
    return _Lifting(lifted_from, passed, new, lifts)


def _by_likelihood(words: int) -> Iterator[tuple[int, ...]]:
    """Which of its candidates each lifted word takes: the first for all, then one second, …"""
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
    """The heads if each lifted word takes the candidate of its rank; None if one has not so many.

    A word without a candidate is tried once more at the end, when others may have come below its
    head, and stays where it is if there is still none.
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
    """The words below the head of `word` that may be its syntactic head, the likeliest first.

    With marks on the path only, the deepest is the likeliest; with the head's relation, the highest
    that has it. Within a level it is the nearest.
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
    wanted = marks[word - 1].head_relation
    return [k for level in levels for k in level if marks[k - 1].relation == wanted]


def _encode(mark: _Mark, scheme: Scheme) -> str:
    label = _escaped(mark.relation)
    if mark.lifted:
        label += "|" + ("" if scheme == "path" else _escaped(mark.head_relation))
    return label + "%" if mark.passed and scheme != "head" else label


def _decode(label: str) -> _Mark:
    """What a label says; of one that `_encode` never makes, what its beginning says."""
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
