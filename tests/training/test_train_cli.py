"""headspan train, parse, evaluate and info, as a user runs them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from headspan import conllu
from headspan.model.folder import embedded_models

SMALL = """
[model]
lstm_layers = 1
lstm_size = 8
score_size = 8
label_size = 4
[model.embeddings]
words = 8
tags = 4
columns = ["upos"]
[training]
epochs = 2
batch_tokens = 200
learning_rate = 0.01
"""


def headspan(
    *arguments: object, code: int = 0, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "headspan", *map(str, arguments)], input=stdin, text=True,
        capture_output=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, treebank: Path) -> Path:
    folder = tmp_path_factory.mktemp("run")
    (folder / "c.toml").write_text(SMALL, encoding="utf-8")
    done = headspan(
        "train", folder / "c.toml", "-o", folder / "out", "--data.train", treebank / "train.conllu",
        f"--data.dev={treebank / 'dev.conllu'}",
    )  # fmt: skip
    assert "training: 60 sentences" in done.stderr
    assert "made projective" in done.stderr
    assert "segmenter: none" in done.stderr
    assert "epoch 2/2" in done.stderr
    assert done.stdout.startswith("best dev LAS")
    return folder


def test_the_log_has_one_line_per_epoch(run: Path) -> None:
    lines = (run / "out" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["epoch"] for line in lines] == [1, 2]


def test_parse_changes_only_the_tree(run: Path, treebank: Path, tmp_path: Path) -> None:
    model = run / "out" / "model"
    out = tmp_path / "out.conllu"
    headspan("parse", treebank / "dev.conllu", "--model", model, "-o", out)
    gold, parsed = (list(conllu.read(p)) for p in (treebank / "dev.conllu", out))
    assert [(s.forms, s.upos, s.comments) for s in parsed] == [
        (s.forms, s.upos, s.comments) for s in gold
    ]
    assert "exists already" in headspan("parse", out, "--model", model, "-o", out, code=2).stderr
    text = headspan("parse", "-", "--model", model, stdin=out.read_text(encoding="utf-8")).stdout
    assert text == out.read_text(encoding="utf-8")
    (line,) = headspan("parse", "the dog sees", "-m", model, "--format", "json").stdout.splitlines()
    assert json.loads(line)["words"] == ["the", "dog", "sees"]


def test_evaluate_is_parse_and_score(run: Path, treebank: Path, tmp_path: Path) -> None:
    model, out = run / "out" / "model", tmp_path / "out.conllu"
    headspan("parse", treebank / "dev.conllu", "--model", model, "-o", out)
    scored = json.loads(
        headspan("score", treebank / "dev.conllu", out, "--punct", "upos", "--json").stdout
    )
    found = json.loads(headspan("evaluate", treebank / "dev.conllu", "-m", model, "--json").stdout)
    assert found["las"] == scored["las"]
    for metric in ("upos", "xpos", "ufeats", "alltags", "lemmas", "mlas", "blex"):
        assert found[metric] is None  # the model only copied them
        assert found["counts"][metric] is None
        assert scored[metric] == 100 or metric in ("mlas", "blex")
    assert found["clas"] == scored["clas"]
    table = headspan("evaluate", treebank / "dev.conllu", "-m", model).stdout
    shown = {line.split()[0]: line.split()[1] for line in table.splitlines() if line.strip()}
    assert shown["Lemmas"] == shown["UPOS"] == shown["MLAS"] == "–"
    assert float(shown["LAS"]) == pytest.approx(found["las"], abs=0.01)
    raw = headspan("evaluate", treebank / "dev.conllu", "-m", model, "--raw", code=2)
    assert "has no segmenter, which --raw needs" in raw.stderr


def test_info_describes_a_model(run: Path) -> None:
    installed = json.loads(headspan("info", "--json").stdout)
    assert installed["headspan"]
    assert [model["model"] for model in installed["models"]] == embedded_models()
    assert all(model["language"] == "en" and model["las"] > 80 for model in installed["models"])
    listed = headspan("info").stdout
    assert all(f"\n{name} " in listed for name in embedded_models())
    out = headspan("info", run / "out" / "model").stdout
    assert "max-margin" in out
    assert "words (" in out


def test_mistakes_of_training_are_one_line(run: Path, tmp_path: Path) -> None:
    toml = run / "c.toml"
    assert "has a checkpoint already" in headspan("train", toml, "-o", run / "out", code=2).stderr
    assert (
        "unknown key training.epoch"
        in headspan("train", toml, "-o", tmp_path / "new", "--training.epoch", 3, code=2).stderr
    )
    assert (
        "expected a value" in headspan("train", toml, "-o", tmp_path / "new", "--x", code=2).stderr
    )
    assert (
        "there is no such model"
        in headspan("parse", "a b", "-m", tmp_path / "nothing", code=2).stderr
    )
    assert not (tmp_path / "new").exists()


def test_parse_writes_other_formats(run: Path, treebank: Path, tmp_path: Path) -> None:
    model = run / "out" / "model"
    text = "the dog sees a cat .\n\nevery arrow flies !\n"
    asked = headspan("parse", "-", "-m", model, "--format", "tree", stdin=text)
    assert asked.stderr.count("the model reads UPOS") == 1
    assert asked.stderr.count("headspan: the model has no segmenter: each line is taken as") == 1
    split = headspan("parse", "-", "-m", model, "--pretokenized", stdin=text).stderr
    assert "segmenter" not in split
    drawn = asked.stdout
    assert len(drawn.splitlines()) == 6 + 1 + 4
    assert "─ dog" in drawn
    (tmp_path / "in.txt").write_text(text, encoding="utf-8")
    lines = headspan(
        "parse", tmp_path / "in.txt", "-m", model, "--format", "json", "--best", 3, "--confidence"
    ).stdout.splitlines()  # fmt: skip
    first, second = map(json.loads, lines)
    assert second["words"] == ["every", "arrow", "flies", "!"]
    assert len(first["best"]) == 3
    assert first["best"][0]["heads"] == first["heads"]
    assert len(first["confidences"]) == len(first["spans"]) == 6
    headspan("parse", tmp_path / "in.txt", "-m", model, "-o", tmp_path / "out.json", "--best", 3)
    written = (tmp_path / "out.json").read_text(encoding="utf-8").splitlines()
    assert [len(json.loads(line)["best"]) for line in written] == [3, 3]
    out = tmp_path / "out.conllu"
    headspan("parse", treebank / "two.conllu", "-m", model, "--confidence", "-o", out)
    for sentence in conllu.read(out):
        assert all(0 < token.confidence <= 1 for token in sentence)
    again = headspan("parse", out, "-m", model).stdout
    assert "Confidence=" not in again  # it was that of another tree


def test_a_text_in_another_language_is_one_line_on_standard_error(tmp_path: Path) -> None:
    texts = [tmp_path / "1.txt", tmp_path / "2.txt"]
    for text in texts:
        text.write_text("Le chat de la voisine ne dort pas dans le jardin.\n", encoding="utf-8")
    done = headspan("parse", *texts, "-o", tmp_path / "out.conllu")
    assert done.stderr == "headspan: this text looks like French; the model is English\n"
    assert headspan("parse", "The cat sleeps in the garden of the neighbours.").stderr == ""


def test_mistakes_of_parsing_are_one_line(run: Path, tmp_path: Path) -> None:
    model = run / "out" / "model"
    asked = headspan("parse", "a b", "-m", model, "--best", 2, "-o", tmp_path / "x.conllx", code=2)
    assert "--best needs another --format: CoNLL-X has one tree" in asked.stderr
    asked = headspan("parse", "a b", "-m", model, "--confidence", "--format", "conllx", code=2)
    assert "CoNLL-X has no column for it" in asked.stderr
    assert "no such file" in headspan("parse", "typo.conllu", "-m", model, code=2).stderr
    assert headspan("parse", "", "-m", model).stdout == ""
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9 au lait")
    assert (
        "latin.txt: is not UTF-8: the byte 0xe9"
        in headspan("parse", tmp_path / "latin.txt", "-m", model, code=2).stderr
    )


def test_benchmark_measures_a_model(run: Path, treebank: Path) -> None:
    model = run / "out" / "model"
    found = json.loads(
        headspan("benchmark", treebank / "dev.conllu", "-m", model, "--repeat", 1, "--json").stdout
    )
    assert [speed["threads"] for speed in found] == [1, 2]
    for speed in found:
        assert speed["words"] == sum(map(len, conllu.read(treebank / "dev.conllu")))
        assert sum(speed["stages"].values()) == pytest.approx(speed["seconds"], rel=1e-6)
        assert speed["stages"]["decode"] > 0
    wrong = headspan("benchmark", treebank / "dev.conllu", "-m", model, "--threads", "x", code=2)
    assert "expected numbers such as 1,2" in wrong.stderr
