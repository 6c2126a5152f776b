"""A drawing as plain shapes, which is what SVG, PNG and PDF are made of.

Lengths are pixels, y grows downwards. What a shape looks like is not said here: its role names a
style (`style.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text, centred on x; y is where its letters stand."""

    x: float
    y: float
    text: str
    role: str


@dataclass(frozen=True, slots=True)
class Path:
    """Lines and curves: steps of a letter of SVG (absolute M, L, Q, Z) and its numbers."""

    steps: tuple[tuple[str, tuple[float, ...]], ...]
    role: str
    width: float | None = None
    """Of the line, where it is not the role's."""


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
    """Shapes that are one thing: a word, an arc. `title` is read out and shown on hovering."""

    kind: str
    data: tuple[tuple[str, str], ...]
    title: str
    shapes: tuple[Shape, ...]


Shape: TypeAlias = Text | Path | Box


@dataclass(frozen=True, slots=True)
class Drawing:
    """Shapes on a sheet, back to front, with a name and a description in words."""

    width: float
    height: float
    title: str
    description: str
    parts: tuple[Shape | Group, ...]

    def shapes(self) -> Iterator[Shape]:
        """All shapes, back to front."""
        for part in self.parts:
            if isinstance(part, Group):
                yield from part.shapes
            else:
                yield part


def line(
    *points: tuple[float, float], radius: float = 0.0, role: str, width: float | None = None
) -> Path:
    """A line through points, its corners rounded."""
    steps: list[tuple[str, tuple[float, ...]]] = [("M", points[0])]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        steps.append(("L", _towards(corner, before, radius)))
        steps.append(("Q", (*corner, *_towards(corner, after, radius))))
    steps.append(("L", points[-1]))
    return Path(tuple(steps), role, width)


def polygon(*points: tuple[float, float], role: str) -> Path:
    """A filled shape with these corners."""
    first, *others = points
    return Path((("M", first), *(("L", point) for point in others), ("Z", ())), role)


def data(**values: object) -> tuple[tuple[str, str], ...]:
    """The names and values that a shape carries."""
    return tuple((name, str(value)) for name, value in values.items())


def _towards(start: Sequence[float], end: Sequence[float], length: float) -> tuple[float, float]:
    dx, dy = end[0] - start[0], end[1] - start[1]
    whole = abs(dx) + abs(dy)  # lines here run along an axis
    share = min(length, whole / 2) / whole if whole else 0.0
    return start[0] + dx * share, start[1] + dy * share
