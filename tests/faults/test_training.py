"""Training that loses a process, or cannot write, and is resumed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from conftest import ROOT
from headspan.model.parser import Parser
from headspan.training.loop import CHECKPOINT, LOG, MODEL
from training.conftest import treebank  # noqa: F401 (a fixture)

SETTINGS = """
[data]
train = "{folder}/train.conllu"
dev = "{folder}/dev.conllu"
[model]
lstm_layers = 1
lstm_size = 16
score_size = 16
label_size = 8
dropout = 0.1
[model.embeddings]
words = 16
[training]
epochs = 3
batch_tokens = 60
learning_rate = 0.005
"""
KILLED = ROOT / "tests/faults/killed.py"


def torchrun(*arguments: object, restarts: int = 0) -> subprocess.CompletedProcess[str]:
    """Two processes of headspan, or of something that stands for it."""
    return subprocess.run(
        [
            sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
            "--max-restarts", str(restarts), *map(str, arguments),
        ],
        capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def test_a_killed_process_costs_no_more_than_its_epoch(
    treebank: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    settings = tmp_path / "c.toml"
    settings.write_text(SETTINGS.format(folder=treebank), encoding="utf-8")
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    done = torchrun("-m", "headspan", "train", settings, "-o", whole)
    assert done.returncode == 0, done.stderr

    # the second process dies in the second epoch, and nobody starts it again
    mark = tmp_path / "first"
    done = torchrun(KILLED, mark, 1, 1, 4, "train", settings, "-o", cut, "--resume")
    assert "cut has no checkpoint yet: starting from the beginning" in done.stderr
    assert done.returncode != 0
    assert mark.exists()
    assert "another process of this training has ended; resume with --resume" in done.stderr
    assert epochs(cut) == [1]
    assert {path.name for path in cut.iterdir()} == {CHECKPOINT, LOG, MODEL}

    # the same command resumes; the first process dies in the third epoch, torchrun restarts both
    mark = tmp_path / "second"
    done = torchrun(KILLED, mark, 0, 2, 2, "train", settings, "-o", cut, "--resume", restarts=1)
    assert done.returncode == 0, done.stderr
    assert mark.exists()
    assert "resuming after 1 of 3 epochs" in done.stderr
    assert "resuming after 2 of 3 epochs" in done.stderr
    assert epochs(cut) == epochs(whole) == [1, 2, 3]
    a, b = (Parser.load(folder / MODEL).network.tensors() for folder in (whole, cut))
    for name in a:
        np.testing.assert_allclose(a[name], b[name], rtol=1.3e-6, atol=1e-5)


def epochs(folder: Path) -> list[int]:
    lines = (folder / LOG).read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["epoch"] for line in lines]
