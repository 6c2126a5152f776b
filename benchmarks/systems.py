"""Speed by sentence length and memory of the systems that the paper compares, with one encoder.

    python benchmarks/systems.py [--config FILE] [--treebank FOLDER] [--trained NAME=MODEL]…

Every system is built from the configuration with its own structure, loss and decoder, and parses
the test part of a treebank on one thread with torch. The networks have the sizes of trained ones,
but weights that no training has changed. Only the time of `arc-refined` depends on the trees, so
give a trained model for it. Systems take turns in every group of sentences, and figures are medians
over the turns. Memory is the most by which a process grows when it loads one system and parses the
treebank once (Linux only).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # before any library starts its threads

import torch

from headspan import Parser, conllu
from headspan.config import read_config
from headspan.experiments.speed_by_length import ALL, SpeedRow, speeds
from headspan.training.loop import Trainer
from reporting import ROOT, SHARED, arguments, needed, table, write_json

TREEBANK = SHARED / "treebanks" / "ud-2.2" / "en_ewt"
SYSTEMS = {
    "arc": {"structure": "arc"},
    "span": {"structure": "span"},
    "joint": {"structure": "joint"},
    "split": {"structure": "split"},
    "split-sibling": {"structure": "split-sibling"},
    "sibling": {"structure": "sibling", "loss": "crf", "decoder": "minimum-risk"},
    "mean-field": {"structure": "mean-field", "loss": "local"},
    "pointer": {"structure": "pointer", "loss": "local"},
    "pointer-left-to-right": {"structure": "pointer-left-to-right", "loss": "local"},
    "arc-refined": {"structure": "arc", "refinements": "2"},
}
"""Settings of `model`, by the names of systems."""


def build(config: Path, settings: dict[str, str], treebank: Path, folder: Path) -> None:
    """Save the model of a system, as it is before training."""
    files = {
        f"data.{part}": str(needed(treebank / f"{treebank.name}-ud-{part}.conllu"))
        for part in ("train", "dev")
    }
    model = {f"model.{name}": value for name, value in settings.items()}
    changes = {**files, **model, "data.segment": "false"}
    Trainer(read_config(config, changes), folder / "run").parser.save(folder / "model")


def memory(model: Path, test: Path) -> float:
    """GB that a process of its own needs for loading a model and parsing."""
    command = [sys.executable, __file__, "--once", str(model), "--test", str(test)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout)


def once(model: str, test: Path) -> None:
    """Print the memory that it takes to parse once with a model."""
    sentences = [s for s in conllu.read(test) if len(s)]
    torch.set_num_threads(1)
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew; it was that of the parent
    for _ in Parser.load(model, engine="torch").parse_stream(sentences):
        pass
    print((status("VmHWM") - before) / 1e9)


def status(key: str) -> int:
    """The bytes that Linux states for this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(key))


def row(name: str, rows: list[SpeedRow], gigabytes: float) -> list[str | int]:
    """Words per second of all sentences, of those of each group, and memory."""
    own = [round(r.words / r.seconds) for r in rows if r.model == name]
    return [name, *own, f"{gigabytes:.2f}"]


def main() -> None:
    options = arguments(__doc__, repeats=3)
    options.add_argument("--config", type=Path, default=ROOT / "configs" / "en-minilm.toml")
    options.add_argument("--treebank", type=Path, default=TREEBANK, metavar="FOLDER")
    options.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    options.add_argument("--trained", action="append", default=[], metavar="NAME=MODEL")
    options.add_argument("--sentences", type=int, metavar="N", help="only the first ones")
    options.add_argument("--once", metavar="MODEL", help="measure the memory of this one only")
    options.add_argument("--test", type=Path, metavar="FILE", help="the file to parse once")
    chosen = options.parse_args()
    if chosen.once:
        once(chosen.once, chosen.test)
        return
    torch.set_num_threads(1)
    test = needed(chosen.treebank / f"{chosen.treebank.name}-ud-test.conllu")
    trained = {name: model for name, _, model in (each.partition("=") for each in chosen.trained)}
    if not set(trained) <= set(chosen.systems):
        options.error(f"--trained: expected NAME=MODEL with a NAME of {', '.join(chosen.systems)}")
    with tempfile.TemporaryDirectory() as scratch:
        models = {name: Path(scratch) / name / "model" for name in chosen.systems}
        for name, folder in models.items():
            if name in trained:
                models[name] = needed(Path(trained[name]))
            else:
                build(chosen.config, SYSTEMS[name], chosen.treebank, folder.parent)
        gigabytes = {name: memory(folder, test) for name, folder in models.items()}
        parsers = {name: Parser.load(folder, engine="torch") for name, folder in models.items()}
        sentences = [s for s in conllu.read(test) if len(s)][: chosen.sentences]
        rows = speeds(parsers, sentences, repeat=chosen.repeats)
    groups = [r.bucket for r in rows if r.model == chosen.systems[0]]
    table(
        f"{test.name}: words per second, one thread, by words of a sentence; memory in GB",
        ["", *groups, "memory"],
        [row(name, rows, gigabytes[name]) for name in chosen.systems],
    )
    arc = next((r for r in rows if r.model == "arc" and r.bucket == ALL), None)
    if arc:
        seconds = {r.model: round(r.seconds / arc.seconds, 2) for r in rows if r.bucket == ALL}
        table("time, if that of arc is 1", list(seconds), [list(seconds.values())])
    write_json(chosen.json, {"memory": gigabytes, "speeds": [asdict(r) | r.rates for r in rows]})


if __name__ == "__main__":
    main()
