"""headspan draw: the headed spans of a sentence."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from headspan import conllu
from headspan.cli.options import Input, terminal
from headspan.conllu import Sentence
from headspan.errors import HeadspanError
from headspan.render import draw_spans
from headspan.tree import NotProjective, TreeError

_COLOURS = ("bright_blue", "green", "magenta", "yellow", "cyan", "red")


def draw(source: Input) -> None:
    """Draw the headed spans of every sentence in the terminal.

    Under the words stand the fenceposts between them, then a line for each level of the tree: a
    bracket for each headed span, with its head word at its own place. In colour in a terminal.
    """
    console = terminal()
    with conllu.read(source) as reader:
        number = 0
        for sentence in reader:
            if not len(sentence):
                continue
            number += 1
            if number > 1:
                console.print()
            _draw(console, sentence, f"{reader.name}: sentence {number}")


def _draw(console: Console, sentence: Sentence, place: str) -> None:
    width = console.width if console.is_terminal else 80
    try:
        panels = draw_spans(sentence, width=width)
    except NotProjective as error:
        raise HeadspanError(
            f"{place}: {error}; its headed spans exist after `headspan projectivize`"
        ) from error
    except TreeError as error:
        raise HeadspanError(f"{place}: {error}") from error
    for at, (words, fenceposts, *levels) in enumerate(panels):
        drawing = Text("\n" if at else "")
        drawing.append(words + "\n", style="bold")
        drawing.append(fenceposts, style="dim")
        for depth, line in enumerate(levels):
            drawing.append("\n" + line, style=_COLOURS[depth % len(_COLOURS)])
        console.print(drawing)
