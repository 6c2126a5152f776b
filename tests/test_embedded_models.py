"""The models that come with headspan, and the tools that make them."""

import lzma
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from conftest import ROOT
from headspan import Parser
from headspan.config import read_config
from headspan.model.folder import CARD, EMBEDDED, WEIGHTS, Figures, embedded_models
from headspan.plumbing.arrays import read_arrays

CARD_OF = "---\nlanguage: en\nheadspan: {}\ntags: [a]\n---\n\n# A model\n"


@pytest.mark.parametrize(
    ("card", "figures"),
    [
        (CARD_OF.format('{"las": 90.5, "raw_las": 88, "words_per_second": 3000}'),
         Figures("en", 90.5, 88, 3000)),
        (CARD_OF.format('{"las": "high", "raw_las": true}'), Figures("en")),
        (CARD_OF.format("{"), Figures("en")),
        (CARD_OF.format("[1]"), Figures("en")),
        (CARD_OF.format("[" * 100_000), Figures("en")),
        ("# language: en\n", Figures()),
        ("---\n---\nlanguage: en\n", Figures()),
        ("", Figures()),
    ],
)  # fmt: skip
def test_figures_are_read_from_the_header_of_a_card(card: str, figures: Figures) -> None:
    assert Figures.of(card) == figures


@pytest.mark.parametrize("name", embedded_models())
def test_an_embedded_model_is_what_its_configuration_makes(name: str) -> None:
    parser = Parser.load(name)
    assert parser.config.model == read_config(ROOT / "configs" / f"{name}.toml").model
    weights = read_arrays(EMBEDDED / name / WEIGHTS)
    assert weights["arcs.head.linear.weight"].dtype == np.int8
    assert parser.segmenter is not None
    figures = Figures.of((EMBEDDED / name / CARD).read_text(encoding="utf-8"))
    assert None not in (figures.las, figures.raw_las, figures.words_per_second)
    document = parser("Dogs don't bark. We'll see!")
    assert [sentence.forms for sentence in document] == [
        ("Dogs", "do", "n't", "bark", "."), ("We", "'ll", "see", "!"),
    ]  # fmt: skip
    assert [token.lemma for token in document[0]] == ["dog", "do", "not", "bark", "."]
    assert document[0].heads == (4, 4, 4, 0, 4)


@pytest.mark.parametrize(("name", "most"), [("en", 50e6), ("en-fast", 20e6)])
def test_an_embedded_model_is_small(name: str, most: float) -> None:
    assert sum(file.stat().st_size for file in (EMBEDDED / name).iterdir()) < most


def test_the_sample_of_a_text_is_even(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    paragraphs = [f"word{k} " * 10 for k in range(100)]
    data = "\n\n".join(paragraphs).encode()
    (tmp_path / "text" / "long.txt.xz").write_bytes(lzma.compress(data))
    (tmp_path / "text" / "short.txt").write_text("one two\n\nthree", encoding="utf-8")
    command = [sys.executable, ROOT / "tools" / "sample_text.py", tmp_path / "text"]
    subprocess.run([*command, "-o", tmp_path / "out", "--words", "200"], check=True)
    long = (tmp_path / "out" / "long.txt").read_text(encoding="utf-8").split("\n\n")[:-1]
    kept = [paragraphs.index(paragraph) for paragraph in long]
    assert len(kept) == 20
    assert {b - a for a, b in pairwise(kept)} == {5}
    short = (tmp_path / "out" / "short.txt").read_text(encoding="utf-8")
    assert short == "one two\n\nthree\n\n"
