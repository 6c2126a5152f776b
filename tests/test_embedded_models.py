"""The models that come with headspan, and the tools that make them."""

import lzma
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import ROOT
from headspan import Parser, conllu
from headspan.config import read_config
from headspan.model.folder import CARD, EMBEDDED, WEIGHTS, Figures, embedded_models
from headspan.plumbing.arrays import read_arrays
from headspan.plumbing.errors import HeadspanError

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
    subprocess.run([*command, "-o", tmp_path / "out", "--segmenter", "en-fast"], check=True)
    divided = list(conllu.read(tmp_path / "out" / "short.conllu"))
    assert [s.forms for s in divided] == [("one", "two"), ("three",)]
    assert all(head == conllu.NO_HEAD for s in divided for head in s.heads)
    assert {file.suffix for file in (tmp_path / "out").iterdir()} == {".conllu"}


def test_an_engine_that_does_not_exist_is_an_error() -> None:
    wrong: Any = "Torch"
    with pytest.raises(HeadspanError, match="engine is 'Torch'; expected one of onnx, torch"):
        Parser.load("en-fast", engine=wrong)


def test_attention_over_a_huge_window_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headspan.model.saving._LARGEST_ATTENTION", 12 * 512**2 - 1)
    with pytest.raises(HeadspanError, match=r"its encoder holds 3,145,728 numbers for a window"):
        Parser.load("en-fast", engine="onnx")


def test_another_device_computes_with_torch_in_float32() -> None:
    words = "She saw the man with the telescope .".split()
    exact = Parser.load("en-fast", int8=False).parse_words(words, confidence=True)
    moved = Parser.load("en-fast").to("cpu")
    assert type(moved.network).__name__ == "Network"
    found = moved.parse_words(words, confidence=True)
    assert found.heads == exact.heads
    assert found.confidences == pytest.approx(exact.confidences, abs=1e-3)
