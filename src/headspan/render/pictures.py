"""Pictures of sentences as files: SVG, HTML, PNG, PDF."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Literal, TypeAlias

from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import open_output
from headspan.render import raster
from headspan.render.arcs import arcs_drawing
from headspan.render.drawable import Drawable
from headspan.render.page import html_page
from headspan.render.shapes import Drawing, stacked
from headspan.render.spans import spans_drawing
from headspan.render.svg import to_svg

View: TypeAlias = Literal["arcs", "spans", "both"]

_ONE, _MANY = (".svg", ".png"), (".html", ".pdf")


def picture(sentence: Drawable, *, view: View = "arcs", other: Drawable | None = None) -> Drawing:
    """A sentence's arcs, its headed spans, or both below each other, ready to be saved.

    other: another tree over the same words, with which the arcs are compared.
    """
    found = []
    if view != "spans":
        found.append(arcs_drawing(sentence, other=other))
    if view != "arcs":
        found.append(spans_drawing(sentence))
    return replace(stacked(found), name=sentence.sent_id or "")


def save(
    drawings: Iterable[Drawing], path: str | os.PathLike[str], *, overwrite: bool = True
) -> str:
    """Write drawings to a file, whole or not at all; its name says what it becomes.

    A .svg or .png holds one drawing, a .html or .pdf any number; `-` is standard output, as SVG.
    PNG and PDF need matplotlib. Gives the characters that no font here has, which can only be some
    for PNG and PDF: boxes stand for them.
    """
    name = os.fspath(path)
    kind = ".svg" if name == "-" else Path(name).suffix.lower()
    if kind not in _ONE + _MANY:
        expected = ", ".join(_ONE + _MANY)
        raise HeadspanError(f"{name}: is no kind of picture; expected a name in {expected}")
    if kind in (".png", ".pdf"):
        raster.check_matplotlib()
    waiting = iter(drawings)
    start = list(islice(waiting, 2))
    if not start:
        raise HeadspanError(f"{name}: there is no sentence to draw")
    if len(start) > 1 and kind in _ONE:
        raise HeadspanError(
            f"{name}: holds one sentence, and there are more "
            "(--sentence chooses one; .html and .pdf hold many)"
        )
    found = chain(start, waiting)
    lacking: set[str] = set()
    with open_output(path, overwrite=overwrite) as stream:
        if kind == ".html":
            for piece in html_page(_captioned(found), title=Path(name).stem):
                stream.write(piece.encode())
        elif kind == ".pdf":
            raster.write_pdf(_watched(found, lacking), stream)
        elif kind == ".png":
            raster.write_png(next(_watched(found, lacking)), stream)
        else:
            stream.write(to_svg(start[0]).encode())
    return "".join(sorted(lacking))


def _captioned(drawings: Iterable[Drawing]) -> Iterator[tuple[str, Drawing]]:
    for number, drawing in enumerate(drawings, 1):
        yield drawing.name or str(number), drawing


def _watched(drawings: Iterable[Drawing], lacking: set[str]) -> Iterator[Drawing]:
    """The drawings, while it is noted what they need that no font has."""
    for drawing in drawings:
        lacking.update(raster.missing(drawing))
        yield drawing
