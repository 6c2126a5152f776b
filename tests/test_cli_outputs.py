import json
from pathlib import Path

import pytest

from headspan import HeadspanError, conllu
from headspan.cli.output_format import output_format
from headspan.cli.parse_output import OutputFormat, write_parses
from headspan.conllu import Sentence
from headspan.model.parse_result import Parse, Tree

FORMATS: tuple[OutputFormat, ...] = ("conllu", "conllx", "json", "tree")


@pytest.mark.parametrize(
    ("output", "chosen", "format"),
    [
        ("-", None, "conllu"), ("-", "json", "json"), ("out", None, "conllu"),
        ("out.json", None, "json"), ("out.jsonl.gz", None, "json"), ("a.b/out.txt", "tree", "tree"),
        ("out.conll", None, "conllx"), ("out.conll", "conllu", "conllu"), ("OUT.CONLLX.xz", None, "conllx"),
    ],
)  # fmt: skip
def test_the_format_follows_the_option_then_the_ending(
    output: str, chosen: OutputFormat | None, format: str
) -> None:
    assert output_format(output, chosen, FORMATS) == format


def test_an_ending_that_means_another_format_is_an_error() -> None:
    contradiction = r"--format conllu contradicts -o out\.json\.gz, whose ending means json"
    with pytest.raises(HeadspanError, match=contradiction):
        output_format("out.json.gz", "conllu", FORMATS)
    with pytest.raises(HeadspanError, match="--to conllx contradicts"):
        output_format("out.conllu", "conllx", ("conllu", "conllx"), option="--to")
    with pytest.raises(HeadspanError, match="means a picture, but the formats here are conllu"):
        output_format("out.svg", None, FORMATS)
    with pytest.raises(HeadspanError, match="--format tree contradicts"):
        output_format("out.svg", "tree", FORMATS)


@pytest.fixture
def parse() -> Parse:
    comments = ["# newpar", "# sent_id = a", "# tree = 7", "# text = big dogs"]
    sentence = Sentence.from_words(
        ["big", "dogs"], heads=[2, 0], deprels=["amod", "root"], comments=comments
    )
    trees = (
        Tree((2, 0), ("amod", "root"), 3.0, 0.875),
        Tree((0, 1), ("root", "dep"), 1.0, 0.125),
    )
    return Parse.of(
        sentence, head_confidences=(0.9, 0.8), relation_confidences=(1.0, 1.0), alternatives=trees
    )


def test_conllu_holds_the_best_trees_one_after_the_other(parse: Parse, tmp_path: Path) -> None:
    out = tmp_path / "out.conllu"
    write_parses([parse], str(out), "conllu", overwrite=False)
    first, second = conllu.read(out)
    assert (first.heads, second.heads) == ((2, 0), (0, 1))
    assert first.comments == (
        "# newpar", "# sent_id = a", "# text = big dogs", "# tree = 1", "# probability = 0.875",
    )  # fmt: skip
    assert second.comments == (
        "# sent_id = a-tree2", "# text = big dogs", "# tree = 2", "# probability = 0.125",
    )  # fmt: skip
    assert first.misc[0].startswith("Confidence=0.9000")
    assert second.misc == ("_", "_")  # the confidences are those of the other tree


def test_drawings_of_the_best_trees_have_rank_and_probability(parse: Parse, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    write_parses([parse, parse], str(out), "tree", overwrite=False)
    drawings = out.read_text(encoding="utf-8").split("\n\n")
    titles = [drawing.splitlines()[0] for drawing in drawings]
    assert titles == ["tree 1, probability 87.5%", "tree 2, probability 12.5%"] * 2
    assert "90%" in drawings[0]
    assert "90%" not in drawings[1]


def test_json_holds_the_best_trees_in_one_line(parse: Parse, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    write_parses([parse], str(out), "json", overwrite=False)
    best = json.loads(out.read_text(encoding="utf-8"))["best"]
    assert [tree["probability"] for tree in best] == [0.875, 0.125]
