"""Error analysis of made-up systems: files, figures, and sentences side by side."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.test_report import headspan
from headspan import conllu
from headspan.conllu import Sentence
from headspan.experiments.analysis import analyse
from headspan.experiments.measures import FIGURE_4, gaps, read_systems, series
from headspan.plumbing.errors import HeadspanError
from headspan.scoring import breakdown, score


@pytest.fixture(scope="module")
def systems(treebank: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Gold; a system with a wrong head in every second sentence; one with wrong objects."""
    folder = tmp_path_factory.mktemp("systems")
    gold = list(conllu.read(treebank / "test.conllu"))

    def first(k: int, s: Sentence) -> Sentence:
        heads = list(s.heads)
        heads[0] = 3 if k % 2 else 2
        return s.with_parse(heads, s.deprels)

    def second(k: int, s: Sentence) -> Sentence:
        labels = ["iobj" if label == "obj" and k < 5 else label for label in s.deprels]
        return s.with_parse([5 if k == 0 and n == 1 else h for n, h in enumerate(s.heads)], labels)

    conllu.write([first(k, s) for k, s in enumerate(gold)], folder / "arc.conllu")
    conllu.write([second(k, s) for k, s in enumerate(gold)], folder / "span.conllu")
    return treebank / "test.conllu", folder / "arc.conllu", folder / "span.conllu"


@pytest.fixture(scope="module")
def out(systems: tuple[Path, Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("out") / "analysis"
    gold, *others = map(str, systems)
    paths = analyse(
        gold, others, folder, names=["Arcs & co", "Spans <1>"], punct="upos", samples=50
    )
    assert {path.name for path in paths} == {
        *(f"{by}.{kind}" for by in (*FIGURE_4, "relation", "upos") for kind in ("png", "svg", "csv")),
        "figure4.png", "figure4.svg", "differences.md", "differences.html",
    }  # fmt: skip
    return folder


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_csv_is_the_breakdown(systems: tuple[Path, Path, Path], out: Path) -> None:
    gold, arc, _ = systems
    evaluation = score(conllu.read(gold), conllu.read(arc), punct="upos")
    for by, measure in FIGURE_4.items():
        written = [row for row in rows(out / f"{by}.csv") if row["system"] == "Arcs & co"]
        expected = breakdown(evaluation, by)
        assert [row["bin"] for row in written] == list(expected)
        for row in written:
            s = expected[row["bin"]][measure]
            assert float(row["f1"]) == s.f1
            assert (float(row["precision"]), float(row["recall"])) == (s.precision, s.recall)
            assert (int(row["gold"]), int(row["predicted"])) == (s.gold, s.system)
            assert float(row["low"]) <= s.f1 <= float(row["high"])


def test_differences_by_relation_have_intervals(
    systems: tuple[Path, Path, Path], out: Path
) -> None:
    by_relation = {row["relation"]: row for row in rows(out / "relation.csv")}
    assert "punct" not in by_relation  # it is left out
    assert float(by_relation["det"]["difference"]) > 0
    assert float(by_relation["obj"]["difference"]) < 0
    assert float(by_relation["nsubj"]["first"]) == 100
    gold, arc, span = map(str, systems)
    first, second = read_systems(gold, [arc, span], ["a", "b"], punct="upos")
    again = gaps(first, second, "relation", "las", samples=50)
    assert float(by_relation["obj"]["low"]) == again["obj"].low
    assert again["obj"].low <= again["obj"].second - again["obj"].first <= again["obj"].high
    same = gaps(first, first, "upos", "las", samples=20)
    assert {(gap.low, gap.high) for gap in same.values()} == {(0.0, 0.0)}


def test_seeds_of_a_system_are_counted_together(
    systems: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    gold, arc, span = map(str, systems)
    names = ["both", "span", "both"]
    both, alone = read_systems(gold, [arc, span, span], names, punct="keep")
    (first,) = read_systems(gold, [arc], ["arc"], punct="keep")
    assert [len(both.seeds), len(alone.seeds)] == [2, 1]
    for by, measure in FIGURE_4.items():
        a, b, pooled = (series(s, by, measure, samples=50) for s in (first, alone, both))
        for name, point in pooled.items():
            total = a[name].score + b[name].score
            assert point.score.counts == total.counts
            assert point.low <= point.score.f1 <= point.high
    # a sentence is drawn with all its seeds: seeds that are equal say nothing new
    (twice,) = read_systems(gold, [arc, arc], ["arc", "arc"], punct="keep")
    for name, point in series(twice, "root_distance", "uas", samples=50).items():
        once = series(first, "root_distance", "uas", samples=50)[name]
        assert (point.score.f1, point.low, point.high) == (once.score.f1, once.low, once.high)
        assert point.score.gold == 2 * once.score.gold
    words = gaps(first, alone, "upos", "las", samples=20)
    assert gaps(twice, alone, "upos", "las", samples=20) == words  # gold words are not doubled
    out = tmp_path / "out"
    headspan("experiment", "analyse", gold, arc, span, span, "-o", out, "--names", "both,span,both")
    lengths = rows(out / "sentence_length.csv")
    assert [(row["system"], row["seeds"]) for row in lengths[::5]] == [("both", "2"), ("span", "1")]
    assert (
        lengths[0]["gold"] == lengths[5]["gold"] == lengths[0]["predicted"]
    )  # words, not words × seeds
    text = (out / "differences.md").read_text(encoding="utf-8")
    assert text.startswith("# Where both (first of 2 seeds) and span differ most")


def test_files_of_two_systems_are_removed_for_one(
    systems: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    gold, arc, span = map(str, systems)
    (tmp_path / "README.md").touch()
    analyse(gold, [arc, span], tmp_path, samples=5)
    # names that matplotlib would hide or take for mathematics
    paths = analyse(gold, [arc], tmp_path, names=["_a$^$"], samples=5)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        [*(p.name for p in paths), "README.md"]
    )
    assert len(paths) == 4 * 3 + 2
    assert "_a$^$" in (tmp_path / "figure4.svg").read_text(encoding="utf-8")


def test_intervals_shrink_to_nothing_for_a_perfect_system(treebank: Path) -> None:
    path = str(treebank / "test.conllu")
    (system,) = read_systems(path, [path], ["gold"], punct="keep")
    points = series(system, "dependency_length", "uas", samples=50)
    assert {(p.score.f1, p.low, p.high) for p in points.values() if p.score.gold} == {
        (100, 100, 100)
    }
    assert points["≥8"].low == 0  # no such arc


def test_bins_can_be_chosen(systems: tuple[Path, Path, Path], tmp_path: Path) -> None:
    gold, arc, _ = map(str, systems)
    headspan(
        "experiment", "analyse", gold, arc, "-o", tmp_path / "out", "--bins",
        "dependency_length=1,3", "--bins", "root_distance=0,2",
    )  # fmt: skip
    assert [row["bin"] for row in rows(tmp_path / "out" / "dependency_length.csv")] == ["1-2", "≥3"]
    assert [row["bin"] for row in rows(tmp_path / "out" / "root_distance.csv")] == ["0-1", "≥2"]
    assert not (tmp_path / "out" / "relation.csv").exists()  # that takes two systems
    wrong: list[tuple[str, list[int], str]] = [
        ("relation", [1, 2], "bins for 'relation'; expected sentence_length"),
        ("span_length", [2, 3], "bins of span_length are 2, 3; expected rising numbers from 1"),
        ("root_distance", [0, 3, 3], "expected rising numbers from 0"),
    ]
    for by, ends, message in wrong:
        with pytest.raises(HeadspanError, match=message):
            analyse(gold, [arc], tmp_path / "no", bins={by: ends})
    done = headspan(
        "experiment", "analyse", gold, arc, "-o", tmp_path / "no", "--bins", "x=1,y", code=2
    )
    assert "--bins x=1,y: expected bins such as sentence_length=1,10,20" in done.stderr


def test_figures_are_png_and_svg_with_their_names(out: Path) -> None:
    for path in out.glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG")
    svg = (out / "figure4.svg").read_text(encoding="utf-8")
    for text in ("Sentence length", "Distance to root", "Arcs &amp; co", "Spans &lt;1&gt;"):
        assert text in svg
    assert "dc:date" not in svg


def test_differing_sentences_are_shown_side_by_side(out: Path) -> None:
    text = (out / "differences.md").read_text(encoding="utf-8")
    assert text.startswith("# Where Arcs & co and Spans <1> differ most\n")
    block = (
        text.split("## Sentence 2 (1): 2 words right in one only")[1].split("```")[1].splitlines()
    )
    assert text.index("## Sentence 2 (1): 2 words right in one only") < text.index("## Sentence 3")
    assert block[1].split() == ["Arcs", "&", "co", "Spans", "<1>"]
    assert block[2].startswith("✗")
    assert block[2].count("✗") == 1
    assert "gold: det → 2 " in block[2]
    page = (out / "differences.html").read_text(encoding="utf-8")
    assert "Arcs &amp; co and Spans &lt;1&gt;" in page
    assert "<1>" not in page


def test_mistakes_are_named(
    systems: tuple[Path, Path, Path], treebank: Path, tmp_path: Path
) -> None:
    gold, arc, span = map(str, systems)
    for others, names, message in (
        ([arc, span], ["one"], "1 names for 2 systems"),
        ([arc, arc], [], "systems are called systems0, systems0; name them with --names"),
        ([arc] * 7, list("abcdefg"), "7 systems; expected at most 6 in a plot"),
        ([], [], "there is no system"),
        ([arc, span], ["a", ""], "names are 'a,'; expected no empty name"),
        ([arc, arc], ["a", "a"], "arc.conllu: occurs 2 times for a; expected other seeds"),
        ([str(treebank / "dev.conllu")], [], "has 12 sentences; expected the 20 of"),
    ):
        with pytest.raises(HeadspanError, match=message):
            analyse(gold, others, tmp_path / "out", names=names)
    other = tmp_path / "other.conllu"
    other.write_text(
        Path(gold).read_text(encoding="utf-8").replace("\tcat\t", "\tcow\t"), encoding="utf-8"
    )
    with pytest.raises(HeadspanError, match="has other words than"):
        analyse(gold, [str(other)], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    done = headspan(
        "experiment", "analyse", gold, arc, "-o", tmp_path / "x", "--names", "a,b", code=2
    )
    assert done.stderr == "headspan: 2 names for 1 systems; expected one each\n"


def test_missing_matplotlib_is_named(
    systems: tuple[Path, Path, Path], tmp_path: Path, uninstall: Callable[[str], None]
) -> None:
    uninstall("matplotlib")
    with pytest.raises(HeadspanError, match=r"plots needs matplotlib.*'headspan\[plot\]'"):
        analyse(str(systems[0]), [str(systems[1])], tmp_path / "out")
