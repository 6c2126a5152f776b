"""Draw a tree in the terminal, in colour."""

from __future__ import annotations

from rich.text import Text

from headspan.conllu import Sentence
from headspan.render import confidences, draw_tree
from headspan.render.style import step
from headspan.render.widths import columns

_SURE = ("bold red", "red", "yellow", "dim", "dim")  # by level of confidence


def tree_text(sentence: Sentence) -> Text:
    """Draw the tree, one line per word, with the confidence of every arc if it is known."""
    drawn = Text()
    lines = draw_tree(sentence)
    widest = max((columns(line.relation) for line in lines), default=0)
    for line, confidence in zip(lines, confidences(sentence), strict=True):
        drawn.append(line.branches, style="dim")
        drawn.append(line.form + line.blanks, style="bold")
        drawn.append(line.upos, style="dim")
        drawn.append(line.relation, style="cyan")
        if confidence is not None:
            drawn.append(" " * (widest - columns(line.relation)))
            drawn.append(f"  {confidence:4.0%}", style=_SURE[step(confidence)])
        drawn.append("\n")
    return drawn
