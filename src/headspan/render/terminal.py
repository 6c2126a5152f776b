"""The headed spans of a sentence in a terminal: brackets under the words, a line a level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from headspan.plumbing.limits import check_drawn
from headspan.render.drawable import Drawable
from headspan.render.widths import clusters, columns, visible
from headspan.tree import Span, depths, headed_spans

_GAP = 2  # columns from the end of a word to the start of the next: one is the fencepost's


def draw_spans(sentence: Drawable, *, width: int = 80) -> list[list[str]]:
    """The headed spans of a sentence, as in the paper's Figure 1: panels, each a list of lines.

    A panel has the words, the fenceposts between them, and a line for each level of the tree: each
    span from fencepost to fencepost, its head word under the word itself. What is wider than
    `width` columns goes on in the next panel. Raises NotProjective, or TreeError.
    """
    check_drawn(len(sentence.forms))
    levels: list[list[Span]] = [[] for _ in range(max(depths(sentence.heads), default=-1) + 1)]
    for span, depth in zip(headed_spans(sentence.heads), depths(sentence.heads), strict=True):
        levels[depth].append(span)
    return [
        _panel(sentence.forms, levels, first, last)
        for first, last in _panels(sentence.forms, width)
    ]


def _cells(text: str) -> list[str]:
    """A text, a cell for each column that it takes: what has no width joins what has."""
    cells: list[str] = []
    for cluster in clusters(text):
        if width := columns(cluster):
            cells += [cluster] + [""] * (width - 1)
        elif cells:
            cells[-1] += cluster
    return cells


def _panels(forms: Sequence[str], width: int) -> Iterator[tuple[int, int]]:
    """From which to which fencepost each panel goes: as many words as fit, at least one."""
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
    """The words first+1 … last with the spans that reach into them."""
    places = {first: 0}  # of each fencepost; word k begins one column after fencepost k−1
    for k in range(first, last):
        places[k + 1] = places[k] + columns(forms[k]) + _GAP
    words = " " + (" " * _GAP).join(visible(form) for form in forms[first:last])
    fenceposts = ""
    for post, column in places.items():
        if len(fenceposts) <= column:
            fenceposts = fenceposts.ljust(column) + str(post)
    lines = [words, fenceposts]
    for level in levels:
        inside = [span for span in level if span.right > first and span.left < last]
        if not inside:
            break  # nor is anything deeper
        lines.append(_level_line(inside, forms, places, first, last))
    return lines


def _level_line(
    spans: Sequence[Span], forms: Sequence[str], places: Mapping[int, int], first: int, last: int
) -> str:
    """The spans of one level; an end that lies in another panel is left open."""
    cells = [" "] * (places[last] + 1)
    for span in spans:
        left, right = places[max(span.left, first)], places[min(span.right, last)]
        meets = cells[left] == "┤"
        cells[left : right + 1] = "─" * (right - left + 1)
        if span.left >= first:
            cells[left] = "┼" if meets else "├"
        if span.right <= last:
            cells[right] = "┤"
        if first < span.head <= last:
            word, start = forms[span.head - 1], places[span.head - 1] + 1
            cells[start : start + columns(word)] = _cells(visible(word))
    return "".join(cells).rstrip()
