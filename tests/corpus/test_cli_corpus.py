"""headspan corpus as a user runs it, with a real, tiny model."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import ROOT
from headspan import conllu
from headspan.conllu import Sentence
from headspan.text import raw_text
from text.made_up import made_up_treebank

from .conftest import files

COMMAND = [sys.executable, "-m", "headspan", "corpus"]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def headspan(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "headspan", *map(str, arguments)], capture_output=True, text=True,
        env=ENVIRONMENT, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("text.txt")
    path.write_text(raw_text(made_up_treebank(400, 3)), encoding="utf-8")
    return path


def tree(sentence: Sentence) -> tuple[object, ...]:
    return sentence.forms, sentence.heads, sentence.deprels, sentence.misc, sentence.text


def test_the_trees_are_those_of_headspan_parse(text: Path, model: Path) -> None:
    Path("bad.jsonl").write_text("{\n", encoding="utf-8")
    headspan("parse", text, "-m", model, "-o", "parsed.conllu")
    done = headspan(
        "corpus", text, "bad.jsonl", "-m", model, "-o", "out", "--shard-size", 4, code=1
    )
    parsed = list(conllu.read("parsed.conllu"))
    shards = sorted(Path("out").glob("part-*.conllu"))
    assert len(shards) > 2
    sentences = [sentence for shard in shards for sentence in conllu.read(shard)]
    assert [tree(s) for s in sentences] == [tree(s) for s in parsed]
    assert ["# newpar" in s.comments for s in sentences] == [
        "# newpar" in s.comments for s in parsed
    ]
    words = sum(map(len, sentences))
    assert (
        done.stdout == f"out: {len(shards)} shards, {len(sentences)} sentences, {words:,} words\n"
    )
    assert "headspan: 1 error, listed in out/errors.jsonl" in done.stderr
    before = files(Path("out"))
    again = headspan(
        "corpus", text, "bad.jsonl", "-m", model, "-o", "out", "--shard-size", 4, code=1
    )
    assert again.stdout == done.stdout
    assert files(Path("out")) == before


def test_a_mistake_gives_one_line(text: Path, model: Path) -> None:
    done = headspan("corpus", "none.txt", "-m", model, "-o", "out", code=2)
    assert done.stderr == "headspan: none.txt: there is no such file or folder\n"
    assert "--address" in headspan("corpus", text, "-o", "o", "--address", "x", code=2).stderr


@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_how_to_resume(
    text: Path, model: Path, signal_: signal.Signals
) -> None:
    """In a terminal, with a bar. Ctrl-C reaches all processes, SIGTERM the first."""
    command = [*COMMAND, str(text), "-m", str(model), "-o", "out", "--shard-size", "1"]
    command += ["--processes", "1"]
    master, slave = pty.openpty()
    environment = {**ENVIRONMENT, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(command, stderr=slave, env=environment, start_new_session=True)
    os.close(slave)
    output = b""
    until = time.monotonic() + 120
    while not Path("out/part-00000.conllu").exists():
        assert time.monotonic() < until
        assert process.poll() is None
        time.sleep(0.01)
    if signal_ == signal.SIGINT:
        os.killpg(process.pid, signal_)
    else:
        process.send_signal(signal_)
    while True:
        try:
            piece = os.read(master, 1 << 16)
        except OSError:
            break
        if not piece:
            break
        output += piece
    os.close(master)
    assert process.wait() == 128 + signal_
    assert b"the same command resumes in out" in output
    assert b"Traceback" not in output
    assert not list(Path("out").glob(".headspan-*"))
    assert (Path("out") / "progress.jsonl").exists()


def test_the_parent_needs_no_torch() -> None:
    code = "import sys, headspan.corpus; print('torch' in sys.modules, 'numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.split() == ["False", "False"]
