"""Draw headed spans in a terminal: brackets under the words, one line per level of the tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from headspan.plumbing.limits import check_drawn
from headspan.render.drawable import Drawable
from headspan.render.widths import clusters, columns, visible
from headspan.tree import Span, depths, headed_spans

_GAP = 2  # columns between two words; one of them is the fencepost's


def draw_spans(sentence: Drawable, *, width: int = 80) -> list[list[str]]:
    """Draw headed spans as in the paper's Figure 1: panels, each a list of lines.

    A panel has the words, the fenceposts between them, and one line per level of the tree, where
    each span runs from fencepost to fencepost with its head under the word itself. A drawing wider
    than `width` columns continues in the next panel. Raises NotProjective or TreeError.
    """
    check_drawn(len(sentence.forms))
    levels: list[list[Span]] = [[] for _ in range(max(depths(sentence.heads), default=-1) + 1)]
    for span, depth in zip(headed_spans(sentence.heads), depths(sentence.heads), strict=True):
        levels[depth].append(span)
    forms = [visible(form) for form in sentence.forms]
    return [_panel(forms, levels, first, last) for first, last in _panels(forms, width)]


def _cells(text: str) -> list[str]:
    """Split a text into one cell per column; characters without width join the cell before."""
    cells: list[str] = []
    for cluster in clusters(text):
        if width := columns(cluster):
            cells += [cluster] + [""] * (width - 1)
        elif cells:
            cells[-1] += cluster
    return cells


def _panels(forms: Sequence[str], width: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last fencepost of each panel: as many words as fit, at least one."""
    first, used = 0, 1
    for k, form in enumerate(forms):
        needed = columns(form) + _GAP
        if k > first and used + needed > width:
            yield first, k
            first, used = k, 1
        used += needed
    if forms:
        yield first, len(forms)


def _panel(
    forms: Sequence[str], levels: Sequence[Sequence[Span]], first: int, last: int
) -> list[str]:
    """Draw the words first+1 … last and the spans that overlap them."""
    column_of = {first: 0}  # of fenceposts; word k starts one column after fencepost k−1
    for k in range(first, last):
        column_of[k + 1] = column_of[k] + columns(forms[k]) + _GAP
    words = " " + (" " * _GAP).join(forms[first:last])
    numbers = ""
    for fencepost, column in column_of.items():
        if len(numbers) <= column:
            numbers = numbers.ljust(column) + str(fencepost)
    lines = [words, numbers]
    for level in levels:
        inside = [span for span in level if span.right > first and span.left < last]
        if not inside:
            break  # deeper levels have none, either
        lines.append(_level_line(inside, forms, column_of, first, last))
    return lines


def _level_line(
    spans: Sequence[Span], forms: Sequence[str], column_of: Mapping[int, int], first: int, last: int
) -> str:
    """Draw the spans of one level; an end in another panel is left open."""
    cells = [" "] * (column_of[last] + 1)
    for span in spans:
        left, right = column_of[max(span.left, first)], column_of[min(span.right, last)]
        meets = cells[left] == "┤"
        cells[left : right + 1] = "─" * (right - left + 1)
        if span.left >= first:
            cells[left] = "┼" if meets else "├"
        if span.right <= last:
            cells[right] = "┤"
        if first < span.head <= last:
            word, start = forms[span.head - 1], column_of[span.head - 1] + 1
            cells[start : start + columns(word)] = _cells(word)
    return "".join(cells).rstrip()
