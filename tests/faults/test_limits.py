"""Sentences, words and lines that are far too long: an answer in bounded memory, or a clear no."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from corpus.conftest import model  # noqa: F401 (a fixture)
from headspan import HeadspanError, conllu
from headspan.conllu import Sentence
from headspan.model.parser import Parser
from headspan.plumbing import limits
from headspan.render import arcs_svg, draw_spans, draw_tree, spans_svg
from headspan.runtime import piece_scores
from headspan.training.loop import Trainer
from training.conftest import treebank  # noqa: F401 (a fixture)
from training.test_training import config

MB = 1 << 20


class Done(NamedTuple):
    """How some commands ended, and what it took."""

    codes: list[int]
    said: list[str]
    peak: int
    """Bytes of memory, at most."""


def headspan(*commands: Sequence[object]) -> Done:
    """Run some commands, one after the other in one process of their own."""
    lines = json.dumps([list(map(str, command)) for command in commands])
    done = subprocess.run(
        [sys.executable, "-c", ONE_BY_ONE, lines], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return Done(*json.loads(done.stderr.splitlines()[-1]))


ONE_BY_ONE = r"""
import contextlib, io, json, re, sys
from pathlib import Path
from headspan.cli import main
codes, said = [], []
for command in json.loads(sys.argv[1]):
    sys.argv[1:] = command
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        try:
            main()
            codes.append(0)
        except SystemExit as ended:
            codes.append(ended.code or 0)
    said.append(errors.getvalue())
# unlike ru_maxrss, this does not begin with the memory of the process that started this one
peak = int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
print(json.dumps([codes, said, peak]), file=sys.stderr)
"""


def row(k: int, form: str, head: int) -> str:
    return f"{k}\t{form}\t_\tX\t_\t_\t{head}\t{'dep' if head else 'root'}\t_\t_\n"


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CoNLL-U that is well-formed, and text, both out of all proportion."""
    folder = tmp_path_factory.mktemp("long")
    (folder / "sentence.conllu").write_text(
        "".join(row(k, f"w{k % 7}", k - 1) for k in range(1, 50_001)) + "\n", encoding="utf-8"
    )
    (folder / "word.conllu").write_text(
        row(1, "x" * 1_000_000, 2) + row(2, "y", 0) + "\n", encoding="utf-8"
    )
    (folder / "drawn.conllu").write_text(
        row(1, "x" * 100_000, 2) + row(2, "y", 0) + "\n", encoding="utf-8"
    )
    (folder / "line.conllu").write_text(
        row(1, "x", 0).replace("\t_\n", f"\tNote={'z' * 10_000_000}\n") + "\n", encoding="utf-8"
    )
    (folder / "many.conllu").write_text((row(1, "x", 0) + "\n") * 100_000, encoding="utf-8")
    (folder / "sentence.txt").write_text("word " * 50_000, encoding="utf-8")
    (folder / "endless.txt").write_text("word " * 1_200, encoding="utf-8")
    (folder / "word.txt").write_text("x" * 1_000_000 + " y", encoding="utf-8")
    (folder / "many.txt").write_text("x\n\n" * 100_000, encoding="utf-8")
    return folder


def test_commands_handle_treebanks_of_any_shape(long: Path, tmp_path: Path) -> None:
    shapes = [long / f"{what}.conllu" for what in ("sentence", "word", "line", "many")]
    outs = [tmp_path / path.name for path in shapes]
    done = headspan(
        *(("convert", path, "-o", out) for path, out in zip(shapes, outs, strict=True)),
        *(("stats", path) for path in shapes),
        *(("score", path, path) for path in shapes),
    )
    assert set(done.codes) == {0}, done.said
    for path, out in zip(shapes, outs, strict=True):
        assert out.read_bytes() == path.read_bytes()
    assert done.peak < 700 * MB


def test_a_sentence_that_is_too_long_is_not_drawn(long: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.svg"
    views = [(), ("--view", "arcs"), ("-o", out), ("-o", out, "--view", "spans", "--force")]
    done = headspan(
        *(("draw", long / f"{what}.conllu", *view) for what in ("sentence", "drawn") for view in views),
        ("draw", long / "drawn.conllu", "-o", tmp_path / "out.png"),
    )  # fmt: skip
    assert done.codes == [2, 2, 2, 2, 0, 0, 0, 0, 2]
    for said in done.said[:4]:
        assert "sentence 1: the sentence has 50,000 words; at most 2,000 are drawn" in said
    assert "expected at most 650,000 for PNG: save it as .svg or .html" in done.said[-1]
    assert done.peak < 400 * MB


def test_long_words_and_texts_are_parsed_and_long_sentences_refused(
    long: Path,
    tmp_path: Path,
    model: Path,  # noqa: F811
) -> None:
    refused = [("sentence.conllu",), ("sentence.txt", "--pretokenized")]
    answered = [
        ("endless.txt",), ("word.conllu",), ("word.txt", "--pretokenized"), ("word.txt",),
        ("line.conllu",), ("many.txt",), ("many.txt", "--pretokenized"),
    ]  # fmt: skip
    outs = [tmp_path / str(k) for k in range(len(refused) + len(answered))]
    done = headspan(
        *(
            ("parse", long / name, "-m", model, "-o", out, *options)
            for (name, *options), out in zip([*refused, *answered], outs, strict=True)
        )
    )
    assert done.codes == [2, 2, *[0] * len(answered)], done.said
    for said in done.said[:2]:
        assert "sentence 1 has 50,000 words; at most 2,000 are parsed: divide it" in said
    words = [sum(map(len, conllu.read(out))) if out.exists() else None for out in outs]
    assert words[:2] == [None, None]
    least = (1_200, 2, 2, 1_000_000 // 65_536, 1, 100_000, 100_000)
    assert all(found >= n for found, n in zip(filter(None, words), least, strict=True)), words
    assert done.peak < 900 * MB


@pytest.fixture
def parser(model: Path, monkeypatch: pytest.MonkeyPatch) -> Parser:  # noqa: F811
    monkeypatch.setattr(limits, "LONGEST", 20)
    monkeypatch.setattr(limits, "LONGEST_DENSE", 10)
    return Parser.load(model)


def test_a_parser_refuses_sentences_that_are_too_long(parser: Parser) -> None:
    assert len(parser.parse_words(["x"] * 20)) == 20
    with pytest.raises(HeadspanError, match="sentence 1 has 21 words; at most 20 are parsed"):
        parser.parse_words(["x"] * 21)
    with pytest.raises(HeadspanError, match="sentence 3 has 22 words"):
        list(parser.parse_stream([["x"], ["y"], ["x"] * 22]))
    with pytest.raises(HeadspanError, match=r"sentence 1 has 11 words; .* 10 at most"):
        parser.parse_words(["x"] * 11, k=2)


@pytest.mark.parametrize(
    ("structure", "decoder"),
    [
        ("joint", "best"),
        ("mean-field", "best"),
        ("sibling", "best"),
        ("split-sibling", "best"),
        ("span", "minimum-risk"),
        ("mst", "minimum-risk"),
    ],
)
def test_structures_with_dense_scores_refuse_shorter_sentences(
    treebank: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    structure: str,
    decoder: str,
) -> None:
    monkeypatch.setattr(limits, "LONGEST_DENSE", 10)
    settings = config(treebank, model={"structure": structure, "decoder": decoder})
    parser = Trainer(settings, tmp_path).parser
    assert len(parser.parse_words(["x"] * 10)) == 10
    with pytest.raises(HeadspanError, match="sentence 1 has 11 words; at most 10 are parsed"):
        parser.parse_words(["x"] * 11)


@pytest.mark.parametrize("structure", ["span", "mst", "arc"])
def test_long_sentences_have_no_confidences_if_those_take_much_memory(
    treebank: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    structure: str,
) -> None:
    monkeypatch.setattr(limits, "LONGEST_DENSE", 10)
    monkeypatch.setattr(piece_scores, "MOST_DENSE", 10)
    parser = Trainer(config(treebank, model={"structure": structure}), tmp_path).parser
    short, long = parser.parse([["x"] * 10, ["x"] * 11], confidence=True)
    assert len(short.confidences) == 10
    assert len(long.confidences) == (11 if structure == "arc" else 0)


def test_training_leaves_long_sentences_out(
    treebank: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sentences = list(conllu.read(treebank / "train.conllu"))
    most = min(map(len, sentences))
    conllu.write([s for s in sentences if len(s) == most], tmp_path / "short.conllu")
    settings = config(treebank)
    monkeypatch.setattr(limits, "LONGEST", most)
    with pytest.raises(HeadspanError, match=r"dev.conllu: sentence \d+ has 9 words; at most 6"):
        Trainer(settings, tmp_path)
    data = replace(settings.data, dev=str(tmp_path / "short.conllu"))
    kept = Trainer(replace(settings, data=data), tmp_path).training_set
    assert kept.dropped == {f"more than {most} words": sum(len(s) > most for s in sentences)}


def drawn() -> Iterator[Any]:
    yield from (arcs_svg, spans_svg, draw_tree, draw_spans)


@pytest.mark.parametrize("draw", list(drawn()))
def test_drawing_refuses_sentences_that_are_too_long(
    draw: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LONGEST", 20)
    draw(Sentence.from_words(["x"] * 20, heads=range(20)))
    with pytest.raises(HeadspanError, match="21 words; at most 20 are drawn"):
        draw(Sentence.from_words(["x"] * 21, heads=range(21)))
