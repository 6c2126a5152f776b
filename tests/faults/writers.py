"""Everything in headspan that writes a file or a folder, in two versions each: old and new."""

import random
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch

from headspan import conllu
from headspan.config import Config, DataConfig, EmbeddingsConfig, ModelConfig, TrainingConfig
from headspan.conllu import Sentence
from headspan.experiments import plots, run_report
from headspan.experiments.corpora import Prepared
from headspan.experiments.measures import Gap, write_gaps
from headspan.experiments.plan import Plan, Run
from headspan.experiments.run_folder import Record, write_plan, write_record
from headspan.experiments.run_results import Result, Results
from headspan.plumbing.files import open_output
from headspan.render.pictures import picture, save
from headspan.text import SegmenterSettings, SegmenterSizes, train_segmenter
from headspan.training.checkpoint import save_checkpoint, save_segmenter
from headspan.training.events import EpochDone
from headspan.training.loop import Trainer
from text.made_up import made_up_treebank
from training.conftest import sentence

Writer = Callable[[Path, int], object]
"""Writes a version, 0 or 1, into a folder."""


def sentences(version: int, count: int = 40) -> list[Sentence]:
    rng = random.Random(version)
    return [sentence(rng, k) for k in range(count + 10 * version)]


def settings(folder: Path) -> Config:
    """A tiny model of the treebank in a folder, and a run of two short epochs."""
    for name, version in (("train", 0), ("dev", 1)):
        conllu.write(sentences(version, 10), folder / f"{name}.conllu")
    return Config(
        data=DataConfig(train=str(folder / "train.conllu"), dev=str(folder / "dev.conllu")),
        model=ModelConfig(
            lstm_layers=1, lstm_size=8, score_size=8, label_size=4, dropout=0.1,
            embeddings=EmbeddingsConfig(words=8, min_count=1),
        ),
        training=TrainingConfig(epochs=2, batch_tokens=60, learning_rate=5e-3, warmup_epochs=0.2),
    )  # fmt: skip


def writers(work: Path) -> dict[str, Writer]:
    """All of them by name. work: a folder for what they need."""
    trainer = Trainer(settings(work), work / "run")
    small = SegmenterSettings(
        epochs=1, steps=0, batch=8, window=200,
        sizes=SegmenterSizes(characters=4, convolution=4, words=4, lstm=4),
    )  # fmt: skip
    trainer.parser.segmenter = train_segmenter(
        made_up_treebank(10, 1), made_up_treebank(4, 2), settings=small
    )

    def changed(version: int) -> Trainer:
        torch.manual_seed(version)
        for tensor in trainer.network.state_dict().values():
            torch.nn.init.normal_(tensor) if tensor.is_floating_point() else None
        trainer.parser.card = f"# Model {version}\n"
        epochs = range(1, 21 + version)
        trainer.state.history = [EpochDone(k, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0) for k in epochs]
        return trainer

    def model(folder: Path, version: int) -> None:
        changed(version).parser.save(folder / "model")

    def checkpoint(folder: Path, version: int) -> None:
        run = changed(version)
        network, state = run.network, asdict(run.state)
        save_checkpoint(folder / "checkpoint.safetensors", network, run.optimizer, state)

    def segmenter(folder: Path, version: int) -> None:
        parser = changed(version).parser
        assert parser.segmenter is not None
        torch.nn.init.normal_(next(iter(parser.segmenter.finder.tagger.parameters())))
        save_segmenter(folder / "segmenter.safetensors", parser.segmenter)

    def log(folder: Path, version: int) -> None:
        run = changed(version)
        run.folder = folder
        run._write_log()

    def trees(ending: str, folder: Path, version: int) -> None:
        format: Any = "conllx" if ending == ".conllx" else "conllu"
        conllu.write(sentences(version), folder / f"trees{ending}", format=format)

    def drawings(ending: str, folder: Path, version: int) -> None:
        count = 3 if ending in (".html", ".pdf") else 1
        some = sentences(version)[version : version + count]
        save([picture(s, view="both") for s in some], folder / f"trees{ending}")

    def table(folder: Path, version: int) -> None:
        write_gaps(folder / "table.csv", "relation", gaps(version))

    def bars(folder: Path, version: int) -> None:
        plots.draw_bars(gaps(version), "relation", ["one", "two"], folder / "bars")

    def gaps(version: int) -> dict[str, Gap]:
        return {f"relation{k}": Gap(k + 5, 80.0, 81.0 + version, -1.0, 3.0) for k in range(9)}

    def records(folder: Path, version: int) -> None:
        write_record(folder, Record("failed", "x" * 300 * (version + 1)))

    def plan(folder: Path, version: int) -> None:
        write_plan(folder, Plan(f"plan {version}"), runs(version))

    def reports(folder: Path, version: int) -> None:
        results = tuple(
            Result(run, Record("stopped"), 1, 1, 80.0, 70.0 + version, Path("model"))
            for run in runs(version)
        )
        run_report.write_report(Results(f"results {version}", results, (), ()), folder)

    def runs(version: int) -> list[Run]:
        base = Run("treebank", "span", "crf", 0, "base.toml", "", {"training.epochs": "2"})
        return [replace(base, seed=seed) for seed in range(4 + version)]

    def prepared(folder: Path, version: int) -> None:
        Prepared().put(folder / "data" / "train.conllu", sentences(version), [])

    def lines(folder: Path, version: int) -> None:
        with open_output(folder / "parses.jsonl") as stream:
            for one in sentences(version):
                stream.write(repr(one.forms).encode() + b"\n")

    found: dict[str, Any] = {
        "model": model, "checkpoint": checkpoint, "segmenter": segmenter, "log": log,
        "table": table, "bars": bars, "record": records, "plan": plan, "report": reports,
        "prepared": prepared, "lines": lines,
    }  # fmt: skip
    for ending in (".conllu", ".conllx", ".conllu.gz", ".conllu.xz"):
        found[f"trees{ending}"] = partial(trees, ending)
    for ending in (".svg", ".html", ".png", ".pdf"):
        found[f"drawing{ending}"] = partial(drawings, ending)
    return cast(dict[str, Writer], found)
