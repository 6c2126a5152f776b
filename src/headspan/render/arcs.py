"""Dependency arcs above the words, and those of another tree below them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.limits import check_drawn
from headspan.render.drawable import Drawable, confidences
from headspan.render.placement import PlacedArc, Placement, place, spread
from headspan.render.shapes import Drawing, Group, Text, data, line, polygon
from headspan.render.style import step
from headspan.render.widths import visible
from headspan.render.words import legend, legend_width, measured, word_row
from headspan.tree import TreeError, nonprojective_arcs

_LEVEL = 19.0  # between two levels
_FIRST = 20.0  # from the words to the lowest level
_CORNER = 7.0
_TIP = 6.5  # the length of an arrowhead
_MARGIN = 16.0
_GAP = 16.0  # between words, at least
_LEGEND = 22.0
_ABOVE, _BELOW = 4.5, 13.0  # from a line to the baseline of the label above or below it
_LABEL = 16.0  # the height of a label

_MEANINGS = {
    "arc": "in both trees",
    "first": "only in the first",
    "other": "only in the other",
    "crossing": "not projective",
    "sure0": "below 50%",
    "sure1": "from 50%",
    "sure2": "from 75%",
    "sure3": "from 90%",
    "sure4": "from 99%",
}


@dataclass(frozen=True, slots=True)
class _Tree:
    """The arcs of a sentence that are drawn on one side of the words."""

    sentence: Drawable
    kinds: dict[int, str]
    """The kind of arc of each dependent whose arc is drawn."""
    confidences: list[float | None]
    crossing: set[int]
    """The dependents of non-projective arcs."""

    def arcs(self) -> list[PlacedArc]:
        heads, deprels = self.sentence.heads, self.sentence.deprels
        return [
            PlacedArc(heads[k - 1], k, measured(deprels[k - 1], f"label {kind}"))
            for k, kind in self.kinds.items()
        ]

    def title(self, k: int) -> str:
        """Describe an arc in words."""
        head, deprel = self.sentence.heads[k - 1], self.sentence.deprels[k - 1]
        forms = self.sentence.forms
        above = f"under {forms[head - 1]}" if head else "at the top"
        relation = f" as {deprel}" if head and deprel != "_" else ""
        confidence = self.confidences[k - 1]
        sure = f", {confidence:.0%} sure" if confidence is not None else ""
        crossing = ", not projective" if k in self.crossing else ""
        return visible(f"{forms[k - 1]} {above}{relation}{sure}{crossing}")


def arcs_drawing(sentence: Drawable, *, other: Drawable | None = None) -> Drawing:
    """Draw the arcs of a sentence above its words, and the differing arcs of `other` below them."""
    _check_same_words(sentence, other)
    n = len(sentence.forms)
    check_drawn(n)
    trees = [_tree(sentence, other, "first")]
    if other is not None:
        trees.append(_tree(other, sentence, "other", differences_only=True))
    placements = [place(tree.arcs(), n) for tree in trees]
    row = word_row(sentence)
    least = (placement.widths(n) for placement in placements)
    widths = [max(each) for each in zip(row.widths, *least, strict=True)]
    middles = spread(widths, placements, margin=_MARGIN, gap=_GAP)
    above, *below = (_height(placement) for placement in placements)
    top = _MARGIN + above
    bottom = top + row.height
    entries = _legend(trees, other is not None)
    right = middles[-1] + widths[-1] / 2 if n else 0.0
    height = bottom + sum(below) + _LEGEND * bool(entries)
    parts = list(_arcs(trees[0], placements[0], middles, top, -1))
    if other is not None:
        parts += _arcs(trees[1], placements[1], middles, bottom, 1)
    parts += row.parts(middles, top)
    parts += legend(entries, _MARGIN, height)
    return Drawing(
        max(right, _MARGIN + legend_width(entries)) + _MARGIN,
        height + _MARGIN,
        visible(sentence.text) or "No words",
        _description(trees, n),
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
) -> _Tree:
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
    return _Tree(sentence, kinds, probabilities, crossing)


def _height(placement: Placement) -> float:
    """Return the height of the arcs on their side of the words."""
    return _FIRST + _LEVEL * (placement.levels - 1) + _LABEL if placement.arcs else 0.0


def _arcs(
    tree: _Tree, placement: Placement, middles: Sequence[float], base: float, side: int
) -> Iterator[Group]:
    """Draw the arcs above `base` (side −1) or below it (1), the outermost first."""
    for placed in sorted(placement.arcs, key=lambda placed: -placed.level):
        k = placed.arc.dependent
        y = base + side * (_FIRST + _LEVEL * (placed.level - 1))
        kind = tree.kinds[k]
        start, end = (placement.x(port, middles) for port in (placed.start, placed.end))
        confidence = tree.confidences[k - 1]
        width = None
        if kind.startswith("sure") and confidence is not None:
            width = 0.9 + 1.1 * confidence
        neck = base + side * (_TIP - 1)
        corners = [(start, base), (start, y), (end, y)] if placed.arc.head else [(end, y)]
        path = line(*corners, (end, neck), radius=_CORNER, role=f"line {kind}", width=width)
        tip = polygon(
            (end, base), (end - 3.4, base + side * _TIP), (end + 3.4, base + side * _TIP),
            role=f"tip {kind}",
        )  # fmt: skip
        baseline = y - _ABOVE if side < 0 else y + _BELOW
        label = Text(
            placement.label_x(placed, middles),
            baseline,
            visible(tree.sentence.deprels[k - 1]),
            f"label {kind}",
        )
        values = data(head=placed.arc.head, dependent=k)
        if confidence is not None:
            values += data(confidence=f"{confidence:.4f}")
        crossing = " crossing" if k in tree.crossing else ""
        other = " other" if side > 0 else ""
        yield Group(f"arc{crossing}{other}", values, tree.title(k), (path, tip, label))


def _legend(trees: Sequence[_Tree], compared: bool) -> list[tuple[str, str]]:
    """Return the roles and meanings of the colours that occur, if they have a meaning."""
    kinds = {kind for tree in trees for kind in tree.kinds.values()}
    return [
        (f"line {kind}", meaning)
        for kind, meaning in _MEANINGS.items()
        if kind in kinds and (compared or kind != "arc")
    ]


def _description(trees: Sequence[_Tree], n: int) -> str:
    first, *others = trees
    words = f"{n} word" + "s" * (n != 1)
    sentences = [f"Dependency tree over {words}."]
    sentences += [first.title(k) + "." for k in first.kinds]
    for other in others:
        sentences.append("In the other tree:" if other.kinds else "The other tree is the same.")
        sentences += [other.title(k) + "." for k in other.kinds]
    return " ".join(sentences)
