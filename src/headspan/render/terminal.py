"""The headed spans of a sentence in a terminal: brackets under the words, a line a level."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from headspan.conllu import Sentence
from headspan.tree import Span, depths, headed_spans

_GAP = 2  # columns from the end of a word to the start of the next: one is the fencepost's


def draw_spans(sentence: Sentence, *, width: int = 80) -> list[list[str]]:
    """The headed spans of a sentence, as in the paper's Figure 1: panels, each a list of lines.

    A panel has the words, the fenceposts between them, and a line for each level of the tree: each
    span from fencepost to fencepost, its head word under the word itself. What is wider than
    `width` columns goes on in the next panel. Raises NotProjective, or TreeError.
    """
    levels: list[list[Span]] = [[] for _ in range(max(depths(sentence.heads), default=-1) + 1)]
    for span, depth in zip(headed_spans(sentence.heads), depths(sentence.heads), strict=True):
        levels[depth].append(span)
    return [
        _panel(sentence.forms, levels, first, last)
        for first, last in _panels(sentence.forms, width)
    ]


def text_width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _cells(text: str) -> list[str]:
    """A text, a cell for each column that it takes: what has no width joins what has."""
    cells: list[str] = []
    for character in text:
        if _width(character) or not cells:
            cells += [character] + [""] * (_width(character) - 1)
        else:
            cells[-1] += character
    return cells if text_width(text) else []


def visible(form: str) -> str:
    """A form without what would move a terminal's cursor."""
    return "".join("�" if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in form)


def _panels(forms: Sequence[str], width: int) -> Iterator[tuple[int, int]]:
    """From which to which fencepost each panel goes: as many words as fit, at least one."""
    first, used = 0, 1
    for k, form in enumerate(forms):
        needed = text_width(form) + _GAP
        if k > first and used + needed > width:
            yield first, k
            first, used = k, 1
        used += needed
    if forms:
        yield first, len(forms)


def _panel(
    forms: Sequence[str], levels: Sequence[Sequence[Span]], first: int, last: int
) -> list[str]:
    """The words first+1 … last with the spans that reach into them."""
    columns = {first: 0}  # of each fencepost; word k begins one column after fencepost k−1
    for k in range(first, last):
        columns[k + 1] = columns[k] + text_width(forms[k]) + _GAP
    words = " " + (" " * _GAP).join(visible(form) for form in forms[first:last])
    fenceposts = ""
    for post, column in columns.items():
        if len(fenceposts) <= column:
            fenceposts = fenceposts.ljust(column) + str(post)
    lines = [words, fenceposts]
    for level in levels:
        inside = [span for span in level if span.right > first and span.left < last]
        if not inside:
            break  # nor is anything deeper
        lines.append(_level_line(inside, forms, columns, first, last))
    return lines


def _level_line(
    spans: Sequence[Span], forms: Sequence[str], columns: Mapping[int, int], first: int, last: int
) -> str:
    """The spans of one level; an end that lies in another panel is left open."""
    cells = [" "] * (columns[last] + 1)
    for span in spans:
        left, right = columns[max(span.left, first)], columns[min(span.right, last)]
        meets = cells[left] == "┤"
        cells[left : right + 1] = "─" * (right - left + 1)
        if span.left >= first:
            cells[left] = "┼" if meets else "├"
        if span.right <= last:
            cells[right] = "┤"
        if first < span.head <= last:
            word, start = forms[span.head - 1], columns[span.head - 1] + 1
            cells[start : start + text_width(word)] = _cells(visible(word))
    return "".join(cells).rstrip()
