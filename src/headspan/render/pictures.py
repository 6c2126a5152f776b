"""Draw sentences and save the drawings as SVG, HTML, PNG or PDF."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import open_output
from headspan.render import raster
from headspan.render.arcs import arcs_drawing
from headspan.render.drawable import Drawable, View
from headspan.render.page import html_page
from headspan.render.rows import WIDTH
from headspan.render.shapes import Drawing, stacked
from headspan.render.spans import spans_drawing
from headspan.render.svg import to_svg

_ONE, _MANY = (".svg", ".png"), (".html", ".pdf")


def picture(
    sentence: Drawable,
    *,
    view: View = "arcs",
    other: Drawable | None = None,
    width: float = WIDTH,
) -> Drawing:
    """Draw a sentence's arcs, its headed spans, or both, one below the other.

    other: another tree over the same words, to compare the arcs with. width: that of the drawing,
    in pixels; a longer sentence continues in another row.
    """
    drawings = []
    if view != "spans":
        drawings.append(arcs_drawing(sentence, other=other, width=width))
    if view != "arcs":
        drawings.append(spans_drawing(sentence, width=width))
    return replace(stacked(drawings), name=sentence.sent_id or "")


def save(
    drawings: Iterable[Drawing], path: str | os.PathLike[str], *, overwrite: bool = True
) -> str:
    """Write drawings to a file in the format of its name; nothing is written if something fails.

    An .svg or .png holds one drawing, an .html or .pdf any number; `-` writes SVG to standard
    output. PNG and PDF need matplotlib. Returns the characters that no installed font has; a PNG or
    PDF shows boxes for them.
    """
    name = os.fspath(path)
    kind = ".svg" if name == "-" else Path(name).suffix.lower()
    if kind not in _ONE + _MANY:
        expected = ", ".join(_ONE + _MANY)
        raise HeadspanError(
            f"{name}: is not a picture format; expected a name that ends in {expected}"
        )
    if kind in (".png", ".pdf"):
        raster.check_matplotlib()
    remaining = iter(drawings)
    start = list(islice(remaining, 2))
    if not start:
        raise HeadspanError(f"{name}: there are no sentences to draw")
    if len(start) > 1 and kind in _ONE:
        raise HeadspanError(
            f"{name}: can hold one sentence, but there are more "
            "(choose one with --sentence, or write .html or .pdf)"
        )
    all_drawings = chain(start, remaining)
    lacking: set[str] = set()
    with open_output(path, overwrite=overwrite) as stream:
        if kind == ".html":
            for piece in html_page(_captioned(all_drawings), title=Path(name).stem):
                stream.write(piece.encode())
        elif kind == ".pdf":
            raster.write_pdf(_watched(all_drawings, lacking), stream)
        elif kind == ".png":
            raster.write_png(next(_watched(all_drawings, lacking)), stream)
        else:
            stream.write(to_svg(start[0]).encode())
    return "".join(sorted(lacking))


def _captioned(drawings: Iterable[Drawing]) -> Iterator[tuple[str, Drawing]]:
    for number, drawing in enumerate(drawings, 1):
        yield drawing.name or str(number), drawing


def _watched(drawings: Iterable[Drawing], lacking: set[str]) -> Iterator[Drawing]:
    """Yield the drawings; add the characters that no font has to `lacking`."""
    for drawing in drawings:
        lacking.update(raster.missing(drawing))
        yield drawing
