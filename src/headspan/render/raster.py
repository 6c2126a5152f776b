"""Drawings as PNG and PDF, through matplotlib, which is imported when it is needed.

It brings a font of its own; what that lacks is looked for in the fonts that are installed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, BinaryIO

from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.extras import needed_for
from headspan.render.shapes import Drawing, Path, Shape, Text
from headspan.render.style import PALETTE, STYLES, Style
from headspan.render.widths import clusters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FONT = "DejaVu Sans"
_BOX = "□"
_POINTS = 72  # an inch; a pixel of a drawing is a point
_PNG, _PDF = 65_000, 14_400  # the largest sides of a picture, in pixels, and of a page, in points
_PIXELS = 100e6  # of a picture, at most
_READABLE = 10  # times the largest side; what is larger would be shrunk beyond reading
_SHARP = 2.0  # pixels of a picture for one of the drawing
_SETTINGS: Any = {
    "lines.scale_dashes": False,
    "pdf.fonttype": 42,  # text stays text
    "svg.hashsalt": "headspan",
}


def check_matplotlib(doing: str = "drawing PNG and PDF") -> None:
    """Raise HeadspanError, saying what cannot be done, unless matplotlib is there."""
    with needed_for(doing, extra="plot"):
        import matplotlib  # noqa: F401


def write_png(drawing: Drawing, stream: BinaryIO) -> None:
    """Write a drawing as PNG, at twice its size unless it is too large for that."""
    width, height = drawing.width, drawing.height
    _check_readable(drawing, _PNG, "PNG")
    scale = min(_SHARP, _PNG / max(width, height), (_PIXELS / (width * height)) ** 0.5)
    with _matplotlib():
        figure = _figure(drawing, 1.0)
        figure.savefig(stream, format="png", dpi=scale * _POINTS, metadata={"Software": None})


def write_pdf(drawings: Iterable[Drawing], stream: BinaryIO) -> None:
    """Write drawings as PDF, a page each, as large as the drawing."""
    with _matplotlib():
        from matplotlib.backends.backend_pdf import PdfPages

        about = {"CreationDate": None, "Producer": None, "Creator": "headspan"}
        with PdfPages(stream, metadata=about) as pages:
            for drawing in drawings:
                _check_readable(drawing, _PNG, "PDF")
                scale = min(1.0, _PDF / max(drawing.width, drawing.height))
                pages.savefig(_figure(drawing, scale))


def _check_readable(drawing: Drawing, side: int, kind: str) -> None:
    longest = max(drawing.width, drawing.height)
    if longest > _READABLE * side:
        raise HeadspanError(
            f"the drawing is {longest:,.0f} pixels long; at most {_READABLE * side:,} make a "
            f"{kind} that can be read: save it as .svg or .html"
        )


def missing(drawing: Drawing) -> set[str]:
    """The characters of a drawing that no font here has."""
    found = {c for shape in drawing.shapes() if isinstance(shape, Text) for c in shape.text}
    return {character for character in found if _font_with(character) is None}


@contextmanager
def _matplotlib() -> Iterator[None]:
    check_matplotlib()
    from matplotlib import rc_context

    with rc_context(_SETTINGS):
        yield


def _figure(drawing: Drawing, scale: float) -> Figure:
    from matplotlib.figure import Figure

    inches = drawing.width * scale / _POINTS, drawing.height * scale / _POINTS
    figure = Figure(figsize=inches, facecolor=PALETTE["paper"][0])
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(0, drawing.width)
    axes.set_ylim(drawing.height, 0)
    for order, shape in zip(count(1), drawing.shapes(), strict=False):
        _draw(axes, shape, order, scale)
    return figure


def _draw(axes: Axes, shape: Shape, order: int, scale: float) -> None:
    from matplotlib import patches
    from matplotlib.path import Path as Outline

    style = STYLES[shape.role]
    if isinstance(shape, Text):
        text = _drawn(shape.text)
        axes.text(
            shape.x, shape.y, text,
            fontsize=style.size * scale, color=_colour(style.fill), zorder=order, parse_math=False,
            family=_families(text), weight="bold" if style.bold else "normal",
            horizontalalignment="center", verticalalignment="baseline",
        )  # fmt: skip
    elif isinstance(shape, Path):
        codes = {"M": [Outline.MOVETO], "L": [Outline.LINETO], "Q": [Outline.CURVE3] * 2}
        points: list[tuple[float, float]] = []
        kinds: list[Any] = []
        for letter, numbers in shape.steps:
            if letter == "Z":
                points.append(points[0])
                kinds.append(Outline.CLOSEPOLY)
            else:
                points += zip(numbers[::2], numbers[1::2], strict=True)
                kinds += codes[letter]
        look = _look(style, scale, shape.width)
        axes.add_patch(patches.PathPatch(Outline(points, kinds), zorder=order, **look))
    else:
        rounded = f"round,pad=0,rounding_size={shape.radius}"
        corner, look = (shape.x, shape.y), _look(style, scale)
        axes.add_patch(
            patches.FancyBboxPatch(corner, shape.width, shape.height, rounded, zorder=order, **look)
        )


def _look(style: Style, scale: float, width: float | None = None) -> dict[str, Any]:
    return {
        "facecolor": _colour(style.fill),
        "edgecolor": _colour(style.stroke),
        "linewidth": (width or style.width) * scale,
        "linestyle": (0, tuple(scale * d for d in style.dash)) if style.dash else "solid",
    }


def _colour(name: str | None) -> str:
    return PALETTE[name][0] if name else "none"


def _drawn(text: str) -> str:
    """A text with a box for everything that no font has."""
    return "".join(cluster if all(map(_font_with, cluster)) else _BOX for cluster in clusters(text))


def _families(text: str) -> list[str]:
    """The font, and what is needed beside it."""
    others = (_font_with(character) for character in text)
    return list(dict.fromkeys([_FONT, *(name for name in others if name)]))


@cache
def _font_with(character: str) -> str | None:
    """A font that has a character: our own if it can be, else the first by name."""
    from matplotlib.font_manager import findfont, fontManager

    if unicodedata.category(character) in ("Cf", "Mn"):
        return _FONT  # it shows in what it belongs to, or not at all
    if ord(character) in _characters(findfont(_FONT)):
        return _FONT
    upright = (font for font in fontManager.ttflist if (font.style, font.weight) == ("normal", 400))
    for font in sorted(upright, key=lambda font: (font.name, font.fname)):
        if not font.name.startswith("Last Resort") and ord(character) in _characters(font.fname):
            return font.name
    return None


@cache
def _characters(path: str) -> frozenset[int]:
    """What a font has; nothing if it cannot be used, such as one of coloured bitmaps."""
    from matplotlib.font_manager import get_font

    try:
        return frozenset(get_font(path).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()
