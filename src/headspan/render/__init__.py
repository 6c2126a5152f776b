"""Draw trees in a terminal and as SVG, from any object with the columns of a Sentence."""

from headspan.render.arcs import NAMES, arcs_drawing
from headspan.render.drawable import Drawable, View, confidences
from headspan.render.rows import WIDTH
from headspan.render.spans import spans_drawing
from headspan.render.style import stylesheet
from headspan.render.svg import scrolling, to_svg
from headspan.render.terminal_spans import draw_spans
from headspan.render.terminal_tree import draw_tree

__all__ = [
    "WIDTH",
    "Drawable",
    "View",
    "arcs_html",
    "arcs_svg",
    "confidences",
    "draw_spans",
    "draw_tree",
    "spans_svg",
    "stylesheet",
]


def arcs_svg(
    sentence: Drawable,
    *,
    other: Drawable | None = None,
    names: tuple[str, str] = NAMES,
    styled: bool = True,
    width: float = WIDTH,
    compact: bool = False,
) -> str:
    """Draw the dependency arcs of a sentence as a standalone `<svg>`.

    The confidences of a Parse, or those of `Confidence=` in MISC, set the weight and colour of
    arcs. A word without a head has no arc.

    other: another tree over the same words; arcs that differ are drawn dashed below the words.
    names: those of the two trees in the legend.
    styled: False omits the `stylesheet()`, for pages that include it themselves.
    width: of the drawing, in pixels; a longer sentence continues in another row, and arcs between
    rows at their margins. `math.inf` draws a single row.
    compact: leave out the tags, and draw words and arcs closer together.
    """
    drawing = arcs_drawing(sentence, other=other, names=names, width=width, compact=compact)
    return to_svg(drawing, styled=styled)


def spans_svg(sentence: Drawable, *, styled: bool = True, width: float = WIDTH) -> str:
    """Draw the headed spans of a sentence as a standalone `<svg>`: one rectangle per word, nested.

    In a non-projective tree, a word's rectangle can be broken into pieces. Raises TreeError if the
    heads do not form a tree.

    styled: False omits the `stylesheet()`, for pages that include it themselves.
    width: of the drawing, in pixels; a longer sentence continues in another row, and rectangles are
    open where they go on. `math.inf` draws a single row.
    """
    return to_svg(spans_drawing(sentence, width=width), styled=styled)


def arcs_html(sentence: Drawable) -> str:
    """Draw the dependency arcs in a scrolling box, for a web page or a notebook."""
    return scrolling(arcs_svg(sentence))
