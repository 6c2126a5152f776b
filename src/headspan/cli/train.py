"""headspan train."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from headspan.plumbing.errors import HeadspanError

if TYPE_CHECKING:
    from headspan.training.loop import Trainer


def train(
    context: typer.Context,
    config: Annotated[str, typer.Argument(metavar="CONFIG.toml", help="Configuration, in TOML.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder of the run.")
    ],
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Resume from the checkpoint in FOLDER, or start if there is none."
        ),
    ] = False,
) -> None:
    """Train a parser; the best model by dev LAS is kept in FOLDER/model.

    Every key of the configuration is also an option: `--training.epochs 5`,
    `--data.train my.conllu`. The run writes a checkpoint after each epoch and when it is
    interrupted, and `--resume` continues exactly from there. The scores are in FOLDER/log.jsonl.
    Under `torchrun`, several processes share every batch.
    """
    overrides = _overrides(context.args)
    from headspan.config import read_config
    from headspan.training import processes
    from headspan.training.loop import CHECKPOINT, MODEL, Trainer

    settings = read_config(config, overrides)
    if (output / CHECKPOINT).exists() and not resume:
        raise HeadspanError(f"{output}: has a checkpoint already; use --resume, or another folder")
    with processes.joined():
        trainer = Trainer(settings, output)
        resumed = resume and trainer.resume()
        if processes.rank():
            trainer.run()
            return  # through the end of the block, where it waits for the others
        if resume:
            _say_where(trainer, resumed)
        _say_what_comes(trainer)
        with _Watch() as watch:
            trainer.run(watch)
        best = trainer.progress
        print(f"best dev LAS {best.best:.2f} in epoch {best.best_epoch + 1}: {output / MODEL}")


def _overrides(arguments: list[str]) -> dict[str, str]:
    """The keys and values of options `--dotted.key value` or `--dotted.key=value`."""
    overrides: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        option = rest.pop(0)
        if not option.startswith("--"):
            raise HeadspanError(f"{option}: expected an option such as --training.epochs 5")
        key, equals, value = option[2:].partition("=")
        if not equals:
            if not rest:
                raise HeadspanError(f"{option}: expected a value after it")
            value = rest.pop(0)
        overrides[key] = value
    return overrides


def _say_where(trainer: Trainer, resumed: bool) -> None:
    where = f"{trainer.folder} has no checkpoint yet: starting from the beginning"
    if resumed:
        at = trainer.progress
        where = f"resuming after {at.epoch} of {trainer.config.training.epochs} epochs"
        where += f" and {at.step} steps" if at.step else ""
    print(f"headspan: {where}", file=sys.stderr, flush=True)


def _say_what_comes(trainer: Trainer) -> None:
    from headspan.training.estimate import estimate

    kept, t = trainer.kept, trainer.config.training
    network = trainer.parser.network
    parameters = sum(p.numel() for p in network.parameters())
    words = sum(map(len, kept.sentences))
    lines = [f"training: {len(kept.sentences):,} sentences, {words:,} words"]
    lines += [f"  dropped: {count:,} with {why}" for why, count in kept.dropped.items()]
    if kept.lifted:
        lines.append(f"  made projective: {kept.lifted:,}")
    model = trainer.config.model
    lines.append(f"dev: {len(trainer.dev):,} sentences, {sum(map(len, trainer.dev)):,} words")
    lines.append(
        f"model: {model.structure}, {model.loss}; {parameters / 1e6:.1f} million parameters, "
        f"{len(trainer.parser.vocabularies.labels.names)} relations"
    )
    steps = -(-len(trainer.batches(0)) // t.accumulate)
    lines.append(f"about {steps:,} steps per epoch, {t.epochs} epochs")
    seconds, memory = estimate(trainer)
    left = max(t.epochs - trainer.progress.epoch, 0)
    lines.append(
        f"estimate: {seconds / 60:.1f} min per epoch, {seconds * left / 60:.0f} min in all "
        f"without scoring dev, {memory / 2**30:.1f} GiB of memory"
    )
    print("\n".join(lines), file=sys.stderr, flush=True)


class _Watch:
    """A progress bar in a terminal, one line per epoch elsewhere."""

    def __init__(self) -> None:
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

    def __call__(self, trainer: Trainer, event: dict[str, Any]) -> None:
        epoch, last = trainer.progress.epoch, trainer.config.training.epochs
        if "segmenter" in event:
            found = event["segmenter"]
            self.console.print(
                f"segmenter, epoch {found.epoch}: loss {found.loss:.4f}, dev F1 tokens "
                f"{found.tokens:.2f}, words {found.words:.2f}, sentences {found.sentences:.2f}",
                highlight=False,
                soft_wrap=True,
            )
            return
        if "dev_las" in event:
            self.console.print(
                f"epoch {event['epoch']}/{last}: loss {_losses(event)}, "
                f"dev UAS {event['dev_uas']:.2f}, LAS {event['dev_las']:.2f}, "
                f"{event['seconds'] / 60:.1f} min",
                highlight=False,
                soft_wrap=True,
            )
            return
        text = f"epoch {epoch + 1}/{last}, loss {_losses(event)}"
        done = epoch * event["steps"] + event["step"]
        self.bar.update(self.task, description=text, completed=done, total=last * event["steps"])


def _losses(event: dict[str, Any]) -> str:
    """Those on trees, relations and, if there is a tagger, tags."""
    names = ("parse", "label", "tag") if event["tag"] else ("parse", "label")
    return " + ".join(f"{event[name]:.3f}" for name in names)
