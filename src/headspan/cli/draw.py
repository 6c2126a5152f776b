"""headspan draw: trees and their headed spans, in the terminal or as pictures."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.text import Text

from headspan import conllu
from headspan.cli.options import Force, Input, terminal, with_progress
from headspan.cli.tree_text import tree_text
from headspan.conllu import Sentence
from headspan.plumbing.errors import HeadspanError
from headspan.render import draw_spans
from headspan.tree import NotProjective

if TYPE_CHECKING:
    from headspan.render.shapes import Drawing

_COLOURS = ("bright_blue", "green", "magenta", "yellow", "cyan", "red")
_View = Literal["arcs", "spans", "both"]


def draw(
    source: Input,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="A picture: .svg or .png of one sentence, .html or .pdf of all; - is SVG.",
        ),
    ] = None,
    view: Annotated[
        _View | None,
        typer.Option(help="What to draw; else spans in the terminal, arcs in a picture."),
    ] = None,
    sentence: Annotated[
        str | None,
        typer.Option(metavar="S", help="Only this sentence: its number from 1, or its sent_id."),
    ] = None,
    other: Annotated[
        str | None,
        typer.Option("--with", metavar="OTHER", help="Other trees of IN, to compare arcs with."),
    ] = None,
    force: Force = False,
) -> None:
    """Draw the arcs of sentences, and their headed spans.

    In the terminal, headed spans are brackets under the words, a line for each level of the tree,
    with the head word of each at its own place; between the words are the numbers of fenceposts. In
    a picture they are nested rectangles.
    """
    if output is None:
        if other is not None:
            raise HeadspanError("--with needs -o OUT: the terminal has room for one tree")
        _in_terminal(source, sentence, view or "spans")
        return
    if other is not None and view == "spans":
        raise HeadspanError("--with compares arcs; expected --view arcs or both")
    from headspan.render.pictures import save

    drawings = with_progress(_drawings(source, sentence, view or "arcs", other), "sentences")
    if lacking := save(drawings, output, overwrite=force):
        print(f"headspan: no font here has {' '.join(lacking)}; boxes are drawn", file=sys.stderr)


def _in_terminal(source: str, which: str | None, view: _View) -> None:
    console = terminal()
    for at, (place, sentence) in enumerate(_sentences(source, which)):
        if at:
            console.print()
        with _naming(place):
            if view != "spans":
                console.print(tree_text(sentence), end="" if view == "arcs" else "\n")
            if view != "arcs":
                _draw_spans(console, sentence)


def _drawings(source: str, which: str | None, view: _View, other: str | None) -> Iterator[Drawing]:
    from headspan.render.pictures import picture

    found = _sentences(source, which)
    if other is None:
        for place, sentence in found:
            with _naming(place):
                drawing = picture(sentence, view=view)
            yield drawing
        return
    for first, second in zip_longest(found, _sentences(other, which)):
        if first is None or second is None:
            place, lacking = (second[0], source) if first is None else (first[0], other)
            raise HeadspanError(f"{place}: is not in {lacking}")
        with _naming(first[0]):
            drawing = picture(first[1], view=view, other=second[1])
        yield drawing


def _sentences(source: str, which: str | None) -> Iterator[tuple[str, Sentence]]:
    """The sentences that have words, or the one that is wanted, each with where it stands."""
    found, number = False, 0
    with conllu.read(source) as reader:
        for sentence in reader:
            if not len(sentence):
                continue
            number += 1
            if which is None or which == (str(number) if which.isdigit() else sentence.sent_id):
                found = True
                yield f"{reader.name}: sentence {number}", sentence
                if which is not None:
                    return
        if which is not None and not found:
            raise HeadspanError(f"{reader.name}: has no sentence {which} among its {number}")


@contextmanager
def _naming(place: str) -> Iterator[None]:
    """Say in errors which sentence they are about."""
    try:
        yield
    except NotProjective as error:
        raise HeadspanError(
            f"{place}: {error}; its headed spans exist after `headspan projectivize`"
        ) from error
    except HeadspanError as error:
        raise HeadspanError(f"{place}: {error}") from error


def _draw_spans(console: Console, sentence: Sentence) -> None:
    panels = draw_spans(sentence, width=console.width if console.is_terminal else 80)
    for at, (words, fenceposts, *levels) in enumerate(panels):
        drawing = Text("\n" if at else "")
        drawing.append(words + "\n", style="bold")
        drawing.append(fenceposts, style="dim")
        for depth, line in enumerate(levels):
            drawing.append("\n" + line, style=_COLOURS[depth % len(_COLOURS)])
        console.print(drawing)
