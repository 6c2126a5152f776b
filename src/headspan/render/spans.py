"""Headed spans as nested rectangles, one per word, as in the paper's Figure 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from headspan.plumbing.limits import check_drawn
from headspan.render.drawable import Drawable
from headspan.render.shapes import Box, Drawing, Group, Text, data, line
from headspan.render.style import DEPTHS
from headspan.render.widths import visible
from headspan.render.words import measured
from headspan.tree import bottom_up, depths

_MARGIN = 16.0
_INSIDE = 7.0  # from a word to the nearest edge
_STEP_X, _STEP_Y = 4.0, 6.0  # between nested edges
_BETWEEN = 5.0  # between neighbouring rectangles
_HALF = 15.0  # half the height of the smallest rectangle
_BASELINE = 5.5  # from the middle down to the baseline
_STEM = 9.0  # from the middle up to the end of a stem
_FENCEPOSTS = 20.0  # height of the fencepost numbers


@dataclass(frozen=True, slots=True)
class _Piece:
    """A rectangle around the words left+1 … right, all in the subtree of a word.

    height: how many levels of rectangles are nested inside.
    """

    word: int
    left: int
    right: int
    height: int


@dataclass(frozen=True, slots=True)
class _Layout:
    """The positions of words and edges."""

    right: float
    middles: list[float]
    opening: dict[_Piece, float]
    closing: dict[_Piece, float]


def spans_drawing(sentence: Drawable) -> Drawing:
    """Draw the headed span of every word as a rectangle around it.

    In a non-projective tree, a word can have a broken span: one rectangle for each contiguous
    piece, dashed and joined by dots. Raises TreeError if the heads do not form a tree; several
    roots are allowed.
    """
    check_drawn(len(sentence.forms))
    spans = _pieces(sentence.heads)
    colours = [f"depth{depth % DEPTHS}" for depth in depths(sentence.heads)]
    roles = [
        f"head {colour}" if span[0].height else "form"
        for span, colour in zip(spans, colours, strict=True)
    ]
    layout = _layout(sentence.forms, roles, spans)
    tallest = max((span[0].height for span in spans), default=0)
    middle = _MARGIN + _HALF + tallest * _STEP_Y
    bottom = middle + _HALF + tallest * _STEP_Y
    parts: list[Group] = []
    for span in sorted(spans, key=lambda span: -span[0].height):
        parts += _span(sentence, span, layout, middle, colours[span[0].word - 1])
    for k, (form, role) in enumerate(zip(sentence.forms, roles, strict=True)):
        text = Text(layout.middles[k], middle + _BASELINE, visible(form), role)
        parts.append(Group("word", data(word=k + 1), "", (text,)))
    parts += _fenceposts(layout, len(spans), bottom + 15)
    return Drawing(
        layout.right + _MARGIN,
        bottom + _FENCEPOSTS + _MARGIN / 2,
        visible(sentence.text) or "No words",
        " ".join(["Headed spans.", *(_title(sentence, span) + "." for span in spans)]),
        tuple(parts),
    )


def _pieces(heads: Sequence[int]) -> list[list[_Piece]]:
    """Return the contiguous pieces of each subtree: one piece if it is a headed span."""
    below = [[k] for k in range(len(heads) + 1)]
    height = [0] * (len(heads) + 1)
    pieces: list[list[_Piece]] = [[] for _ in heads]
    for k in bottom_up(heads):
        words = sorted(below[k])
        breaks = [(before, after) for before, after in pairwise(words) if after > before + 1]
        starts = [words[0], *(after for _, after in breaks)]
        ends = [*(before for before, _ in breaks), words[-1]]
        pieces[k - 1] = [
            _Piece(k, start - 1, end, height[k]) for start, end in zip(starts, ends, strict=True)
        ]
        head = heads[k - 1]
        height[head] = max(height[head], height[k] + 1)
        below[head] += words
    return pieces


def _layout(
    forms: Sequence[str], roles: Sequence[str], spans: Sequence[Sequence[_Piece]]
) -> _Layout:
    """Place, for each word from left to right, opening edges, the word and closing edges."""
    begin: list[list[_Piece]] = [[] for _ in range(len(forms) + 1)]
    end: list[list[_Piece]] = [[] for _ in range(len(forms) + 1)]
    for piece in sorted((p for span in spans for p in span), key=lambda piece: piece.height):
        begin[piece.left].append(piece)
        end[piece.right].append(piece)
    x, middles, opening, closing = _MARGIN, [], {}, {}
    for k, (form, role) in enumerate(zip(forms, roles, strict=True)):
        for at, piece in enumerate(reversed(begin[k])):
            opening[piece] = x + at * _STEP_X
        x += _STEP_X * max(0, len(begin[k]) - 1) + _INSIDE
        width = measured(form, role)
        middles.append(x + width / 2)
        x += width + _INSIDE
        for at, piece in enumerate(end[k + 1]):
            closing[piece] = x + at * _STEP_X
        x += _STEP_X * max(0, len(end[k + 1]) - 1) + _BETWEEN
    return _Layout(x - _BETWEEN if forms else x, middles, opening, closing)


def _span(
    sentence: Drawable, span: Sequence[_Piece], layout: _Layout, middle: float, colour: str
) -> Iterator[Group]:
    """Draw the rectangles of a word, with a stem from the edge down to the word."""
    broken = "broken " if len(span) > 1 else ""
    title = _title(sentence, span)
    half = _HALF + span[0].height * _STEP_Y
    for before, piece in zip([None, *span], span, strict=False):
        left, right = layout.opening[piece], layout.closing[piece]
        box = Box(left, middle - half, right - left, 2 * half, 5, f"box {broken}{colour}")
        lines = []
        if before is not None:
            y = middle - half + 5
            lines.append(line((layout.closing[before], y), (left, y), role=f"join {colour}"))
        if piece.height and piece.left < piece.word <= piece.right:
            x = layout.middles[piece.word - 1]
            ends = (x, middle - half), (x, middle - _STEM - 3)
            lines.append(line(*ends, role=f"stem {colour}"))
        values = data(word=piece.word, left=piece.left, right=piece.right)
        yield Group(f"span {broken}".strip(), values, title, (box, *lines))


def _fenceposts(layout: _Layout, n: int, y: float) -> Iterator[Group]:
    """Draw the numbers of the fenceposts, centred between the edges that meet there."""
    edges: list[list[float]] = [[] for _ in range(n + 1)]
    for piece, x in layout.opening.items():
        edges[piece.left].append(x)
    for piece, x in layout.closing.items():
        edges[piece.right].append(x)
    for number, positions in enumerate(edges):
        if positions:
            x = (min(positions) + max(positions)) / 2
            text = Text(x, y, str(number), "fencepost")
            yield Group("fencepost", data(fencepost=number), "", (text,))


def _title(sentence: Drawable, span: Sequence[_Piece]) -> str:
    """Describe a headed span in words."""
    texts = [_shortened(sentence.forms[piece.left : piece.right]) for piece in span]
    fenceposts = " and ".join(f"{piece.left}–{piece.right}" for piece in span)
    pieces = f", in {len(span)} pieces, for the tree is not projective" if len(span) > 1 else ""
    return visible(f"{sentence.forms[span[0].word - 1]}: {fenceposts}, {' … '.join(texts)}{pieces}")


def _shortened(words: Sequence[str]) -> str:
    """Return the words; if there are many, only the first and the last ones."""
    few = words if len(words) <= 12 else [*words[:6], "…", *words[-5:]]
    return " ".join(few)
