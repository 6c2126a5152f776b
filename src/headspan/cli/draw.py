"""headspan draw: draw trees and headed spans, in the terminal or as pictures."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.console import Console
from rich.text import Text

from headspan import conllu
from headspan.cli.input_files import Inputs
from headspan.cli.options import AsText, Force, Model, load_parser, terminal, with_progress
from headspan.cli.tree_text import tree_text
from headspan.conllu import Sentence
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import input_name
from headspan.render import WIDTH, View, draw_spans
from headspan.tree import NotProjective

if TYPE_CHECKING:
    from headspan.render.shapes import Drawing

_COLOURS = ("bright_blue", "green", "magenta", "yellow", "cyan", "red")


def draw(
    source: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="CoNLL-U or CoNLL-X file, whose trees are drawn; or text, a text file or - for "
            "standard input, whose sentences are parsed first.",
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Picture file: .svg or .png for one sentence, .html or .pdf for all; - is SVG "
            "on standard output.",
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
            help="File with other trees over the same words; arcs that differ are marked.",
        ),
    ] = None,
    width: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="PIXELS",
            help="Width of a picture; longer sentences continue in another row. Default: 1000.",
        ),
    ] = None,
    model: Model = "en",
    text: AsText = False,
    force: Force = False,
) -> None:
    """Draw the arcs of sentences, their headed spans, or both.

    In the terminal, headed spans are brackets under the words, one line per level of the tree, with
    each head under the word itself. The numbers between the words are the fenceposts. In a picture,
    headed spans are nested rectangles.
    """
    if output is None and other is not None:
        raise HeadspanError("--with needs -o OUT: the terminal shows only one tree")
    if output is None and width is not None:
        raise HeadspanError("--width needs -o OUT: the terminal has its own width")
    if other is not None and view == "spans":
        raise HeadspanError("--with compares arcs; expected --view arcs or --view both")
    inputs = Inputs([source], text=text)
    with ExitStack() as opened:  # files are closed at once, also after an error
        sentences = opened.enter_context(closing(inputs.sentences(partial(_parsed, model))))
        trees = _Trees(inputs.shown(source), sentences)
        if output is None:
            _in_terminal(trees, sentence, view or "spans")
            return
        others = None
        if other is not None:
            others = _Trees(input_name(other), opened.enter_context(conllu.read(other)))
        drawings = _drawings(trees, sentence, view or "arcs", others, width or WIDTH)
        _save(drawings, output, force=force)


def _save(drawings: Iterator[Drawing], output: str, *, force: bool) -> None:
    from headspan.render.pictures import save

    if lacking := save(with_progress(drawings, "sentences"), output, overwrite=force):
        print(
            f"headspan: no font has {' '.join(lacking)}; boxes are drawn instead", file=sys.stderr
        )


class _Trees(NamedTuple):
    """Sentences, and the name of their input for messages."""

    name: str
    sentences: Iterable[Sentence]


def _parsed(model: str, pieces: Iterator[str]) -> Iterator[Sentence]:
    """Parse a text; the model is loaded only here, since treebanks do not need it."""
    parser = load_parser(model, int8=None)
    yield from parser.parse_stream(parser.sentences(pieces))


def _in_terminal(trees: _Trees, which: str | None, view: View) -> None:
    console = terminal()
    for at, (place, sentence) in enumerate(_chosen(trees, which)):
        if at:
            console.print()
        with _naming(place):
            if view != "spans":
                console.print(tree_text(sentence), end="" if view == "arcs" else "\n")
            if view != "arcs":
                _draw_spans(console, sentence)


def _drawings(
    trees: _Trees, which: str | None, view: View, others: _Trees | None, width: float
) -> Iterator[Drawing]:
    from headspan.render.pictures import picture

    sentences = _chosen(trees, which)
    if others is None:
        for place, sentence in sentences:
            with _naming(place):
                drawing = picture(sentence, view=view, width=width)
            yield drawing
        return
    for first, second in zip_longest(sentences, _chosen(others, which)):
        if first is None or second is None:
            place, lacking = (second[0], trees.name) if first is None else (first[0], others.name)
            raise HeadspanError(f"{place}: there is no such sentence in {lacking}")
        with _naming(first[0]):
            drawing = picture(first[1], view=view, other=second[1], width=width)
        yield drawing


def _chosen(trees: _Trees, which: str | None) -> Iterator[tuple[str, Sentence]]:
    """Yield the sentences with words, or only the chosen one, each with its place in the input."""
    number = 0
    for sentence in trees.sentences:
        if not len(sentence):
            continue
        number += 1
        if which is None or which == (str(number) if which.isdigit() else sentence.sent_id):
            yield f"{trees.name}: sentence {number}", sentence
            if which is not None:
                return
    if which is not None:
        sentences = "1 sentence" if number == 1 else f"{number:,} sentences"
        raise HeadspanError(f"{trees.name}: there is no sentence {which}; found {sentences}")


@contextmanager
def _naming(place: str) -> Iterator[None]:
    """Name the sentence in errors."""
    try:
        yield
    except NotProjective as error:
        raise HeadspanError(
            f"{place}: {error}; --view arcs draws it as it is, and `headspan projectivize` makes "
            "it projective"
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
