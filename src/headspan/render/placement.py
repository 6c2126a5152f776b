"""Place arcs: where on a word each starts and ends, how high it runs, and where its label goes.

Every end of an arc has its own port on a word. From left to right, a word's ports belong to: arcs
to the left, shorter ones first; the arc from the root; arcs to the right, longer ones first. So in
a projective tree no two lines meet. An arc runs on the lowest level where no shorter arc is in its
way. Words are moved apart until each label fits on its own line, between the vertical lines of
other arcs that cross it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeAlias

PORT = 7.0  # between two ports
PAD = 8.0  # from a label to the next vertical line
_NEAR = 240.0  # from a dependent to the middle of its label, at most
_OWN = 6  # up to so many arcs to one side of a head have their own lines; more share one

_Line: TypeAlias = (
    "tuple[PlacedArc, ...]"  # arcs of one head to one side, shorter ones first; usually one
)


class PlacedArc(NamedTuple):
    """An arc to be placed; head 0 is the root."""

    head: int
    dependent: int
    label: float
    """The width of its label."""
    source: int = 0
    """Arcs from the margin of a row have different sources; only those of one may share a line."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The path of an arc: up from one port, across, and down to the other.

    Ports are numbered across all words. An arc from the root comes straight down, so both its
    ports are the same.
    """

    arc: PlacedArc
    start: int
    end: int
    level: int
    """1 is the lowest."""
    gaps: tuple[tuple[int, int], ...]
    """The pairs of ports between which no vertical line crosses the arc, from left to right."""


@dataclass(frozen=True, slots=True)
class Placement:
    """The arcs on one side of the words, above or below, before the words have positions."""

    arcs: tuple[Placed, ...]
    """The arcs, ordered by dependent."""
    word: tuple[int, ...]
    """The word of every port."""
    offset: tuple[float, ...]
    """The distance of every port to the right of the middle of its word."""

    @property
    def levels(self) -> int:
        return max((placed.level for placed in self.arcs), default=0)

    def widths(self, n: int) -> list[float]:
        """Return the least width of each of n words for its ports and the label of a root arc."""
        widths = [0.0] * n
        for word, offset in zip(self.word, self.offset, strict=True):
            widths[word - 1] = max(widths[word - 1], 2 * abs(offset) + PORT)
        for placed in self.arcs:
            if not placed.arc.head:
                k, shift = placed.arc.dependent - 1, 2 * abs(self.offset[placed.end])
                widths[k] = max(widths[k], placed.arc.label + shift)
        return widths

    def x(self, port: int, middles: Sequence[float]) -> float:
        """Return the position of a port, given the middles of the words."""
        return middles[self.word[port] - 1] + self.offset[port]

    def label_x(self, placed: Placed, middles: Sequence[float]) -> float:
        """Return the middle of a label: as close to the middle of its line as the gaps allow.

        On a long line it is close to the dependent instead, where readers look for it.
        """
        if not placed.gaps:
            return self.x(placed.end, middles)
        end = self.x(placed.end, middles)
        along = sum(self.x(port, middles) for port in (placed.gaps[0][0], placed.gaps[-1][1])) / 2
        best = min(max(along, end - _NEAR), end + _NEAR)
        half = placed.arc.label / 2 + PAD
        positions = []
        for gap in placed.gaps:
            left, right = (self.x(port, middles) for port in gap)
            if right - left >= 2 * half - 1e-6:
                positions.append(min(max(best, left + half), right - half))
        return min(positions, key=lambda x: abs(x - best))


def place(arcs: Sequence[PlacedArc], n: int, *, margins: Collection[int] = ()) -> Placement:
    """Assign ports, levels and gaps for labels to arcs over words 1…n.

    margins: words without width, all of whose ports are in the same place. The running time is
    proportional to the sum of the arcs' lengths, in words.
    """
    lines = _lines(arcs)
    ends = sorted(end for number, line in enumerate(lines) for end in _ends(number, line))
    word = tuple(end[0] for end in ends)
    counts = [0] * (n + 1)
    for k in word:
        counts[k] += 1
    firsts = list(accumulate(counts, initial=0))
    ports = {(end[-1], end[0]): port for port, end in enumerate(ends)}
    owner = [end[-1] for end in ends]
    levels = _levels(lines, ports, firsts)
    height = [levels[line] for line in owner]
    placed = []
    for number, line in enumerate(lines):
        before = start = ports[number, line[0].head or line[0].dependent]
        for arc in line:
            end = ports[number, arc.dependent]
            gaps = _gaps(min(before, end), max(before, end), height, levels[number])
            placed.append(Placed(arc, start, end, levels[number], gaps))
            before = end
    placed.sort(key=lambda placed: placed.arc.dependent)
    offset = tuple(
        0.0 if k in margins else (port - firsts[k] - (counts[k] - 1) / 2) * PORT
        for port, k in enumerate(word)
    )
    return Placement(tuple(placed), word, offset)


def spread(
    widths: Sequence[float], placements: Sequence[Placement], *, rooms: Sequence[float]
) -> list[float]:
    """Return the middles of words of these widths, as far left as the words and all labels allow.

    rooms: the least space before each word. A label with several gaps to choose from gets its space
    in the widest one.
    """
    fixed, loose = [], []
    for placement in placements:
        for placed in placement.arcs:
            if len(placed.gaps) == 1:
                fixed.append((placement, placed, placed.gaps[0]))
            elif placed.gaps:
                loose.append((placement, placed))
    middles = _spread(widths, rooms, fixed)
    if not loose:
        return middles
    for placement, placed in loose:
        roomiest = max(
            placed.gaps,
            key=lambda gap: placement.x(gap[1], middles) - placement.x(gap[0], middles),
        )
        fixed.append((placement, placed, roomiest))
    return _spread(widths, rooms, fixed)


def _spread(
    widths: Sequence[float],
    rooms: Sequence[float],
    labels: Sequence[tuple[Placement, Placed, tuple[int, int]]],
) -> list[float]:
    bounds: list[list[tuple[int, float]]] = [[] for _ in widths]  # per word: (earlier word, room)
    for placement, placed, (left, right) in labels:
        room = placed.arc.label + 2 * PAD + placement.offset[left] - placement.offset[right]
        bounds[placement.word[right] - 1].append((placement.word[left] - 1, room))
    middles: list[float] = []
    for k, (width, before) in enumerate(zip(widths, rooms, strict=True)):
        least = middles[-1] + widths[k - 1] / 2 if k else 0.0
        middles.append(
            max([least + before + width / 2, *(middles[i] + room for i, room in bounds[k])])
        )
    return middles


def _lines(arcs: Sequence[PlacedArc]) -> list[_Line]:
    """Group arcs into lines: most have a line of their own, some share one."""
    sides: dict[tuple[int, int, int], list[PlacedArc]] = {}
    for arc in arcs:
        side = 0 if not arc.head else -1 if arc.dependent < arc.head else 1
        sides.setdefault((arc.head, side, arc.source), []).append(arc)
    lines: list[_Line] = []
    for (head, *_), together in sides.items():
        if head and len(together) > _OWN:
            lines.append(tuple(sorted(together, key=lambda arc: abs(arc.dependent - head))))
        else:
            lines += [(arc,) for arc in together]
    return lines


def _ends(number: int, line: _Line) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield the ends of a line as sort keys for the order of ports: word, …, number."""
    last = line[-1]
    if not last.head:
        yield last.dependent, 1, 0, 0, number
        return
    for word, other in [(last.head, last.dependent), *((arc.dependent, arc.head) for arc in line)]:
        if other < word:
            yield word, 0, word - other, -number, number
        else:
            yield word, 2, word - other, number, number


def _levels(
    lines: Sequence[_Line], ports: dict[tuple[int, int], int], firsts: Sequence[int]
) -> list[int]:
    """Return the level of every line: short ones low, each above those it meets, roots on top."""
    reaches = []
    for number, line in enumerate(lines):
        head, far = line[-1].head, line[-1].dependent
        if head:
            left, right = sorted((ports[number, head], ports[number, far]))
        else:  # its label is as wide as its word
            left, right = firsts[far], firsts[far + 1] - 1
        reaches.append((not head, right - left, left, right, number))
    sky = [0] * firsts[-1]
    levels = [0] * len(lines)
    for _, _, left, right, number in sorted(reaches):
        level = levels[number] = 1 + max(sky[left : right + 1])
        sky[left : right + 1] = [level] * (right + 1 - left)
    return levels


def _gaps(left: int, right: int, height: Sequence[int], level: int) -> tuple[tuple[int, int], ...]:
    """Return the parts of a line between the vertical lines that cross it to higher levels."""
    if left == right:
        return ()
    crossing = [port for port in range(left + 1, right) if height[port] > level]
    return tuple(pairwise([left, *crossing, right]))
