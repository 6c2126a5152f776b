"""A tiny treebank and a stand-in for `headspan train` and `parse`."""

import random
import sys
from pathlib import Path

import pytest

from headspan import conllu
from training.conftest import sentence

STUB = """
import json, os, pathlib, shutil, signal, sys, time

verb, *rest = sys.argv[1:]
here = pathlib.Path(rest[rest.index("-o") + 1])
if verb == "parse":
    shutil.copy(rest[0], here)
    sys.exit(0)
settings = dict(a[2:].split("=", 1) for a in rest if a.startswith("--") and "=" in a)
seed = int(settings["training.seed"])
with (here / "calls").open("a") as calls:
    calls.write("resume\\n" if "--resume" in rest else "new\\n")
behaviour = os.environ.get("STUB", "")
if f"fail{seed}" in behaviour:
    print("something before")
    sys.exit("headspan: the loss is not finite in epoch 1")
if f"killed{seed}" in behaviour:
    os.kill(os.getpid(), signal.SIGKILL)
if "slow" in behaviour:
    def stop(*_):
        (here / "checkpoint.safetensors").write_text("half")
        sys.exit(2)
    signal.signal(signal.SIGTERM, stop)
    (here / "pid").write_text(str(os.getpid()))
    (here / "pid").rename(here / "ready")
    time.sleep(60)
(here / "model").mkdir(exist_ok=True)
(here / "checkpoint.safetensors").write_text("whole")
las = {"span": 90, "arc": 88, "joint": 91}[settings["model.structure"]] + seed
with (here / "log.jsonl").open("a") as log:
    for epoch in (1, 2, 3):  # one more than configured, and not the best
        dev = las - 5 * (epoch != 2)
        seconds = 600.0 * epoch
        entry = {"epoch": epoch, "dev_uas": dev + 2.0, "dev_las": float(dev), "seconds": seconds}
        log.write(json.dumps(entry) + "\\n")
"""


@pytest.fixture(scope="session")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("treebank") / "tiny"
    folder.mkdir()
    rng = random.Random(7)
    for name, size in (("train", 60), ("dev", 12), ("test", 20)):
        conllu.write([sentence(rng, k) for k in range(size)], folder / f"{name}.conllu")
    return folder


@pytest.fixture(scope="session")
def stub(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    path = tmp_path_factory.mktemp("stub") / "stub.py"
    path.write_text(STUB, encoding="utf-8")
    return [sys.executable, "-S", str(path)]


@pytest.fixture
def plan(tmp_path: Path, treebank: Path) -> Path:
    (tmp_path / "base.toml").write_text(
        "[model]\nlstm_layers = 1\nlstm_size = 8\nscore_size = 8\nlabel_size = 4\n"
        "[model.embeddings]\nwords = 8\n"
        "[training]\nepochs = 1\nbatch_tokens = 200\nlearning_rate = 0.01\n",
        encoding="utf-8",
    )
    path = tmp_path / "small.toml"
    path.write_text(
        f"data = '{treebank.parent}'\n[[grid]]\nbase = 'base.toml'\ntreebanks = ['tiny']\n"
        "files = '{data}/{treebank}/{part}.conllu'\nstructures = ['span', 'arc']\nseeds = [1, 2]\n"
        "set = ['training.epochs=2']\n",
        encoding="utf-8",
    )
    return path
