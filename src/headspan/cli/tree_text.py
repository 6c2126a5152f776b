"""Draw a tree in the terminal, in colour."""

from __future__ import annotations

from rich.text import Text

from headspan.conllu import Sentence
from headspan.render import confidences, draw_tree
from headspan.render.style import step
from headspan.render.widths import columns

_SURE = ("bold red", "red", "yellow", "dim", "dim")  # by level of confidence
_DOUBTFUL = 0.9


def tree_text(sentence: Sentence) -> Text:
    """Draw the tree, one line per word, with the confidence of every arc if it is known.

    A doubtful arc also shows what it consists of: the confidence of the head, and that of the
    relation if the head is right.
    """
    drawn = Text()
    lines = draw_tree(sentence)
    widest = max((columns(line.relation) for line in lines), default=0)
    of_heads = confidences(sentence, "HeadConfidence")
    of_relations = confidences(sentence, "RelationConfidence")
    for line, confidence, head, relation in zip(
        lines, confidences(sentence), of_heads, of_relations, strict=True
    ):
        drawn.append(line.branches, style="dim")
        drawn.append(line.form + line.blanks, style="bold")
        drawn.append(line.upos, style="dim")
        drawn.append(line.relation, style="cyan")
        if confidence is not None:
            drawn.append(" " * (widest - columns(line.relation)))
            drawn.append(f"  {confidence:4.0%}", style=_SURE[step(confidence)])
            if confidence < _DOUBTFUL and head is not None and relation is not None:
                drawn.append(f"  head {head:.0%}, relation {relation:.0%}", style="dim")
        drawn.append("\n")
    return drawn
