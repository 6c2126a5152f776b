"""Drawings as shapes and as SVG: nothing overlaps, everything is described, output is stable."""

import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ROOT
from headspan import conllu
from headspan.conllu import Sentence
from headspan.model.parse_result import Parse
from headspan.plumbing.errors import HeadspanError
from headspan.render import WIDTH, arcs_svg, confidences, spans_svg, stylesheet
from headspan.render.arcs import arcs_drawing
from headspan.render.shapes import Box, Drawing, Group, Shape, Text
from headspan.render.shapes import Path as Line
from headspan.render.spans import spans_drawing
from headspan.render.style import PALETTE, STYLES
from headspan.render.words import measured
from headspan.tree import TreeError, headed_spans
from trees import random_projective_tree, random_tree

SVG = "{http://www.w3.org/2000/svg}"
Rectangle = tuple[float, float, float, float]  # left, top, right, bottom


def example(name: str, number: int = 0) -> Sentence:
    return list(conllu.read(ROOT / "examples" / f"{name}.conllu"))[number]


def sentence(heads: list[int], labels: list[str] | None = None, words: str = "word") -> Sentence:
    n = len(heads)
    return Sentence.from_words([words] * n, heads=heads, deprels=labels or ["nsubj"] * n)


def groups(drawing: Drawing, kind: str) -> list[Group]:
    return [g for g in drawing.parts if isinstance(g, Group) and kind in g.kind.split()]


def text_box(text: Text) -> Rectangle:
    """The box around the letters of a text."""
    half, size = measured(text.text, text.role) / 2, STYLES[text.role].size
    return text.x - half, text.y - 0.78 * size, text.x + half, text.y + 0.22 * size


def strokes(shape: Shape) -> Iterator[Rectangle]:
    """The straight pieces of a line, as thin rectangles; a rounded corner counts as a sharp one."""
    if isinstance(shape, Line):
        points = [
            point
            for _, numbers in shape.steps
            for point in zip(numbers[::2], numbers[1::2], strict=True)
        ]
        half = (shape.width or STYLES[shape.role].width) / 2
        for (a, b), (c, d) in pairwise(points):
            yield min(a, c) - half, min(b, d) - half, max(a, c) + half, max(b, d) + half


def overlap(one: Rectangle, two: Rectangle) -> bool:
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]


def check(drawing: Drawing) -> None:
    """No label touches a line or another label, no word another word; all is inside the drawing."""
    arcs = groups(drawing, "arc")
    labels = [text_box(shape) for arc in arcs for shape in arc.shapes if isinstance(shape, Text)]
    lines = [stroke for arc in arcs for shape in arc.shapes for stroke in strokes(shape)]
    words = [text_box(s) for g in groups(drawing, "word") for s in g.shapes if isinstance(s, Text)]
    for k, label in enumerate(labels):
        assert not any(overlap(label, stroke) for stroke in lines)
        assert not any(overlap(label, other) for other in labels[:k])
    for k, word in enumerate(words):
        assert not any(overlap(word, other) for other in words[:k])
        assert not any(overlap(word, stroke) for stroke in lines)
    for left, top, right, bottom in [*labels, *lines, *words]:
        assert left >= 0
        assert top >= 0
        assert right <= drawing.width
        assert bottom <= drawing.height


LABELS = st.sampled_from(["det", "nsubj:pass", "x", "acl:relcl:and:more", "_", "目的語"])


@st.composite
def drawn(draw: st.DrawFn, most: int = 16) -> Sentence:
    n = draw(st.integers(1, most))
    rng = random.Random(draw(st.integers(0, 10**6)))
    heads = draw(st.sampled_from([random_tree, random_projective_tree]))(n, rng)
    return Sentence.from_words(
        draw(
            st.lists(
                st.sampled_from(["a", "word", "日本", "incomprehensible"]), min_size=n, max_size=n
            )
        ),
        heads=heads,
        deprels=draw(st.lists(LABELS, min_size=n, max_size=n)),
        upos=draw(st.sampled_from([None, ["NOUN"] * n])),
    )


@given(drawn())
def test_labels_overlap_nothing(tree: Sentence) -> None:
    check(arcs_drawing(tree))


@given(drawn(), st.integers(0, 10**6))
def test_labels_overlap_nothing_when_two_trees_are_compared(tree: Sentence, seed: int) -> None:
    other = random_tree(len(tree), random.Random(seed))
    check(arcs_drawing(tree, other=tree.with_parse(other, ["case"] * len(tree))))


@given(st.lists(st.integers(-1, 9), min_size=9, max_size=9))
def test_labels_overlap_nothing_if_heads_are_not_a_tree(heads: list[int]) -> None:
    """Missing heads, cycles, several roots: the arcs that there are are drawn."""
    drawing = arcs_drawing(sentence(heads))
    check(drawing)
    drawn = {dict(arc.data)["dependent"] for arc in groups(drawing, "arc")}
    assert drawn == {str(k) for k, head in enumerate(heads, 1) if head not in (-1, k)}


def test_many_arcs_share_a_line() -> None:
    drawing = arcs_drawing(sentence([41] * 40 + [0] + [41] * 40), width=inf)
    check(drawing)
    assert drawing.height < 150


def test_projective_arcs_do_not_meet() -> None:
    rng = random.Random(5)
    for n in (1, 2, 5, 20, 40):
        drawing = arcs_drawing(sentence(random_projective_tree(n, rng)), width=inf)
        lines = [[*strokes(arc.shapes[0])] for arc in groups(drawing, "arc")]
        for k, one in enumerate(lines):
            for two in lines[:k]:
                assert not any(overlap(a, b) for a in one for b in two)


@pytest.mark.parametrize("n", [0, 1, 500])
def test_sentences_of_any_length_are_drawn(n: int) -> None:
    tree = sentence(random_projective_tree(n, random.Random(n)) if n else [])
    drawing = arcs_drawing(tree, width=inf)
    assert len(groups(drawing, "arc")) == len(groups(drawing, "word")) == n
    assert drawing.height < 700
    wrapped = arcs_drawing(tree)
    assert len(groups(wrapped, "arc")) == len(groups(wrapped, "word")) == n
    assert wrapped.width == WIDTH if n > 1 else wrapped.width < WIDTH
    for svg in (arcs_svg(tree), spans_svg(tree)):
        assert len(ET.fromstring(svg).findall(f"{SVG}g[@class='word']")) == n
    if n <= 1:
        check(drawing)


# Rows


@given(drawn(most=30), st.sampled_from([1.0, 200.0, 346.0, 600.0]), st.booleans())
def test_labels_overlap_nothing_in_rows(tree: Sentence, width: float, compact: bool) -> None:
    check(arcs_drawing(tree, width=width, compact=compact))


@given(drawn(most=30), st.integers(0, 10**6))
def test_labels_overlap_nothing_in_rows_of_two_trees(tree: Sentence, seed: int) -> None:
    other = random_tree(len(tree), random.Random(seed))
    check(arcs_drawing(tree, other=tree.with_parse(other, ["case"] * len(tree)), width=346.0))


def rows_of(drawing: Drawing) -> list[list[int]]:
    """The words of each row of a drawing, from top to bottom."""
    rows: dict[float, list[int]] = {}
    for group in groups(drawing, "word"):
        rows.setdefault(group.shapes[0].y, []).append(int(dict(group.data)["word"]))  # type: ignore[union-attr]
    return [rows[y] for y in sorted(rows)]


@given(drawn(most=30), st.sampled_from([arcs_drawing, spans_drawing]), st.floats(100, 900))
def test_rows_hold_all_words_in_order_and_keep_to_the_width(tree: Sentence, draw, width) -> None:  # type: ignore[no-untyped-def]
    drawing = draw(tree, width=width)
    rows = rows_of(drawing)
    assert [k for row in rows for k in row] == list(range(1, len(tree) + 1))
    if all(len(row) > 1 for row in rows):  # one word may be wider than a row
        assert drawing.width <= width
    if len(rows) == 1:
        assert drawing == draw(tree, width=inf)


def test_an_arc_between_rows_leaves_one_and_enters_the_other_at_the_margin() -> None:
    words = [f"word{k}" for k in range(1, 41)]
    heads = [0, 1] + [2] * 38
    drawing = arcs_drawing(Sentence.from_words(words, heads=heads, deprels=["dep"] * 40), width=600)
    rows = rows_of(drawing)
    assert len(rows) > 2
    assert set(rows[0]) > {1, 2, 3}
    arcs = {int(dict(arc.data)["dependent"]): arc for arc in groups(drawing, "arc")}
    near, far = arcs[3], arcs[40]
    assert [shape.text for shape in near.shapes if isinstance(shape, Text)] == ["dep"]
    assert [shape.text for shape in far.shapes if isinstance(shape, Text)] == ["dep of word2"]
    assert "word40 under word2 as dep." in drawing.description
    entering, leaving = (shape for shape in far.shapes if getattr(shape, "role", "") == "line arc")
    left, right = min(x for x, *_ in strokes(entering)), max(x for _, _, x, _ in strokes(leaving))
    assert left == pytest.approx(0, abs=1)
    assert right == pytest.approx(drawing.width, abs=1)
    first_words, last_words = (
        groups(drawing, "word")[k - 1].shapes[0].y  # type: ignore[union-attr]
        for k in (2, 40)
    )
    assert max(y for *_, y in strokes(leaving)) < first_words
    assert first_words < min(y for _, y, *_ in strokes(entering)) < last_words


def test_a_row_ends_where_few_arcs_cross_and_never_before_a_comma() -> None:
    """Two clauses of five words, which only their verbs connect, and a comma between them."""
    clause = ["every", "old", "gardener", "slept", "soundly"]
    heads = [3, 3, 4, 0, 4, 4, 9, 9, 10, 4, 10]
    tree = Sentence.from_words([*clause, ",", *clause], heads=heads, deprels=["dep"] * 11)
    widths = range(330, 600, 10)
    rows = [rows_of(arcs_drawing(tree, width=width)) for width in widths]
    assert not any(row[0] == 6 for breaks in rows for row in breaks)
    assert sum(breaks[0][-1] == 6 for breaks in rows) > len(widths) / 3


def test_a_compact_drawing_is_smaller_and_has_no_tags() -> None:
    tree = example("figure1")
    normal, compact = arcs_drawing(tree), arcs_drawing(tree, compact=True)
    roles = {getattr(shape, "role", "") for shape in compact.shapes()}
    assert "tag" not in roles
    assert "tag" in {getattr(shape, "role", "") for shape in normal.shapes()}
    assert compact.width < normal.width
    assert compact.height < normal.height


def test_a_rectangle_goes_on_in_the_next_row() -> None:
    n = 60
    drawing = spans_drawing(sentence([0, *[1] * (n - 1)]), width=500)
    (root,) = (g for g in groups(drawing, "span") if dict(g.data)["word"] == "1")
    boxes = [shape for shape in root.shapes if isinstance(shape, Box)]
    assert len(boxes) == len(rows_of(drawing)) > 2
    first, *between, last = boxes
    assert first.x > 0
    assert last.x + last.width < drawing.width
    for box in [first, *between]:
        assert box.x + box.width > drawing.width
    for box in [*between, last]:
        assert box.x < 0
    numbers = [int(dict(group.data)["fencepost"]) for group in groups(drawing, "fencepost")]
    assert set(numbers) == set(range(n + 1))
    assert len(numbers) == n + len(boxes)  # one at both ends of a break


def test_a_legend_keeps_to_the_width() -> None:
    drawing = arcs_drawing(CONFIDENT, width=300)
    lines = {
        shape.y for g in groups(drawing, "legend") for shape in g.shapes if isinstance(shape, Text)
    }
    assert len(lines) > 1
    assert drawing.width == 300
    assert max(lines) < drawing.height


# Headed spans


def rectangles(drawing: Drawing) -> dict[tuple[int, int, int], Rectangle]:
    boxes = {}
    for group in groups(drawing, "span"):
        data, box = dict(group.data), group.shapes[0]
        place = box.x, box.y, box.x + box.width, box.y + box.height  # type: ignore[union-attr]
        boxes[int(data["left"]), int(data["right"]), int(data["word"])] = place
    return boxes


@given(drawn())
def test_rectangles_nest_as_spans_do(tree: Sentence) -> None:
    drawing = spans_drawing(tree, width=inf)
    boxes = rectangles(drawing)
    words = {int(dict(g.data)["word"]): text_box(g.shapes[0]) for g in groups(drawing, "word")}  # type: ignore[arg-type]
    for (left, right, _), outer in boxes.items():
        for k, (x, _, end, _) in words.items():
            inside = left < k <= right
            assert (outer[0] < x and end < outer[2]) == inside
            assert (end <= outer[0] or outer[2] <= x) != inside
        for (other_left, other_right, _), inner in boxes.items():
            apart = other_right <= left or right <= other_left
            nested = outer[0] < inner[0] and outer[1] < inner[1] and inner[2] < outer[2]
            around = inner[0] < outer[0] and inner[1] < outer[1] and outer[2] < inner[2]
            assert outer is inner or apart != (nested or around)
            assert not (apart and overlap(outer, inner))


def test_a_projective_tree_has_its_headed_spans() -> None:
    heads = random_projective_tree(30, random.Random(2))
    drawing = spans_drawing(sentence(heads))
    assert sorted(rectangles(drawing)) == sorted(headed_spans(heads))


def test_a_broken_span_is_drawn_and_described_in_pieces() -> None:
    drawing = spans_drawing(example("gold"))
    assert [dict(g.data) for g in groups(drawing, "broken")] == [
        {"word": "2", "left": "0", "right": "2"},
        {"word": "2", "left": "4", "right": "7"},
    ]
    assert (
        "hearing: 0–2 and 4–7, A hearing … on the issue, in 2 pieces, for the tree is not projective."
        in drawing.description
    )


def test_the_description_of_a_deep_tree_is_short() -> None:
    deep = sentence([0, *range(1, 300)])
    assert (
        "word: 1–300, word word word word word word … word word word word word."
        in spans_drawing(deep).description
    )
    assert len(spans_svg(deep)) < 300_000


def test_spans_of_heads_that_are_not_a_tree_are_an_error() -> None:
    with pytest.raises(TreeError, match="cycle"):
        spans_drawing(sentence([2, 1]))
    with pytest.raises(TreeError, match="has no head"):
        spans_drawing(Sentence.from_words(["a"]))


# Arcs


def test_confidences_set_weight_colour_and_description() -> None:
    tree = sentence([2, 0, 2])
    parse = Parse.of(tree, head_confidences=(0.3, 1.0, 0.95))
    noted = replace(tree, misc=("Confidence=0.3000", "A=b|Confidence=1", "Confidence=0.95"))
    assert arcs_svg(parse) == arcs_svg(noted)
    drawing = arcs_drawing(parse)
    arcs = {dict(arc.data)["dependent"]: arc for arc in groups(drawing, "arc")}
    assert dict(arcs["1"].data)["confidence"] == "0.3000"
    assert [arcs[k].shapes[0].role for k in "123"] == ["line sure0", "line sure4", "line sure3"]
    widths = [arcs[k].shapes[0].width for k in "132"]  # type: ignore[union-attr]
    assert widths == sorted(widths)
    assert "word under word as nsubj, 30% sure." in drawing.description
    assert "less than 50% sure" in arcs_svg(parse)


def test_invalid_confidences_are_ignored() -> None:
    tree = replace(sentence([2, 0, 2]), misc=("Confidence=often", "Confidence=2", "Confidence=0.5"))
    assert confidences(tree) == [None, None, 0.5]
    assert confidences(Parse.of(tree)) == [None] * 3  # MISC is older than the parse


def test_differences_can_be_told_apart_without_colour() -> None:
    drawing = arcs_drawing(example("gold"), other=example("system"))
    (only,) = groups(drawing, "other")
    assert dict(only.data) == {"head": "4", "dependent": "7"}
    assert STYLES[only.shapes[0].role].dash
    marked = [arc for arc in groups(drawing, "arc") if arc.shapes[0].role == "line first"]
    assert [dict(arc.data)["head"] for arc in marked] == ["2"]
    assert drawing.description.endswith("In the other tree: issue under scheduled as obl.")


def test_a_comparison_of_equal_trees_says_so() -> None:
    tree = example("figure1")
    drawing = arcs_drawing(tree, other=tree)
    assert not groups(drawing, "other")
    assert drawing.description.endswith("The other tree is the same.")


def test_a_comparison_needs_the_same_words() -> None:
    with pytest.raises(HeadspanError, match="word 1 is 'A' and 'Time'"):
        arcs_svg(example("gold"), other=example("gold", 1))
    with pytest.raises(HeadspanError, match="different words: 2 and 3"):
        arcs_svg(sentence([2, 0]), other=sentence([2, 0, 2]))


def test_non_projective_arcs_are_marked() -> None:
    drawing = arcs_drawing(example("gold"))
    (arc,) = groups(drawing, "crossing")
    assert arc.title == "issue under hearing as nmod, not projective"


MULTIWORDS = """\
1-2	vámonos-todos-ahora	_	_	_	_	_	_	_	_
1	a	_	VERB	_	_	0	root	_	_
2	b	_	PRON	_	_	1	obj	_	_
3	c	_	NOUN	_	_	1	obl	_	_

"""


def test_multiword_tokens_are_below_their_words() -> None:
    (tree,) = conllu.parse(MULTIWORDS)
    drawing = arcs_drawing(tree)
    (token,) = groups(drawing, "token")
    assert dict(token.data) == {"first": "1", "last": "2"}
    text = token.shapes[1]
    assert isinstance(text, Text)
    third = groups(drawing, "word")[2].shapes[0]
    assert text.text == "vámonos-todos-ahora"
    assert text_box(text)[2] < text_box(third)[0]  # type: ignore[arg-type]
    check(drawing)


# SVG


WORDS = [
    "<&>\"'",
    "\x00\x1b\n",
    "\ud800\uffff",
    "שלום!",
    "日本語",
    "👩‍👩‍👧",
    "e\u0301",
    "]]>",
    "$x$",
]


@pytest.mark.parametrize("draw", [arcs_svg, spans_svg])
def test_any_word_gives_well_formed_xml_and_is_kept(draw) -> None:  # type: ignore[no-untyped-def]
    heads = [0] + [1] * (len(WORDS) - 1)
    tree = Sentence.from_words(WORDS, heads=heads, deprels=WORDS, upos=WORDS)
    root = ET.fromstring(draw(tree).encode())
    shown = [group.find(f"{SVG}text").text for group in root.findall(f"{SVG}g[@class='word']")]  # type: ignore[union-attr]
    assert shown == ["<&>\"'", "���", "��", *WORDS[3:]]


def test_a_renderer_without_variables_sees_no_rules() -> None:
    """It would draw colours it cannot read in black; the attributes have the light colours."""
    depth = 0
    for line in stylesheet().splitlines():
        assert depth or line.startswith("@supports")
        depth += line.count("{") - line.count("}")
    assert depth == 0


@pytest.mark.parametrize("draw", [arcs_svg, spans_svg])
def test_svg_has_title_description_and_style_but_no_scripts_or_ids(draw) -> None:  # type: ignore[no-untyped-def]
    svg = draw(example("figure1"))
    root = ET.fromstring(svg)
    assert root.get("role") == "img"
    assert root[0].tag == f"{SVG}title"
    assert root[0].text == "An inventory of syntactic function is taken to be primitive"
    assert root[1].tag == f"{SVG}desc"
    assert not re.search(r' (style|id|on\w+|href)="|<script', svg)
    assert root.findtext(f"{SVG}style", "").strip() == stylesheet().strip()
    assert f"<style>\n{stylesheet()}</style>\n" in svg.replace("&gt;", ">")
    assert draw(example("figure1"), styled=False) == re.sub(
        r"<style>.*?</style>\n", "", svg, flags=re.S
    )


def test_data_attributes_describe_arcs_and_spans() -> None:
    arcs = ET.fromstring(arcs_svg(example("figure1")))
    drawn_arcs = {
        (g.get("data-head"), g.get("data-dependent")) for g in arcs.findall(f"{SVG}g[@class='arc']")
    }
    assert drawn_arcs == {(str(h), str(k)) for k, h in enumerate(example("figure1").heads, 1)}
    spans = ET.fromstring(spans_svg(example("figure1")))
    drawn_spans = {
        tuple(int(g.get(f"data-{name}", "")) for name in ("left", "right", "word"))
        for g in spans.findall(f"{SVG}g[@class='span']")
    }
    assert drawn_spans == set(headed_spans(example("figure1").heads))


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_has_enough_contrast(theme: int) -> None:
    """A contrast of 4.5 to 1, as WCAG requires, on the background and in every rectangle."""
    grounds = [name for name in PALETTE if name.startswith("tint")]
    for role, style in STYLES.items():
        if style.size:
            assert style.fill
            for ground in ["paper", *(grounds if role.startswith(("head", "form")) else [])]:
                two = sorted(luminance(PALETTE[name][theme]) for name in (style.fill, ground))
                assert (two[1] + 0.05) / (two[0] + 0.05) >= 4.5, (role, ground)


# Golden files


CONFIDENCES = (0.99, 0.97, 0.93, 0.995, 0.8, 0.99, 0.6, 0.42, 0.97, 0.76)
CONFIDENT = Parse.of(example("figure1"), head_confidences=CONFIDENCES)
PICTURES = {
    "docs/figures/arcs.svg": lambda: arcs_svg(example("figure1")),
    "docs/figures/spans.svg": lambda: spans_svg(example("figure1")),
    "docs/figures/rows.svg": lambda: arcs_svg(example("figure1"), width=420),
    "docs/figures/compared.svg": lambda: arcs_svg(example("gold", 1), other=example("system", 1)),
    "docs/figures/confidences.svg": lambda: arcs_svg(CONFIDENT),
    "tests/golden/hearing-arcs.svg": lambda: arcs_svg(
        example("gold"), other=example("system"), styled=False
    ),
    "tests/golden/hearing-spans.svg": lambda: spans_svg(example("gold"), styled=False),
}


@pytest.mark.parametrize("name", PICTURES)
def test_drawings_equal_the_golden_files(name: str, request: pytest.FixtureRequest) -> None:
    """After an intended change, `pytest tests/test_drawings.py --golden` writes them again."""
    path: Path = ROOT / name
    if request.config.getoption("--golden"):
        path.write_text(PICTURES[name](), encoding="utf-8")
    assert PICTURES[name]() == path.read_text(encoding="utf-8")


def test_sentences_and_parses_draw_themselves_in_notebooks() -> None:
    tree = example("figure1")
    html = tree._repr_html_()
    assert arcs_svg(tree) in html
    assert html.startswith('<div class="headspan-scroll">')
    assert (
        arcs_svg(Parse.of(tree, head_confidences=(0.5,) * 10))
        in Parse.of(tree, head_confidences=(0.5,) * 10)._repr_html_()
    )
