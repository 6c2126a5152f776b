"""Train the models of models/models.toml, and write their packages.

    python tools/train_models.py [LANGUAGE …] [--treebanks FOLDER] [--text FOLDER] [--seeds 3]

Per language: one parser per seed, with the settings of `headspan train --ud`; if there is text, a
student that also learns from trees on which these parsers vote (tools/vote.py); and the package of
the one that is best on dev, whose test parts are then scored, once. Every step is resumed after an
interruption. `--set KEY=VALUE` overrides a setting, as for `headspan train`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from headspan.config import read_config
from headspan.training import processes
from headspan.training.defaults import default_settings
from headspan.training.estimate import peak_memory
from headspan.training.language_model import about_package, package_model
from headspan.training.loop import MODEL, Trainer
from headspan.training.ud_folders import UdTreebank, find_treebanks, with_dev
from vote import vote

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("HEADSPAN_SHARED", ROOT.parent / "shared"))
SILVER = "silver.conllu"
SILVER_CONFIDENCE = "0.8"


def treebanks_of(about: Mapping[str, Any], folder: Path, work: Path) -> list[UdTreebank]:
    """The treebanks of a language; where only dev can be learned from, as training parts."""
    folders = [folder / name for name in about["treebanks"]]
    if about.get("train_on_dev"):
        folders = [_with_dev_as_train(place, work / "ud" / place.name) for place in folders]
    return with_dev(find_treebanks(folders), work / "treebank")


def _with_dev_as_train(source: Path, target: Path) -> Path:
    """A copy of a UD folder whose training part is its dev part."""
    target.mkdir(parents=True, exist_ok=True)
    for part, name in (("dev", "train"), ("test", "test")):
        file = source / f"{source.name}-ud-{part}.conllu"
        shutil.copyfile(file, target / f"{source.name}-ud-{name}.conllu")
    return target


def trained(treebanks: Sequence[UdTreebank], folder: Path, settings: dict[str, str]) -> Trainer:
    """A finished run: trained now, resumed, or read if it was finished before."""
    config = read_config(None, settings, prefix="--set ", defaults=default_settings(treebanks))
    with processes.joined():
        trainer = Trainer(config, folder)
        trainer.resume()
        if trainer.state.epoch < config.training.epochs or not (folder / MODEL).exists():
            trainer.run()
    best = trainer.state
    print(f"{folder}: dev LAS {best.best:.2f} in epoch {best.best_epoch + 1}", flush=True)
    return trainer


def train_model(
    language: str, about: Mapping[str, Any], chosen: argparse.Namespace, settings: dict[str, str]
) -> None:
    """Train a language's parsers and student, and package the best of them."""
    work = chosen.runs / language
    treebanks = treebanks_of(about, chosen.treebanks, work)
    runs = [
        trained(treebanks, work / f"seed-{seed}", {**settings, "training.seed": str(seed)})
        for seed in range(1, chosen.seeds + 1)
    ]
    texts = sorted((chosen.text / language).glob("*.txt*"))
    if texts and chosen.silver_words:
        silver = work / SILVER
        if not silver.exists():
            models = [run.folder / MODEL for run in runs]
            vote(texts[0], models, silver, words=chosen.silver_words)
        half = max(1, runs[0].config.training.epochs // 2)
        student = {
            **settings, "data.silver": str(silver), "data.silver_confidence": SILVER_CONFIDENCE,
            "training.silver_epochs": str(half),
        }  # fmt: skip
        runs.append(trained(treebanks, work / "student", student))
    best = max(runs, key=lambda run: run.state.best)
    package = about_package(treebanks, name=language, licence=about["licence"])
    made = package_model(
        best, treebanks, package, path=chosen.models / language, memory=peak_memory()
    )
    for name, of in made.measured.from_words.items():
        raw = made.measured.from_text[name]["las"]
        print(f"{name}, {made.measured.part}: LAS {of['las']:.2f} from words, {raw:.2f} from text")
    print(f"{made.package}: {made.measured.size / 1e6:.1f} MB, from {best.folder}", flush=True)


def main() -> None:
    """Run the command."""
    table = tomllib.loads((ROOT / "models" / "models.toml").read_text(encoding="utf-8"))
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("languages", nargs="*", metavar="LANGUAGE", help=", ".join(table))
    options.add_argument("--treebanks", type=Path, default=SHARED / "treebanks" / "open")
    options.add_argument("--text", type=Path, default=SHARED / "text")
    options.add_argument("--seeds", type=int, default=3, help="parsers that vote")
    options.add_argument("--silver-words", type=int, default=800_000, help="0 for no student")
    options.add_argument("--runs", type=Path, default=ROOT / "runs" / "models")
    options.add_argument("--models", type=Path, default=ROOT / "models")
    options.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    chosen = options.parse_args()
    settings = dict(setting.split("=", 1) for setting in chosen.set)
    for language in chosen.languages or table:
        if language not in table:
            options.error(f"{language}: is not in models.toml; expected one of {', '.join(table)}")
        train_model(language, table[language], chosen, settings)


if __name__ == "__main__":
    main()
