"""The arcs of a tree in rows of words: where each row breaks, and where its arcs run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from headspan.render.drawable import Drawable
from headspan.render.placement import Placed, PlacedArc, Placement, place, spread
from headspan.render.rows import break_penalties, break_rows
from headspan.render.widths import clusters, visible
from headspan.render.words import WordRow, measured

MARGIN = 16.0
EDGE = 1.0  # from the edge of a drawing to the end of an arc that goes on in another row
_SHORT = 14  # characters of a head in a label


class Spacing(NamedTuple):
    """The distances between words, between levels of arcs and between rows."""

    words: float
    levels: float
    rows: float


@dataclass(frozen=True, slots=True)
class ArcTree:
    """The arcs of a sentence that are drawn on one side of the words."""

    sentence: Drawable
    kinds: dict[int, str]
    """The kind of arc of each dependent whose arc is drawn."""
    confidences: list[float | None]
    crossing: set[int]
    """The dependents of non-projective arcs."""
    dependents: dict[int, list[int]]
    """The dependents of each word whose arcs are drawn."""

    def label(self, k: int, *, from_margin: bool) -> str:
        """Return the label of an arc; if the head is in another row, the label names it."""
        deprel, head = self.sentence.deprels[k - 1], self.sentence.heads[k - 1]
        if not from_margin:
            return visible(deprel)
        form = list(clusters(visible(self.sentence.forms[head - 1])))
        short = "".join(form[:_SHORT]) + "…" * (len(form) > _SHORT)
        return f"{visible(deprel)} of {short}"

    def title(self, k: int) -> str:
        """Describe an arc in words."""
        head, deprel = self.sentence.heads[k - 1], self.sentence.deprels[k - 1]
        forms = self.sentence.forms
        above = f"under {forms[head - 1]}" if head else "at the top"
        relation = f" as {deprel}" if head and deprel != "_" else ""
        confidence = self.confidences[k - 1]
        sure = f", {confidence:.0%} sure" if confidence is not None else ""
        crossing = ", not projective" if k in self.crossing else ""
        return visible(f"{forms[k - 1]} {above}{relation}{sure}{crossing}")


class Segment(NamedTuple):
    """The part of an arc in a row: from its head or the margin to its dependent or the margin."""

    start: float
    end: float
    label: float
    """The middle of its label."""
    level: int


@dataclass(frozen=True, slots=True)
class ArcRow:
    """The words first+1 … last, between a left and a right margin, where arcs to other rows end.

    In a row, the left margin has the number 1, the words have the numbers from 2, and the right
    margin has the next number.
    """

    first: int
    last: int
    placements: tuple[Placement, ...]
    """The arcs of each tree."""
    placed: tuple[dict[tuple[int, int], Placed], ...]
    """The same, by the numbers of their ends in the row."""
    middles: tuple[float, ...]
    """The positions of the left margin, the words and the right margin."""

    @property
    def width(self) -> float:
        return self.middles[-1] + EDGE

    @property
    def words(self) -> dict[int, float]:
        """The middles of the words."""
        return dict(zip(range(self.first + 1, self.last + 1), self.middles[1:-1], strict=True))

    def has(self, word: int) -> bool:
        """Tell whether a word is in this row."""
        return self.first < word <= self.last

    def segment(self, tree: int, head: int, dependent: int) -> Segment:
        """Return the part of an arc in this row. tree: which of the trees has the arc."""
        ends = tuple(_in_row(word, self.first, self.last) for word in (head, dependent))
        placement, placed = self.placements[tree], self.placed[tree][ends[0], ends[1]]
        return Segment(
            placement.x(placed.start, self.middles),
            placement.x(placed.end, self.middles),
            placement.label_x(placed, self.middles),
            placed.level,
        )


def arc_rows(
    trees: Sequence[ArcTree], words: WordRow, spacing: Spacing, width: float
) -> list[ArcRow]:
    """Break the words into rows of at most this width, and place the arcs of the trees."""
    rows: dict[tuple[int, int], ArcRow] = {}

    def row(first: int, last: int) -> ArcRow:
        if (first, last) not in rows:
            rows[first, last] = _row(trees, words, spacing, first, last)
        return rows[first, last]

    def fits(first: int, last: int) -> bool:
        return row(first, last).width <= width

    least = [word + spacing.words for word in words.widths]
    breaks = break_rows(break_penalties(trees[0].sentence), fits, least, width)
    return [row(first, last) for first, last in breaks]


def _row(
    trees: Sequence[ArcTree], words: WordRow, spacing: Spacing, first: int, last: int
) -> ArcRow:
    """Place the words between two fenceposts, and their arcs."""
    n = last - first
    placements = tuple(
        place(list(_row_arcs(tree, first, last)), n + 2, margins=(1, n + 2)) for tree in trees
    )
    least = (placement.widths(n + 2)[1:-1] for placement in placements)
    widths = [max(each) for each in zip(words.widths[first:last], *least, strict=True)]
    rooms = [EDGE, *([MARGIN - EDGE] + [spacing.words] * (n - 1))[:n], MARGIN - EDGE]
    middles = spread([0.0, *widths, 0.0], placements, rooms=rooms)
    placed = tuple(
        {(each.arc.head, each.arc.dependent): each for each in placement.arcs}
        for placement in placements
    )
    return ArcRow(first, last, placements, placed, tuple(middles))


def _row_arcs(tree: ArcTree, first: int, last: int) -> Iterator[PlacedArc]:
    """Yield the arcs of a row. Those of one head that leave it at the same margin are one line."""
    for k in range(first + 1, last + 1):
        kind = tree.kinds.get(k)
        if kind is not None:
            head = tree.sentence.heads[k - 1]
            outside = head > 0 and not first < head <= last
            label = measured(tree.label(k, from_margin=outside), f"label {kind}")
            source = head if outside else 0
            yield PlacedArc(_in_row(head, first, last), k - first + 1, label, source)
        ends = {_in_row(dependent, first, last) for dependent in tree.dependents.get(k, ())}
        for margin in sorted(ends & {1, last - first + 2}):
            yield PlacedArc(k - first + 1, margin, 0.0)


def _in_row(word: int, first: int, last: int) -> int:
    """Return the number of a word in a row, or of the margin behind which it is; 0 stays 0."""
    return min(max(word, first), last + 1) - first + 1 if word else 0
