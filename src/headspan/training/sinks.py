"""Destinations of losses and scores beside log.jsonl."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from headspan.config import Config, to_table
from headspan.plumbing.errors import HeadspanError

Sink: TypeAlias = Callable[[int, Mapping[str, float]], None]
"""Takes the number of the step, counted over all epochs, and figures by name."""


def open_sinks(config: Config, folder: Path) -> list[Sink]:
    """The sinks of a configuration. Raises HeadspanError if one is not installed."""
    make = {"tensorboard": _tensorboard, "wandb": _wandb}
    return [make[name](config, folder) for name in config.training.log]


def _tensorboard(config: Config, folder: Path) -> Sink:
    writer = _imported("torch.utils.tensorboard", "tensorboard").SummaryWriter(str(folder))

    def write(step: int, figures: Mapping[str, float]) -> None:
        for name, value in figures.items():
            writer.add_scalar(name, value, step)
        writer.flush()

    return write


def _wandb(config: Config, folder: Path) -> Sink:
    folder.mkdir(parents=True, exist_ok=True)
    run = _imported("wandb", "wandb").init(
        project="headspan", name=folder.name, dir=str(folder), config=to_table(config)
    )

    def write(step: int, figures: Mapping[str, float]) -> None:
        run.log(dict(figures), step=step)

    return write


def _imported(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise HeadspanError(
            f"training.log names {package}, which is not installed: pip install {package}"
        ) from error
