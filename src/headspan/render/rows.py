"""Break a drawing into rows: where the words of a sentence continue below."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from headspan.render.drawable import Drawable

WIDTH = 1000.0
"""The width of a drawing, in pixels, unless it is chosen: wider ones continue in another row."""

_FULL = 0.8  # the least share of the words that fit in a row which it gets
_UGLY = 100  # the penalty of a break that a typesetter would avoid
_FEW = 3  # so few words do not make a last row


def break_rows(
    penalties: Sequence[int],
    fits: Callable[[int, int], bool],
    least: Sequence[float],
    width: float,
) -> list[tuple[int, int]]:
    """Return rows of words, each as a pair of fenceposts; a row has at least one word.

    Of the places at which a row can end, the one with the smallest penalty is taken.
    penalties: those of a break at each fencepost. fits: tells whether the words between two
    fenceposts fit in a row. least: a lower bound on the width of each word.
    """
    n = len(least)
    rows: list[tuple[int, int]] = []
    first = 0
    while first < n:
        most, used = first, 0.0
        while most < n and (most == first or used + least[most] <= width):
            used += least[most]
            most += 1
        last = _longest(first, most, fits)
        if last < n:
            earliest = first + max(1, round((last - first) * _FULL))
            ends = sorted(range(earliest, last + 1), key=lambda end: (penalties[end], -end))
            last = next((end for end in ends if fits(first, end)), last)
        rows.append((first, last))
        first = last
    return rows or [(0, 0)]


def _longest(first: int, most: int, fits: Callable[[int, int], bool]) -> int:
    """Return the end of the longest row that fits, by bisection."""
    if fits(first, most):
        return most
    low, high = first + 1, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(first, middle) else (low, middle)
    return low


def break_penalties(sentence: Drawable) -> list[int]:
    """Return the penalty of a break at each fencepost: the number of arcs across it, and more.

    No row should start with a full stop, end with an opening bracket, divide a token or leave only
    a few words to the last one.
    """
    n = len(sentence.forms)
    changes = [0] * (n + 1)
    for k, head in enumerate(sentence.heads, 1):
        if 0 < head <= n:
            changes[min(head, k)] += 1
            changes[max(head, k)] -= 1
    penalties = [0] * (n + 1)
    across = 0
    for fencepost in range(n + 1):
        across += changes[fencepost]
        penalties[fencepost] = across
    for fencepost in range(1, n):
        if _closes(sentence.forms[fencepost]) or _opens(sentence.forms[fencepost - 1]):
            penalties[fencepost] += _UGLY
        if n - fencepost < _FEW:
            penalties[fencepost] += _UGLY
    for token in sentence.multiwords:
        for fencepost in range(token.first, token.last):
            penalties[fencepost] += _UGLY
    return penalties


def _opens(form: str) -> bool:
    return all(unicodedata.category(character) in ("Ps", "Pi") for character in form)


def _closes(form: str) -> bool:
    return not _opens(form) and all(unicodedata.category(c).startswith("P") for c in form)
