"""Headed spans as nested rectangles, one per word, as in the paper's Figure 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from headspan.plumbing.limits import check_drawn
from headspan.render.drawable import Drawable
from headspan.render.rows import WIDTH, break_penalties, break_rows
from headspan.render.shapes import Box, Drawing, Group, Shape, Text, data, line
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
_BETWEEN_ROWS = 12.0
_OUTSIDE = 10.0  # from the edge of the drawing to a side of a rectangle that is not seen


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
class _Row:
    """The positions of the words first+1 … last and of the edges of rectangles.

    A rectangle that goes on in another row has no edge there.
    """

    first: int
    last: int
    right: float
    middles: dict[int, float]
    opening: dict[_Piece, float]
    closing: dict[_Piece, float]
    heights: dict[_Piece, int]
    """How many levels of rectangles are nested inside each in this row, or at most so many."""

    @property
    def half(self) -> float:
        """Half the height of the row."""
        return _HALF + max(self.heights.values(), default=0) * _STEP_Y


def spans_drawing(sentence: Drawable, *, width: float = WIDTH) -> Drawing:
    """Draw the headed span of every word as a rectangle around it.

    If that is wider than `width`, it continues in another row, and rectangles are open where they
    go on. In a non-projective tree, a word can have a broken span: one rectangle for each
    contiguous piece, dashed and joined by dots. Raises TreeError if the heads do not form a tree;
    several roots are allowed.
    """
    check_drawn(len(sentence.forms))
    spans = _pieces(sentence.heads)
    colours = [f"depth{depth % DEPTHS}" for depth in depths(sentence.heads)]
    roles = [
        f"head {colour}" if span[0].height else "form"
        for span, colour in zip(spans, colours, strict=True)
    ]
    rows = _rows(sentence, roles, spans, width)
    right = max(row.right for row in rows) + _MARGIN
    if len(rows) > 1:
        right = max(right, width)
    middles, bottom = [], _MARGIN
    for row in rows:
        middles.append(bottom + row.half)
        bottom += 2 * row.half + _FENCEPOSTS + _BETWEEN_ROWS
    placed = list(zip(rows, middles, strict=True))
    parts: list[Group] = []
    for span in sorted(spans, key=lambda span: -span[0].height):
        parts += _span(sentence, span, placed, right, colours[span[0].word - 1])
    for row, middle in placed:
        for k, x in row.middles.items():
            text = Text(x, middle + _BASELINE, visible(sentence.forms[k - 1]), roles[k - 1])
            parts.append(Group("word", data(word=k), "", (text,)))
        parts += _fenceposts(row, middle + row.half + 15)
    return Drawing(
        right,
        bottom - _BETWEEN_ROWS + _MARGIN / 2,
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


def _rows(
    sentence: Drawable, roles: Sequence[str], spans: Sequence[Sequence[_Piece]], width: float
) -> list[_Row]:
    """Break the words into rows of at most this width."""
    pieces = sorted((p for span in spans for p in span), key=lambda piece: piece.height)
    words = [measured(form, role) for form, role in zip(sentence.forms, roles, strict=True)]

    def fits(first: int, last: int) -> bool:
        return _row(words, pieces, first, last).right + _MARGIN <= width

    least = [word + 2 * _INSIDE + _BETWEEN for word in words]
    breaks = break_rows(break_penalties(sentence), fits, least, width)
    return [_row(words, pieces, first, last) for first, last in breaks]


def _row(words: Sequence[float], pieces: Sequence[_Piece], first: int, last: int) -> _Row:
    """Place, for each word from left to right, opening edges, the word and closing edges.

    Of the rectangles around more than the whole row, only the innermost is there. words: their
    widths. pieces: all of them, low ones first.
    """
    here = [piece for piece in pieces if piece.left < last and piece.right > first]
    around = [piece for piece in here if piece.left < first and piece.right > last]
    left_out = set(around[1:])
    here = [piece for piece in here if piece not in left_out]
    begin: dict[int, list[_Piece]] = {k: [] for k in range(first, last + 1)}
    end: dict[int, list[_Piece]] = {k: [] for k in range(first, last + 1)}
    for piece in here:
        if piece.left >= first:
            begin[piece.left].append(piece)
        if piece.right <= last:
            end[piece.right].append(piece)
    x, middles, opening, closing = _MARGIN, {}, {}, {}
    for k in range(first, last):
        for at, piece in enumerate(reversed(begin[k])):
            opening[piece] = x + at * _STEP_X
        x += _STEP_X * max(0, len(begin[k]) - 1) + _INSIDE
        middles[k + 1] = x + words[k] / 2
        x += words[k] + _INSIDE
        for at, piece in enumerate(end[k + 1]):
            closing[piece] = x + at * _STEP_X
        x += _STEP_X * max(0, len(end[k + 1]) - 1) + _BETWEEN
    levels = {height: level for level, height in enumerate(sorted({p.height for p in here}))}
    heights = {piece: levels[piece.height] for piece in here}
    right = x - _BETWEEN if last > first else x
    return _Row(first, last, right, middles, opening, closing, heights)


def _span(
    sentence: Drawable,
    span: Sequence[_Piece],
    rows: Sequence[tuple[_Row, float]],
    right: float,
    colour: str,
) -> Iterator[Group]:
    """Draw the rectangles of a word, with a stem from the edge down to the word.

    rows: those of the drawing, each with its middle. right: the edge of the drawing; rectangles
    that go on in another row run over it.
    """
    broken = "broken " if len(span) > 1 else ""
    title = _title(sentence, span)
    for before, piece in zip([None, *span], span, strict=False):
        shapes: list[Shape] = []
        for row, middle in rows:
            if piece not in row.heights:
                continue
            half = _HALF + row.heights[piece] * _STEP_Y
            start = row.opening.get(piece, -_OUTSIDE)
            end = row.closing.get(piece, right + _OUTSIDE)
            box = f"box {broken}{colour}"
            shapes.append(Box(start, middle - half, end - start, 2 * half, 5, box))
            if before is not None and piece in row.opening:
                y = middle - half + 5
                join = (row.closing.get(before, 0.0), y), (start, y)
                shapes.append(line(*join, role=f"join {colour}"))
            x = row.middles.get(piece.word)
            if x is not None and piece.height and piece.left < piece.word <= piece.right:
                stem = (x, middle - half), (x, middle - _STEM - 3)
                shapes.append(line(*stem, role=f"stem {colour}"))
        values = data(word=piece.word, left=piece.left, right=piece.right)
        yield Group(f"span {broken}".strip(), values, title, tuple(shapes))


def _fenceposts(row: _Row, y: float) -> Iterator[Group]:
    """Draw the numbers of the fenceposts, centred between the edges that meet there."""
    edges: dict[int, list[float]] = {}
    for piece, x in row.opening.items():
        edges.setdefault(piece.left, []).append(x)
    for piece, x in row.closing.items():
        edges.setdefault(piece.right, []).append(x)
    for number, positions in sorted(edges.items()):
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
