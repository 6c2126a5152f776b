"""Pictures of trees, in a terminal and as SVG, of whatever has the columns of a Sentence."""

from headspan.render.arcs import arcs_drawing
from headspan.render.drawable import Drawable, confidences
from headspan.render.spans import spans_drawing
from headspan.render.style import stylesheet
from headspan.render.svg import scrolling, to_svg
from headspan.render.terminal import draw_spans
from headspan.render.terminal_tree import draw_tree

__all__ = [
    "Drawable",
    "arcs_html",
    "arcs_svg",
    "confidences",
    "draw_spans",
    "draw_tree",
    "spans_svg",
    "stylesheet",
]


def arcs_svg(sentence: Drawable, *, other: Drawable | None = None, styled: bool = True) -> str:
    """The dependency arcs of a sentence as a standalone `<svg>`.

    The confidences of a Parse, or `Confidence=` in MISC, show as weight and colour. other: another
    tree over the same words; where it differs, its arcs are drawn dashed below the words. A word
    without a head has no arc. styled: False leaves out the `stylesheet()`, for a page that has it.
    """
    return to_svg(arcs_drawing(sentence, other=other), styled=styled)


def spans_svg(sentence: Drawable, *, styled: bool = True) -> str:
    """The headed spans of a sentence as a standalone `<svg>`: nested rectangles, one a word.

    In a tree that is not projective, a word's rectangle can be broken into pieces. Raises TreeError
    if the heads are no tree. styled: False leaves out the `stylesheet()`, for a page that has it.
    """
    return to_svg(spans_drawing(sentence), styled=styled)


def arcs_html(sentence: Drawable) -> str:
    """The dependency arcs in a box that scrolls, to stand in a page or a notebook."""
    return scrolling(arcs_svg(sentence))
