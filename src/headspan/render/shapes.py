"""A drawing as plain shapes, from which SVG, PNG and PDF are made.

Lengths are in pixels, and y grows downwards. The role of a shape names its style in `style.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text, centred on x, with its baseline at y."""

    x: float
    y: float
    text: str
    role: str


@dataclass(frozen=True, slots=True)
class Path:
    """Lines and curves, as steps: a command of SVG (absolute M, L, Q, Z) and its numbers."""

    steps: tuple[tuple[str, tuple[float, ...]], ...]
    role: str
    width: float | None = None
    """The line width, if it differs from that of the role."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with rounded corners."""

    x: float
    y: float
    width: float
    height: float
    radius: float
    role: str


@dataclass(frozen=True, slots=True)
class Group:
    """The shapes of a word, an arc, etc. Its `title` is read out, and shown on hovering."""

    kind: str
    data: tuple[tuple[str, str], ...]
    title: str
    shapes: tuple[Shape, ...]


Shape: TypeAlias = Text | Path | Box


@dataclass(frozen=True, slots=True)
class Drawing:
    """Shapes from back to front, with a title and a description in words."""

    width: float
    height: float
    title: str
    description: str
    parts: tuple[Shape | Group, ...]
    name: str = ""
    """Its name among several drawings."""

    def shapes(self) -> Iterator[Shape]:
        """Yield all shapes, back to front."""
        for part in self.parts:
            if isinstance(part, Group):
                yield from part.shapes
            else:
                yield part


def stacked(drawings: Sequence[Drawing]) -> Drawing:
    """Combine drawings into one, each below the previous."""
    parts: list[Shape | Group] = []
    top = 0.0
    for drawing in drawings:
        for part in drawing.parts:
            if isinstance(part, Group):
                parts.append(replace(part, shapes=tuple(_lowered(s, top) for s in part.shapes)))
            else:
                parts.append(_lowered(part, top))
        top += drawing.height
    titles = dict.fromkeys(drawing.title for drawing in drawings)
    return Drawing(
        max(drawing.width for drawing in drawings),
        top,
        " ".join(titles),
        " ".join(drawing.description for drawing in drawings),
        tuple(parts),
    )


def _lowered(shape: Shape, by: float) -> Shape:
    if not isinstance(shape, Path):
        return replace(shape, y=shape.y + by)
    steps = [
        (letter, tuple(number + by * (at % 2) for at, number in enumerate(numbers)))
        for letter, numbers in shape.steps
    ]
    return replace(shape, steps=tuple(steps))


def line(
    *points: tuple[float, float], radius: float = 0.0, role: str, width: float | None = None
) -> Path:
    """Make a line through points, with rounded corners."""
    steps: list[tuple[str, tuple[float, ...]]] = [("M", points[0])]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        steps.append(("L", _towards(corner, before, radius)))
        steps.append(("Q", (*corner, *_towards(corner, after, radius))))
    steps.append(("L", points[-1]))
    return Path(tuple(steps), role, width)


def polygon(*points: tuple[float, float], role: str) -> Path:
    """Make a filled shape with these corners."""
    first, *others = points
    return Path((("M", first), *(("L", point) for point in others), ("Z", ())), role)


def data(**values: object) -> tuple[tuple[str, str], ...]:
    """Make the data attributes of a group."""
    return tuple((name, str(value)) for name, value in values.items())


def _towards(start: Sequence[float], end: Sequence[float], length: float) -> tuple[float, float]:
    dx, dy = end[0] - start[0], end[1] - start[1]
    distance = abs(dx) + abs(dy)  # lines are horizontal or vertical
    share = min(length, distance / 2) / distance if distance else 0.0
    return start[0] + dx * share, start[1] + dy * share
