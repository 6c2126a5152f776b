"""One parser in the hands of many threads, and after a fork."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from corpus.conftest import model  # noqa: F401 (a fixture)
from headspan import conllu
from headspan.conllu import Sentence, numerals
from headspan.inference import Constraints
from headspan.model.parser import Parser
from training.conftest import treebank  # noqa: F401 (a fixture)

THREADS = 8


def at_once(call: Callable[[], Any]) -> list[Any]:
    """What a call gives in each of several threads that begin together."""
    barrier = Barrier(THREADS)

    def work(_: int) -> Any:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, range(THREADS)))


@pytest.fixture(scope="module")
def parser(model: Path) -> Parser:  # noqa: F811
    return Parser.load(model)


@pytest.fixture(scope="module")
def sentences(treebank: Path) -> list[Sentence]:  # noqa: F811
    return list(conllu.read(treebank / "train.conllu"))


def calls(parser: Parser, sentences: list[Sentence]) -> dict[str, Callable[[], Any]]:
    text = " ".join(" ".join(s.forms) for s in sentences)
    constraints = [Constraints(root=1 + k % 5) for k in range(len(sentences))]
    long = Sentence.from_words(["the", "dog", "sees"] * 60)  # row by row
    return {
        "parse": lambda: parser.parse(sentences),
        "pipe": lambda: list(parser.parse_stream(iter(sentences), retag=True)),
        "text": lambda: parser(text),
        "confidence": lambda: parser.parse(sentences, confidence=True, k=3),
        "constraints": lambda: parser.parse(sentences, constraints=constraints),
        "long": lambda: parser.parse([long, *sentences[:5]]),
        "written": lambda: conllu.to_text(parser.parse(sentences)),
    }


@pytest.mark.parametrize(
    "what", ["parse", "pipe", "text", "confidence", "constraints", "long", "written"]
)
def test_every_thread_gets_the_same_result(
    parser: Parser, sentences: list[Sentence], what: str
) -> None:
    call = calls(parser, sentences)[what]
    alone = call()
    assert at_once(call) == [alone] * THREADS


def test_threads_ask_a_fresh_parser_different_things_at_once(
    model: Path,  # noqa: F811
    sentences: list[Sentence],
) -> None:
    fresh = Parser.load(model)  # nothing is compiled, cached or counted yet
    several = list(calls(fresh, sentences).values())
    with ThreadPoolExecutor(THREADS) as pool:
        mixed = list(pool.map(lambda k: several[k % len(several)](), range(2 * len(several))))
    assert mixed == [call() for call in several] * 2


def test_numerals_are_safe_to_make_in_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = iter([600, 9000] * THREADS * 4)
    for _ in range(8):
        monkeypatch.setattr(numerals, "_ids", ())
        for length, ids in at_once(lambda: (n := next(lengths), numerals.word_ids(n))):
            assert len(ids) == length


FORKING = """
import multiprocessing
import sys

import torch

import headspan

if __name__ == "__main__":
    torch.set_num_threads(2)
    parser = headspan.Parser.load(sys.argv[1])
    alone = parser(sys.argv[2])
    torch.ones(1000, 1000).mm(torch.ones(1000, 1000))  # the threads are there before the fork
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for document in pool.map(parser, [sys.argv[2]] * 4):
            assert [s.heads for s in document] == [s.heads for s in alone]
    assert torch.get_num_threads() == 2
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_parses(model: Path, tmp_path: Path) -> None:  # noqa: F811
    """A fork does not copy threads, and waiting for them would take for ever."""
    (tmp_path / "forking.py").write_text(FORKING, encoding="utf-8")
    command = [sys.executable, tmp_path / "forking.py", model, "The dog sees a cat. " * 40]
    started = subprocess.Popen(
        command, start_new_session=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    try:
        assert started.wait(timeout=60) == 0
    finally:
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)


@pytest.mark.linux
@pytest.mark.parametrize("policy", [None, "ACTIVE"])
def test_threads_of_training_do_not_spin_unless_they_are_told_to(policy: str | None) -> None:
    """OpenMP reads the environment when torch is loaded, and then prints what it has read."""
    environment = {k: v for k, v in os.environ.items() if k != "OMP_WAIT_POLICY"}
    environment |= {"OMP_DISPLAY_ENV": "true", "PYTHONPATH": os.pathsep.join(sys.path)}
    if policy:
        environment["OMP_WAIT_POLICY"] = policy
    done = subprocess.run(
        [sys.executable, "-m", "headspan", "train", "missing.toml", "-o", "missing"],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert "missing.toml: cannot be read" in done.stderr
    assert f"OMP_WAIT_POLICY = '{policy or 'PASSIVE'}'" in done.stderr
