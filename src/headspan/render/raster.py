"""Write drawings as PNG and PDF with matplotlib, which is imported only when needed.

matplotlib has its own font; characters that it lacks come from the fonts that are installed.
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
_POINTS = 72  # per inch; a pixel of a drawing is a point
_PNG, _PDF = 65_000, 14_400  # the longest sides of a PNG, in pixels, and a PDF page, in points
_PIXELS = 100e6  # the most pixels of a PNG
_LONGEST = 10 * _PNG  # of a drawing; longer ones would be scaled down until nobody can read them
_SHARP = 2.0  # pixels of a PNG per pixel of the drawing
_SETTINGS: Any = {
    "lines.scale_dashes": False,
    "pdf.fonttype": 42,  # text stays text
    "svg.hashsalt": "headspan",
}


def check_matplotlib(doing: str = "drawing PNG and PDF") -> None:
    """Raise HeadspanError, which says what cannot be done, unless matplotlib is installed."""
    with needed_for(doing, extra="plot"):
        import matplotlib  # noqa: F401


def write_png(drawing: Drawing, stream: BinaryIO) -> None:
    """Write a drawing as PNG, at twice its size unless that is too large."""
    width, height = drawing.width, drawing.height
    _check_readable(drawing, "PNG")
    scale = min(_SHARP, _PNG / max(width, height), (_PIXELS / (width * height)) ** 0.5)
    with _matplotlib():
        figure = _figure(drawing, 1.0)
        figure.savefig(stream, format="png", dpi=scale * _POINTS, metadata={"Software": None})


def write_pdf(drawings: Iterable[Drawing], stream: BinaryIO) -> None:
    """Write drawings as PDF, each on a page of its own size."""
    with _matplotlib():
        from matplotlib.backends.backend_pdf import PdfPages

        about = {"CreationDate": None, "Producer": None, "Creator": "headspan"}
        with PdfPages(stream, metadata=about) as pages:
            for drawing in drawings:
                _check_readable(drawing, "PDF")
                scale = min(1.0, _PDF / max(drawing.width, drawing.height))
                pages.savefig(_figure(drawing, scale))


def _check_readable(drawing: Drawing, kind: str) -> None:
    length = max(drawing.width, drawing.height)
    if length > _LONGEST:
        raise HeadspanError(
            f"the drawing is {length:,.0f} pixels long; expected at most {_LONGEST:,} for {kind}: "
            "save it as .svg or .html"
        )


def missing(drawing: Drawing) -> set[str]:
    """Return the characters of a drawing that no installed font has."""
    texts = (shape.text for shape in drawing.shapes() if isinstance(shape, Text))
    return {character for character in set().union(*texts) if _font_with(character) is None}


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
    from matplotlib.path import Path as Curve

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
        codes = {"M": [Curve.MOVETO], "L": [Curve.LINETO], "Q": [Curve.CURVE3] * 2}
        points: list[tuple[float, float]] = []
        kinds: list[Any] = []
        for letter, numbers in shape.steps:
            if letter == "Z":
                points.append(points[0])
                kinds.append(Curve.CLOSEPOLY)
            else:
                points += zip(numbers[::2], numbers[1::2], strict=True)
                kinds += codes[letter]
        look = _look(style, scale, shape.width)
        axes.add_patch(patches.PathPatch(Curve(points, kinds), zorder=order, **look))
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
    """Return a text with a box for everything that no font has."""
    return "".join(cluster if all(map(_font_with, cluster)) else _BOX for cluster in clusters(text))


def _families(text: str) -> list[str]:
    """Return our font and the other fonts that a text needs."""
    others = (_font_with(character) for character in text)
    return list(dict.fromkeys([_FONT, *(name for name in others if name)]))


@cache
def _font_with(character: str) -> str | None:
    """Return a font that has a character: ours if possible, else the first by name."""
    from matplotlib.font_manager import findfont, fontManager

    if unicodedata.category(character) in ("Cf", "Mn"):
        return _FONT  # drawn with its base character, or not at all
    if ord(character) in _characters(findfont(_FONT)):
        return _FONT
    upright = (font for font in fontManager.ttflist if (font.style, font.weight) == ("normal", 400))
    for font in sorted(upright, key=lambda font: (font.name, font.fname)):
        if not font.name.startswith("Last Resort") and ord(character) in _characters(font.fname):
            return font.name
    return None


@cache
def _characters(path: str) -> frozenset[int]:
    """Return the characters of a font; none if it cannot be used, such as colour bitmap fonts."""
    from matplotlib.font_manager import get_font

    try:
        return frozenset(get_font(path).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()
