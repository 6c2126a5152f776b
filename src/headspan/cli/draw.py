"""headspan draw: draw trees and headed spans, in the terminal or as pictures."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from headspan import conllu
from headspan.cli.options import Force, Input, terminal, with_progress
from headspan.cli.tree_text import tree_text
from headspan.conllu import Sentence
from headspan.plumbing.errors import HeadspanError
from headspan.render import View, draw_spans
from headspan.tree import NotProjective

if TYPE_CHECKING:
    from headspan.render.shapes import Drawing

_COLOURS = ("bright_blue", "green", "magenta", "yellow", "cyan", "red")


def draw(
    source: Input,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Picture file: .svg or .png for one sentence, .html or .pdf for all; - is SVG.",
        ),
    ] = None,
    view: Annotated[
        View | None,
        typer.Option(help="What to draw. Default: spans in the terminal, arcs in a picture."),
    ] = None,
    sentence: Annotated[
        str | None,
        typer.Option(
            metavar="S", help="Draw only this sentence: its number, from 1, or its sent_id."
        ),
    ] = None,
    other: Annotated[
        str | None,
        typer.Option(
            "--with",
            metavar="OTHER",
            help="Other trees over the words of IN, to compare arcs with.",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Draw the arcs of sentences, their headed spans, or both.

    In the terminal, headed spans are brackets under the words, one line per level of the tree, with
    each head under the word itself. The numbers between the words are the fenceposts. In a picture,
    headed spans are nested rectangles.
    """
    if output is None:
        if other is not None:
            raise HeadspanError("--with needs -o OUT: the terminal shows only one tree")
        _in_terminal(source, sentence, view or "spans")
        return
    if other is not None and view == "spans":
        raise HeadspanError("--with compares arcs; expected --view arcs or --view both")
    from headspan.render.pictures import save

    drawings = with_progress(_drawings(source, sentence, view or "arcs", other), "sentences")
    if lacking := save(drawings, output, overwrite=force):
        print(
            f"headspan: no font has {' '.join(lacking)}; boxes are drawn instead", file=sys.stderr
        )


def _in_terminal(source: str, which: str | None, view: View) -> None:
    console = terminal()
    for at, (place, sentence) in enumerate(_sentences(source, which)):
        if at:
            console.print()
        with _naming(place):
            if view != "spans":
                console.print(tree_text(sentence), end="" if view == "arcs" else "\n")
            if view != "arcs":
                _draw_spans(console, sentence)


def _drawings(source: str, which: str | None, view: View, other: str | None) -> Iterator[Drawing]:
    from headspan.render.pictures import picture

    sentences = _sentences(source, which)
    if other is None:
        for place, sentence in sentences:
            with _naming(place):
                drawing = picture(sentence, view=view)
            yield drawing
        return
    for first, second in zip_longest(sentences, _sentences(other, which)):
        if first is None or second is None:
            place, lacking = (second[0], source) if first is None else (first[0], other)
            raise HeadspanError(f"{place}: there is no such sentence in {lacking}")
        with _naming(first[0]):
            drawing = picture(first[1], view=view, other=second[1])
        yield drawing


def _sentences(source: str, which: str | None) -> Iterator[tuple[str, Sentence]]:
    """Yield the sentences with words, or only the chosen one, each with its place in the file."""
    number = 0
    with conllu.read(source) as reader:
        for sentence in reader:
            if not len(sentence):
                continue
            number += 1
            if which is None or which == (str(number) if which.isdigit() else sentence.sent_id):
                yield f"{reader.name}: sentence {number}", sentence
                if which is not None:
                    return
        if which is not None:
            raise HeadspanError(f"{reader.name}: there is no sentence {which} among its {number}")


@contextmanager
def _naming(place: str) -> Iterator[None]:
    """Name the sentence in errors."""
    try:
        yield
    except NotProjective as error:
        raise HeadspanError(
            f"{place}: {error}; `headspan projectivize` makes it projective"
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
