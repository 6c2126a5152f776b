"""Decisions of people as constraints on trees.

A model with projective trees cannot build a tree in which arcs cross. Where confirmed arcs cross
each other, some are set aside: the parser finds the best projective tree with the
others, and then those that were set aside replace the arcs of their dependents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from headspan.annotate.confirmations import Confirmed
from headspan.inference import Constraints


class Plan(NamedTuple):
    """Constraints for the parser, and what has to be put into its tree afterwards."""

    constraints: Constraints | None
    """None if nothing is confirmed."""
    aside: dict[int, int]
    """The heads of words whose confirmed arc no projective tree with the others has."""


def plan(confirmed: Confirmed, n: int, aside: Mapping[int, int]) -> Plan:
    """The constraints for what is confirmed in a sentence of n words.

    aside: the arcs that are set aside, by dependent.
    """
    required = [(h, d) for d, h in confirmed.heads.items() if d not in aside]
    forbidden = {(0, dependent) for dependent in aside}  # none of them can be the root
    for word, (left, right) in confirmed.spans.items():
        forbidden |= arcs_across(word, left, right, n)
    forbidden -= set(required)
    if not required and not forbidden:
        return Plan(None, dict(aside))
    constraints = Constraints(required_arcs=sorted(required), forbidden_arcs=sorted(forbidden))
    return Plan(constraints, dict(aside))


def arcs_across(word: int, left: int, right: int, n: int) -> set[tuple[int, int]]:
    """The arcs that no tree has in which a word has this headed span, but its own arc is free."""
    inside = range(left + 1, right + 1)
    outside = [k for k in range(n + 1) if not left < k <= right]
    across = {(h, d) for h in inside for d in outside if d}
    across |= {(h, d) for h in outside for d in inside if d != word}
    across |= {(h, word) for h in inside if h != word}
    return across


def set_aside(heads: Mapping[int, int]) -> dict[int, int]:
    """Arcs to leave out until no two of the others cross, by dependent.

    heads: the head of each dependent. Again and again, the arc that crosses most others is left
    out; of several, the longest. An arc that passes over the root crosses the arc from 0.
    """
    left = dict(heads)
    aside: dict[int, int] = {}
    while True:
        counts = {d: sum(crosses((h, d), (g, e)) for e, g in left.items()) for d, h in left.items()}
        below = [d for d in left if left[d]]  # a word that is the root stays the root
        worst = max(below, key=lambda d: (counts[d], abs(left[d] - d)), default=0)
        if not worst or not counts[worst]:
            return aside
        aside[worst] = left.pop(worst)


def crosses(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether no projective tree has both arcs because they cross, or one covers the root."""
    (a, b), (c, d) = sorted(one), sorted(other)
    if a == 0 or c == 0:
        if a == c:
            return False
        low, high = (c, d) if a == 0 else (a, b)
        root = b if a == 0 else d
        return low < root < high
    return a < c < b < d or c < a < d < b


def contradicts(span: tuple[int, int, int], arc: tuple[int, int]) -> bool:
    """Whether no tree has both the headed span (left, right, word) and an arc."""
    left, right, word = span
    head, dependent = arc
    holds_head, holds_dependent = left < head <= right, left < dependent <= right
    if holds_head != holds_dependent:
        return holds_head or dependent != word
    return holds_head and dependent == word
