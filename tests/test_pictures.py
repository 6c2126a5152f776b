"""Pictures as files, and the command that writes them."""

import struct
import sys
from math import inf
from pathlib import Path

import pytest
from rich.console import Console

from conftest import ROOT
from headspan import conllu
from headspan.cli.commands import app
from headspan.cli.tree_text import tree_text
from headspan.conllu import Sentence
from headspan.model.parse_result import Parse
from headspan.plumbing.errors import HeadspanError
from headspan.render import arcs_svg, spans_svg
from headspan.render.pictures import picture, save
from headspan.render.widths import clusters, columns, ems

GOLD, SYSTEM = ROOT / "examples" / "gold.conllu", ROOT / "examples" / "system.conllu"


@pytest.fixture(scope="module")
def gold() -> list[Sentence]:
    return list(conllu.read(GOLD))


def draw(*arguments: str | Path) -> None:
    """The command, in this process."""
    app(["draw", *map(str, arguments)], standalone_mode=False)


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def test_svg_files_equal_what_the_functions_return(gold: list[Sentence], tmp_path: Path) -> None:
    for view, expected in (("arcs", arcs_svg(gold[1])), ("spans", spans_svg(gold[1]))):
        draw(GOLD, "-o", tmp_path / f"{view}.svg", "--sentence", "arrow", "--view", view)
        assert (tmp_path / f"{view}.svg").read_text(encoding="utf-8") == expected


def test_both_views_are_drawn_one_below_the_other(gold: list[Sentence]) -> None:
    arcs, spans, both = (picture(gold[0], view=view) for view in ("arcs", "spans", "both"))  # type: ignore[arg-type]
    assert both.height == arcs.height + spans.height
    assert both.width == max(arcs.width, spans.width)
    assert len(both.parts) == len(arcs.parts) + len(spans.parts)
    assert both.title == gold[0].text
    lowest = max(shape.y for shape in both.shapes() if hasattr(shape, "y"))
    assert lowest == arcs.height + max(shape.y for shape in spans.shapes() if hasattr(shape, "y"))


def test_a_page_holds_all_sentences(tmp_path: Path) -> None:
    out = tmp_path / "all.html"
    draw(GOLD, "-o", out, "--with", SYSTEM)
    page = out.read_text(encoding="utf-8")
    assert page.count("<svg ") == page.count('<div class="headspan-scroll">') == 2
    assert page.count("<style>") == 1
    assert "<figcaption>hearing</figcaption>" in page
    assert 'class="arc other" data-head="4" data-dependent="7"' in page


def test_a_png_has_twice_the_size_and_letters_in_place(
    gold: list[Sentence], tmp_path: Path
) -> None:
    out = tmp_path / "a.png"
    draw(GOLD, "-o", out, "--sentence", "2")
    drawing = picture(gold[1])
    assert size(out.read_bytes()) == pytest.approx((2 * drawing.width, 2 * drawing.height), abs=1)
    from matplotlib.image import imread

    pixels = imread(out)[:, :, :3]
    (word,) = (shape for shape in drawing.shapes() if getattr(shape, "text", "") == "flies")
    x, y = int(2 * word.x), int(2 * word.y)
    assert pixels[y - 20 : y, x - 30 : x + 30].min() < 0.3  # letters are there
    assert pixels[:8].min() == 1  # and none at the edge
    save([drawing], tmp_path / "b.png")
    assert (tmp_path / "b.png").read_bytes() == out.read_bytes()


def test_a_png_of_a_long_sentence_is_as_large_as_possible(tmp_path: Path) -> None:
    n = 600
    long = Sentence.from_words(["incomprehensibilities"] * n, heads=[0] + [1] * (n - 1))
    drawing = picture(long, view="spans", width=inf)
    assert drawing.width > 65_000
    save([drawing], tmp_path / "long.png")
    assert size((tmp_path / "long.png").read_bytes())[0] == pytest.approx(65_000, abs=1)


def test_a_png_of_a_long_sentence_is_wrapped(tmp_path: Path) -> None:
    n = 66
    tree = Sentence.from_words(["sentences"] * n, heads=[0, *range(1, n)], deprels=["nmod"] * n)
    conllu.write([tree], tmp_path / "long.conllu")
    for view in ("arcs", "spans", "both"):
        out = tmp_path / f"{view}.png"
        draw(tmp_path / "long.conllu", "-o", out, "--view", view)
        assert size(out.read_bytes())[0] == pytest.approx(2000, abs=1)
    draw(tmp_path / "long.conllu", "-o", tmp_path / "narrow.png", "--width", "400")
    assert size((tmp_path / "narrow.png").read_bytes())[0] == pytest.approx(800, abs=1)
    draw(tmp_path / "long.conllu", "-o", tmp_path / "one-row.png", "--width", "100000")
    width, height = size((tmp_path / "one-row.png").read_bytes())
    assert width > 10 * height


def test_a_pdf_has_one_page_per_sentence(gold: list[Sentence], tmp_path: Path) -> None:
    for name in ("a.pdf", "b.pdf"):
        save((picture(s, view="both") for s in gold), tmp_path / name)
    pdf = (tmp_path / "a.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert pdf.count(b"/Type /Page ") == 2
    assert pdf == (tmp_path / "b.pdf").read_bytes()


def test_characters_that_no_font_has_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "odd.conllu"
    conllu.write([Sentence.from_words(["a\U0010fffd", "שלום"], heads=[0, 1])], path)
    draw(path, "-o", tmp_path / "odd.png")
    assert capsys.readouterr().err == "headspan: no font has \U0010fffd; boxes are drawn instead\n"
    draw(path, "-o", tmp_path / "odd.svg")  # a viewer of an SVG has other fonts
    assert capsys.readouterr().err == ""


def test_svg_needs_no_matplotlib_and_pdf_says_how_to_install_it(
    gold: list[Sentence], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(HeadspanError, match=r"pip install 'headspan\[plot\]'"):
        save([picture(gold[0])], tmp_path / "a.pdf")
    save([picture(gold[0])], tmp_path / "a.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["a.svg"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "x.svg"], "x.svg: can hold one sentence, but there are more (choose one with --sentence"),
        (["-o", "x.gif"], "x.gif: is not a picture format; expected a name that ends in .svg, .png, .html, .pdf"),
        (["-o", "x.svg", "--sentence", "3"], "gold.conllu: there is no sentence 3; found 2 sentences"),
        (["--sentence", "nobody"], "gold.conllu: there is no sentence nobody; found 2 sentences"),
        (["--with", str(SYSTEM)], "--with needs -o OUT"),
        (["--width", "400"], "--width needs -o OUT"),
        (["-o", "x.html", "--with", str(SYSTEM), "--view", "spans"], "--with compares arcs"),
        (["-o", "x.html", "--with", str(ROOT / "examples" / "figure1.conllu")], "gold.conllu: sentence 1: the two trees have different words: word 1 is 'A' and 'An'"),
        (["-o", "x.html", "--with", "short.conllu"], "gold.conllu: sentence 2: there is no such sentence in short.conllu"),
    ],
)  # fmt: skip
def test_mistakes_are_errors_and_write_nothing(
    gold: list[Sentence],
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    conllu.write(gold[:1], "short.conllu")
    with pytest.raises(HeadspanError) as error:
        draw(GOLD, *arguments)
    assert message in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["short.conllu"]


@pytest.mark.parametrize("kind", ["svg", "html", "png", "pdf"])
def test_no_sentences_are_an_error(tmp_path: Path, kind: str) -> None:
    with pytest.raises(HeadspanError, match="there are no sentences to draw"):
        save([], tmp_path / f"x.{kind}")
    assert not list(tmp_path.iterdir())


def test_existing_pictures_are_replaced_only_with_force(tmp_path: Path) -> None:
    out = tmp_path / "x.html"
    out.write_text("mine", encoding="utf-8")
    with pytest.raises(HeadspanError, match="--force"):
        draw(GOLD, "-o", out)
    draw(GOLD, "-o", out, "--force")
    assert "<svg " in out.read_text(encoding="utf-8")


# In the terminal


def test_a_tree_shows_confidences_in_colour() -> None:
    tree = Sentence.from_words(
        ["日本", "b", "c", "d"], heads=[0, 1, 1, 2], deprels=["root", "x", "y", "z"]
    )
    text = tree_text(Parse.of(tree, head_confidences=(1.0, 0.93, 0.6, 0.2)))
    assert text.plain.splitlines() == [
        "日本     root     100%",
        "├─ b     x         93%",
        "└─ c     y         60%",
        "   └─ d  z → 2 b   20%",
    ]
    console = Console(force_terminal=True, color_system="standard", width=80)
    with console.capture() as captured:
        console.print(text)
    assert "\x1b[1;31m   20%" in captured.get()
    assert "%" not in tree_text(tree).plain


def test_draw_shows_trees_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    draw(GOLD, "--view", "arcs", "--sentence", "arrow")
    assert capsys.readouterr().out.splitlines()[0] == "┌─ Time     NOUN   nsubj"
    draw(GOLD, "--view", "both", "--sentence", "arrow")
    assert " Time  flies  like  an  arrow  ." in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("text", "width", "parts"),
    [
        ("", 0, 0),
        ("abc", 3, 3),
        ("日本", 4, 2),
        ("e\u0301te\u0301", 3, 3),
        ("👩‍👩‍👧", 2, 1),
        ("👍🏽", 2, 1),
        ("❤️", 2, 1),
        ("🇫🇷", 2, 2),
        ("1️⃣", 2, 1),
        ("\u1112\u1161\u11ab", 2, 1),
        ("क्‍ष", 2, 2),  # the joiner asks for a form of letters here
        ("\u200da", 1, 2),
        ("ｶﾞ", 2, 2),
    ],
)
def test_widths_and_clusters_of_characters(text: str, width: int, parts: int) -> None:
    assert columns(text) == width
    assert len(list(clusters(text))) == parts
    assert "".join(clusters(text)) == text
    assert (ems(text) > 0) == bool(width)


def test_estimated_widths_are_not_too_small() -> None:
    """No text is wider in DejaVu Sans, which is a wide font, than its estimate."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    for text in (
        "nsubj:pass ROOT illegitimate WWW mmm Ελληνικά ПРИВЕТ щука ąęćż 12:45 -LRB- @user's".split()
    ):
        for bold in (False, True):
            font = FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal")
            drawn = TextPath((0, 0), text, size=100, prop=font).get_extents().width / 100
            assert drawn <= ems(text, bold=bold) <= 1.6 * drawn, text
