"""Draw a tree in a terminal: one line per word, in text order, with branches before it."""

from __future__ import annotations

from typing import NamedTuple

from headspan.plumbing.limits import check_drawn
from headspan.render.drawable import Drawable
from headspan.render.widths import columns, visible
from headspan.tree import check_tree, nonprojective_arcs


class TreeLine(NamedTuple):
    """The line of a word: branches, the word, blanks up to the column of tags, tag, relation."""

    branches: str
    form: str
    blanks: str
    upos: str
    relation: str


def draw_tree(sentence: Drawable) -> list[TreeLine]:
    """Draw the tree of a sentence, one line per word.

    The children of a word hang on a vertical line in the column where the word starts. If a word's
    arc is not projective, no line can show it, so its head is named. Raises TreeError. Takes
    O(n · depth).
    """
    check_drawn(len(sentence.forms))
    heads = sentence.heads
    check_tree(heads)
    first, last = list(range(len(heads) + 1)), list(range(len(heads) + 1))
    for child, head in enumerate(heads, 1):
        if head:
            first[head], last[head] = min(first[head], child), max(last[head], child)
    branches = [_branches(word, heads, first, last) for word in range(1, len(heads) + 1)]
    forms = [visible(form) for form in sentence.forms]
    widths = [len(b) + columns(f) for b, f in zip(branches, forms, strict=True)]
    widest = max(widths, default=0)
    tags = [visible(tag) if tag != "_" else "" for tag in sentence.upos]
    widest_tag = max(map(columns, tags), default=0)
    crossing = {child - 1 for _, child in nonprojective_arcs(heads)}
    return [
        TreeLine(
            branches[k],
            forms[k],
            " " * (widest - widths[k] + 2),
            tags[k] + " " * (widest_tag - columns(tags[k])) + "  " * bool(widest_tag),
            visible(sentence.deprels[k])
            + (f" → {heads[k]} {forms[heads[k] - 1]}" if k in crossing else ""),
        )
        for k in range(len(heads))
    ]


def _branches(word: int, heads: tuple[int, ...], first: list[int], last: list[int]) -> str:
    """Draw what is before a word: its corner, and the lines of words above it that pass by."""
    parts: list[str] = []
    below, above = word, heads[word - 1]
    while above:
        if below == word:
            corner = "┌" if word == first[above] else "└" if word == last[above] else "├"
            parts.append(corner + "─ ")
        else:
            parts.append("│  " if first[above] < word < last[above] else "   ")
        below, above = above, heads[above - 1]
    return "".join(reversed(parts))
