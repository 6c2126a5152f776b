"""Dependency arcs above the words, and those of another tree below them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.limits import check_drawn
from headspan.render.arc_rows import EDGE, MARGIN, ArcRow, ArcTree, Spacing, arc_rows
from headspan.render.drawable import Drawable, confidences
from headspan.render.placement import Placement
from headspan.render.rows import WIDTH
from headspan.render.shapes import Drawing, Group, Path, Shape, Text, data, line, polygon
from headspan.render.style import step
from headspan.render.widths import visible
from headspan.render.words import Legend, word_row
from headspan.tree import TreeError, nonprojective_arcs

_NORMAL = Spacing(words=16.0, levels=19.0, rows=14.0)
_COMPACT = Spacing(words=9.0, levels=16.0, rows=8.0)
_FIRST = 20.0  # from the words to the lowest level
_CORNER = 7.0
_TIP = 6.5  # the length of an arrowhead
_ABOVE, _BELOW = 4.5, 13.0  # from a line to the baseline of the label above or below it
_LABEL = 16.0  # the height of a label

NAMES = "the first", "the other"
"""The names of two trees that are compared."""

_MEANINGS = {
    "arc": "in both trees",
    "first": "only in {}",
    "other": "only in {}",
    "crossing": "not projective",
    "sure0": "less than 50% sure",
    "sure1": "50 to 75% sure",
    "sure2": "75 to 90% sure",
    "sure3": "90 to 99% sure",
    "sure4": "at least 99% sure",
}


def arcs_drawing(
    sentence: Drawable,
    *,
    other: Drawable | None = None,
    names: tuple[str, str] = NAMES,
    width: float = WIDTH,
    compact: bool = False,
) -> Drawing:
    """Draw the arcs of a sentence above its words, and the differing arcs of `other` below them.

    If that is wider than `width`, it continues in another row. An arc between two rows leaves that
    of its head at the margin and enters that of its dependent at the margin, where its label names
    the head. names: those of the two trees in the legend. compact: leave out the tags, and draw
    words and arcs closer together.
    """
    _check_same_words(sentence, other)
    check_drawn(len(sentence.forms))
    trees = [_tree(sentence, other, "first")]
    if other is not None:
        trees.append(_tree(other, sentence, "other", differences_only=True))
    spacing = _COMPACT if compact else _NORMAL
    words = word_row(sentence, tags=not compact)
    rows = arc_rows(trees, words, spacing, width)
    legend = Legend(_legend(trees, names, other is not None), margin=MARGIN, width=width)
    right = max(legend.right + MARGIN, *(row.width for row in rows))
    if len(rows) > 1:
        right = max(right, width)
    rows = [replace(row, middles=(*row.middles[:-1], right - EDGE)) for row in rows]
    tops, bottoms, end = [], [], MARGIN - spacing.rows
    for row in rows:
        above, *below = (_height(placement, spacing) for placement in row.placements)
        tops.append(end + spacing.rows + above)
        bottoms.append(tops[-1] + words.height(row.first, row.last))
        end = bottoms[-1] + sum(below)
    parts = list(_arcs(trees[0], rows, tops, spacing))
    if other is not None:
        parts += _arcs(trees[1], rows, bottoms, spacing, below=True)
    for row, top in zip(rows, tops, strict=True):
        parts += words.parts(row.words, top)
    parts += legend.parts(end)
    return Drawing(
        right,
        end + legend.height + MARGIN,
        visible(sentence.text) or "No words",
        _description(trees, len(sentence.forms)),
        tuple(parts),
    )


def _check_same_words(sentence: Drawable, other: Drawable | None) -> None:
    if other is None or other.forms == sentence.forms:
        return
    for k, (one, two) in enumerate(zip(sentence.forms, other.forms, strict=False), 1):
        if one != two:
            raise HeadspanError(
                f"the two trees have different words: word {k} is {one!r} and {two!r}"
            )
    raise HeadspanError(
        f"the two trees have different words: {len(sentence.forms)} and {len(other.forms)} of them"
    )


def _tree(
    sentence: Drawable, other: Drawable | None, differing: str, *, differences_only: bool = False
) -> ArcTree:
    try:
        crossing = {k for _, k in nonprojective_arcs(sentence.heads)}
    except TreeError:  # missing heads or a cycle; the arcs that there are can still be drawn
        crossing = set()
    probabilities = confidences(sentence)
    kinds = {}
    for k, (head, deprel) in enumerate(zip(sentence.heads, sentence.deprels, strict=True), 1):
        if not 0 <= head <= len(sentence.heads) or head == k:
            continue
        same = other is not None and (other.heads[k - 1], other.deprels[k - 1]) == (head, deprel)
        if same and differences_only:
            continue
        confidence = probabilities[k - 1]
        if other is not None:
            kinds[k] = "arc" if same else differing
        elif confidence is not None:
            kinds[k] = f"sure{step(confidence)}"
        else:
            kinds[k] = "crossing" if k in crossing else "arc"
    dependents: dict[int, list[int]] = {}
    for k in kinds:
        dependents.setdefault(sentence.heads[k - 1], []).append(k)
    return ArcTree(sentence, kinds, probabilities, crossing, dependents)


def _height(placement: Placement, spacing: Spacing) -> float:
    """Return the height of the arcs on their side of the words."""
    if not placement.arcs:
        return 0.0
    return _FIRST + spacing.levels * (placement.levels - 1) + _LABEL


def _arcs(
    tree: ArcTree,
    rows: Sequence[ArcRow],
    bases: Sequence[float],
    spacing: Spacing,
    *,
    below: bool = False,
) -> Iterator[Group]:
    """Draw the arcs of a tree above the bases of the rows, or below them; the outermost first."""
    on = {k: (row, base) for row, base in zip(rows, bases, strict=True) for k in row.words}
    heads = tree.sentence.heads
    levels = {k: on[k][0].segment(below, heads[k - 1], k).level for k in tree.kinds}
    for k in sorted(tree.kinds, key=lambda k: -levels[k]):
        shapes = list(_entering(tree, k, *on[k], spacing, below=below))
        head = heads[k - 1]
        if head and not on[k][0].has(head):
            shapes.append(_leaving(tree, k, *on[head], spacing, below=below))
        values = data(head=head, dependent=k)
        confidence = tree.confidences[k - 1]
        if confidence is not None:
            values += data(confidence=f"{confidence:.4f}")
        crossing = " crossing" if k in tree.crossing else ""
        other = " other" if below else ""
        yield Group(f"arc{crossing}{other}", values, tree.title(k), tuple(shapes))


def _entering(
    tree: ArcTree, k: int, row: ArcRow, base: float, spacing: Spacing, *, below: bool
) -> Iterator[Shape]:
    """Draw an arc in the row of its dependent: from its head or the margin."""
    head, kind = tree.sentence.heads[k - 1], tree.kinds[k]
    part = row.segment(below, head, k)
    y = _y(base, part.level, spacing, below=below)
    side = 1 if below else -1
    start = (
        [(part.start, base), (part.start, y)] if row.has(head) else [(part.start, y)] * bool(head)
    )
    yield _line(tree, k, *start, (part.end, y), (part.end, base + side * (_TIP - 1)))
    tip = base + side * _TIP
    yield polygon(
        (part.end, base), (part.end - 3.4, tip), (part.end + 3.4, tip), role=f"tip {kind}"
    )
    from_margin = head > 0 and not row.has(head)
    baseline = y + _BELOW if below else y - _ABOVE
    yield Text(part.label, baseline, tree.label(k, from_margin=from_margin), f"label {kind}")


def _leaving(
    tree: ArcTree, k: int, row: ArcRow, base: float, spacing: Spacing, *, below: bool
) -> Path:
    """Draw an arc in the row of its head, up to the margin behind which its dependent is."""
    part = row.segment(below, tree.sentence.heads[k - 1], k)
    y = _y(base, part.level, spacing, below=below)
    return _line(tree, k, (part.start, base), (part.start, y), (part.end, y))


def _y(base: float, level: int, spacing: Spacing, *, below: bool) -> float:
    """Return the height of a level."""
    distance = _FIRST + spacing.levels * (level - 1)
    return base + distance if below else base - distance


def _line(tree: ArcTree, k: int, *points: tuple[float, float]) -> Path:
    """Draw a line of an arc; the surer the parser is of it, the thicker."""
    kind, confidence, width = tree.kinds[k], tree.confidences[k - 1], None
    if kind.startswith("sure") and confidence is not None:
        width = 0.9 + 1.1 * confidence
    return line(*points, radius=_CORNER, role=f"line {kind}", width=width)


def _legend(
    trees: Sequence[ArcTree], names: tuple[str, str], compared: bool
) -> list[tuple[str, str]]:
    """Return the roles and meanings of the colours that occur, if they have a meaning."""
    kinds = {kind for tree in trees for kind in tree.kinds.values()}
    return [
        (f"line {kind}", meaning.format(names[kind == "other"]))
        for kind, meaning in _MEANINGS.items()
        if kind in kinds and (compared or kind != "arc")
    ]


def _description(trees: Sequence[ArcTree], n: int) -> str:
    first, *others = trees
    words = f"{n} word" + "s" * (n != 1)
    sentences = [f"Dependency tree over {words}."]
    sentences += [first.title(k) + "." for k in first.kinds]
    for other in others:
        sentences.append("In the other tree:" if other.kinds else "The other tree is the same.")
        sentences += [other.title(k) + "." for k in other.kinds]
    return " ".join(sentences)
