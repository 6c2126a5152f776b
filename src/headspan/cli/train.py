"""headspan train."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from headspan.plumbing.errors import HeadspanError

if TYPE_CHECKING:
    from headspan.config import Config
    from headspan.training.events import EpochDone, Event, StepDone
    from headspan.training.loop import Trainer
    from headspan.training.ud_folders import UdTreebank


def train(
    context: typer.Context,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="OUT", help="Folder for the model, checkpoint and log."
        ),
    ],
    config: Annotated[
        str | None,
        typer.Argument(
            metavar="CONFIG.toml",
            help="Configuration file, in TOML; with --ud, for settings other than the defaults.",
        ),
    ] = None,
    ud: Annotated[
        list[str] | None,
        typer.Option(
            "--ud",
            metavar="FOLDER …",
            help="Treebanks of Universal Dependencies to learn together, in folders as they are "
            "released. The model is also scored on their test parts and packaged for pip.",
        ),
    ] = None,
    encoder: Annotated[
        str,
        typer.Option(
            "--encoder", metavar="NAME", help="Encoder to fine-tune: a folder, or a hub name."
        ),
    ] = "",
    name: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Name of the packaged model. Default: the language's ISO code."
        ),
    ] = "",
    licence: Annotated[
        str,
        typer.Option(
            metavar="SPDX",
            help="Licence of the packaged model. Default: as the treebanks' READMEs say.",
        ),
    ] = "",
    package: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder of the model package. Default: OUT/package.",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Resume from the checkpoint in OUT, or start if there is none."
        ),
    ] = False,
) -> None:
    """Train a parser; the best model by dev LAS is kept in OUT/model.

    `headspan train --ud FOLDER -o OUT` needs no configuration: it learns to divide text into
    sentences and words, tags, lemmas and trees, with settings for the size of the treebanks.
    Every key of the configuration is also an option: `--training.epochs 5`,
    `--data.train my.conllu`. The run writes a checkpoint after each epoch and when it is
    interrupted, and `--resume` continues exactly from there. The scores are in OUT/log.jsonl.
    Under `torchrun`, several processes share every batch.
    """
    overrides, files = _arguments([*([config] if config else []), *context.args])
    if encoder:
        overrides["model.encoder.name"] = encoder
    from headspan.training import processes
    from headspan.training.loop import CHECKPOINT, MODEL, Trainer

    folders = [*(ud or ()), *(name for name in files if ud and Path(name).is_dir())]
    configs = [name for name in files if name not in folders]
    if output.exists() and not output.is_dir():
        raise HeadspanError(f"{output}: is a file; expected a folder")
    treebanks, settings = _settings(configs, folders, overrides, encoder, output)
    if (output / CHECKPOINT).exists() and not resume:
        raise HeadspanError(f"{output}: has a checkpoint already; use --resume, or another folder")
    if treebanks:
        from headspan.training.language_model import about_package

        about = about_package(treebanks, name=name, licence=licence, encoder=encoder)
        if package is not None:
            about.check_place(package)
    elif name or licence or package:
        raise HeadspanError("--name, --licence and --package are for --ud, which is missing")
    with processes.joined():
        trainer = Trainer(settings, output)
        resumed = resume and trainer.resume()
        if processes.rank():
            trainer.run()
            return  # through the end of the block, where it waits for the others
        if resume:
            _say_where(trainer, resumed)
        _say_what_comes(trainer)
        with _Watch(settings.training.epochs) as watch:
            trainer.run(watch)
        best = trainer.state
        print(f"best dev LAS {best.best:.2f} in epoch {best.best_epoch + 1}: {output / MODEL}")
        if treebanks:
            _finish(trainer, treebanks, about, package)


def _settings(
    configs: Sequence[str],
    folders: Sequence[str],
    overrides: dict[str, str],
    encoder: str,
    output: Path,
) -> tuple[list[UdTreebank], Config]:
    """The treebanks of UD folders, if there are any, and the configuration."""
    from headspan.config import read_config

    if len(configs) > 1 or (configs and Path(configs[0]).is_dir()):
        extra = configs[-1]
        what = "is a folder; --ud FOLDER trains on one" if Path(extra).is_dir() else "is too much"
        raise HeadspanError(f"{extra}: {what}; expected one CONFIG.toml, or --ud")
    if not folders:
        if not configs:
            raise HeadspanError("found no CONFIG.toml and no --ud; expected one of them")
        return [], read_config(configs[0], overrides, prefix="--")
    from headspan.training.defaults import default_settings
    from headspan.training.ud_folders import find_treebanks, with_dev

    treebanks = with_dev(find_treebanks([Path(folder) for folder in folders]), output / "treebank")
    defaults = default_settings(treebanks, encoder=encoder)
    config = configs[0] if configs else None
    return treebanks, read_config(config, overrides, prefix="--", defaults=defaults)


def _finish(
    trainer: Trainer, treebanks: Sequence[UdTreebank], about: Any, package: Path | None
) -> None:
    """Score and package the model, and say so."""
    from headspan.training.estimate import peak_memory
    from headspan.training.language_model import package_model

    made = package_model(trainer, treebanks, about, path=package, memory=peak_memory())
    m = made.measured
    for treebank, of in m.from_words.items():
        raw = m.from_text.get(treebank)
        print(
            f"{treebank}, {m.part}: LAS {of['las']:.2f} from words"
            + (f", {raw['las']:.2f} from raw text" if raw else "")
        )
    print(f"model: {m.size / 1e6:.1f} MB, {m.words_per_second:,} words per second on one thread")
    print(f"package: {made.package}; after `pip install {made.package}` its name is {about.name}")


def _arguments(arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    """The keys and values of options `--dotted.key value` or `--dotted.key=value`, and the rest."""
    overrides: dict[str, str] = {}
    files: list[str] = []
    rest = list(arguments)
    while rest:
        option = rest.pop(0)
        if not option.startswith("--"):
            files.append(option)
            continue
        key, equals, value = option[2:].partition("=")
        if not equals:
            if not rest:
                raise HeadspanError(f"{option}: expected a value after it")
            value = rest.pop(0)
        overrides[key] = value
    return overrides, files


def _say_where(trainer: Trainer, resumed: bool) -> None:
    where = f"{trainer.folder} has no checkpoint yet: starting from the beginning"
    if resumed:
        at = trainer.state
        where = f"resuming after {at.epoch} of {trainer.config.training.epochs} epochs"
        where += f" and {at.step} steps" if at.step else ""
    print(f"headspan: {where}", file=sys.stderr, flush=True)


def _say_what_comes(trainer: Trainer) -> None:
    from headspan.training.estimate import estimate

    training_set, t = trainer.training_set, trainer.config.training
    network = trainer.network
    parameters = sum(p.numel() for p in network.parameters())
    gold, silver = training_set.gold, training_set.sentences[len(training_set.gold) :]
    lines = [f"training: {len(gold):,} sentences, {sum(map(len, gold)):,} words"]
    if silver:
        lines.append(f"silver: {len(silver):,} sentences, {sum(map(len, silver)):,} words, "
                     f"in the first {t.silver_epochs} epochs")  # fmt: skip
    lines += [f"  dropped: {count:,} with {why}" for why, count in training_set.dropped.items()]
    if training_set.lifted:
        lines.append(f"  made projective: {training_set.lifted:,}")
    model = trainer.config.model
    lines.append(f"dev: {len(trainer.dev):,} sentences, {sum(map(len, trainer.dev)):,} words")
    decoder = ", minimum risk" if model.minimum_risk else ""
    lines.append(
        f"model: {model.structure}, {model.loss}{decoder}; "
        f"{parameters / 1e6:.1f} million parameters, "
        f"{len(trainer.parser.vocabularies.relations)} relations"
    )
    lines.append(f"segmenter: {'trained first' if trainer.config.data.segment else 'none'}")
    lines.append(f"steps per epoch: about {trainer.steps(0):,}; epochs: {t.epochs}")
    seconds, memory = estimate(trainer)
    left = max(t.epochs - trainer.state.epoch, 0)
    lines.append(
        f"estimate: {seconds / 60:.1f} min per epoch, {seconds * left / 60:.0f} min in all "
        f"without scoring dev, {memory / 2**30:.1f} GiB of memory"
    )
    print("\n".join(lines), file=sys.stderr, flush=True)


class _Watch:
    """A progress bar in a terminal, one line per epoch elsewhere."""

    def __init__(self, epochs: int) -> None:
        self.epochs = epochs
        self.console = Console(file=sys.stderr)
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total}"),
            TimeRemainingColumn(),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        )
        self.task: Any = None

    def __enter__(self) -> _Watch:
        self.bar.start()
        self.task = self.bar.add_task("epoch 1", total=None)
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.stop()

    def __call__(self, event: Event) -> None:
        from headspan.training.events import EpochDone, StepDone

        if isinstance(event, StepDone):
            self.bar.update(
                self.task,
                description=f"epoch {event.epoch}/{self.epochs}, loss {_losses(event)}",
                completed=(event.epoch - 1) * event.steps + event.step,
                total=self.epochs * event.steps,
            )
        elif isinstance(event, EpochDone):
            self._print(
                f"epoch {event.epoch}/{self.epochs}: loss {_losses(event)}, "
                f"dev UAS {event.dev_uas:.2f}, LAS {event.dev_las:.2f}, "
                f"{event.seconds / 60:.1f} min"
            )
        else:
            self._print(
                f"segmenter, epoch {event.epoch}: loss {event.loss:.4f}, dev F1 tokens "
                f"{event.tokens:.2f}, words {event.words:.2f}, sentences {event.sentences:.2f}"
            )

    def _print(self, line: str) -> None:
        self.console.print(line, highlight=False, soft_wrap=True)


def _losses(event: StepDone | EpochDone) -> str:
    """The losses on trees, relations and, if there is a tagger, tags."""
    losses = (event.parse, event.label, event.tag) if event.tag else (event.parse, event.label)
    return " + ".join(f"{loss:.3f}" for loss in losses)
