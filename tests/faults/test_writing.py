"""A full disk, a kill at any moment and a folder that may not be written do no harm."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ROOT


@pytest.fixture
def work() -> Iterator[Path]:
    """A folder that any user can see, so that one who may do nothing can be tried."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def crash(*arguments: object) -> list[str]:
    done = subprocess.run(
        [sys.executable, ROOT / "tests/faults/crash.py", *map(str, arguments)],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), *sys.path]),
            "OMP_NUM_THREADS": "1",
        },
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_nothing_is_ever_half_written(work: Path) -> None:
    points = {name: int(count) for name, count in map(str.split, crash("write", work))}
    assert len(points) == 19
    assert min(points.values()) > 8
    assert sum(points.values()) > 200


def test_a_training_that_dies_anywhere_is_resumed(work: Path) -> None:
    (points,) = crash("train", work)
    assert int(points) > 10


def test_a_corpus_is_resumed_after_a_full_disk(work: Path) -> None:
    (points,) = crash("corpus", work)
    assert int(points) == 14
