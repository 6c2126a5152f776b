"""The progress of a run, and whether a checkpoint's is one that a run can have."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any

from headspan.plumbing.errors import HeadspanError, shown
from headspan.training.events import EpochDone


@dataclass
class TrainingState:
    """The progress of a run."""

    epoch: int = 0
    """Epochs done."""
    step: int = 0
    """Steps done in this epoch."""
    parse: float = 0.0
    """The sum of the losses on trees in this epoch."""
    label: float = 0.0
    """The sum of the losses on relations."""
    tag: float = 0.0
    """The sum of the losses on tags."""
    words: int = 0
    """The words of these losses."""
    best: float = -1.0
    """The best LAS on the dev treebank."""
    best_epoch: int = -1
    seconds: float = 0.0
    history: list[EpochDone] = field(default_factory=list)

    @classmethod
    def from_json(cls, state: Any, *, epochs: int) -> TrainingState:
        """The state from `asdict`, through JSON, of a run of so many epochs.

        Raises HeadspanError if no run can have such a state.
        """
        try:
            found = cls(**{**state, "history": [EpochDone(**entry) for entry in state["history"]]})
        except (KeyError, TypeError) as error:
            raise HeadspanError(f"its state is not that of a run: {error!r}") from error
        _check_numbers(found)
        for done in found.history:
            _check_numbers(done)
        for name in ("step", "words"):
            if getattr(found, name) < 0:
                raise HeadspanError(f"its {name} is {getattr(found, name)}; expected 0 or more")
        if not (0 <= found.epoch <= epochs and -1 <= found.best_epoch < max(found.epoch, 1)):
            raise HeadspanError(
                f"its epoch is {found.epoch} and its best epoch {found.best_epoch}, in a run of "
                f"{epochs} epochs"
            )
        if len(found.history) != found.epoch:
            raise HeadspanError(
                f"its history has {len(found.history)} epochs; expected {found.epoch}"
            )
        return found


def _check_numbers(entry: TrainingState | EpochDone) -> None:
    """Raise HeadspanError if a field that should be a number is not, or is not finite."""
    for one in fields(entry):
        value, kinds = getattr(entry, one.name), {"int": (int,), "float": (int, float)}
        if one.type in kinds and (type(value) not in kinds[one.type] or not math.isfinite(value)):
            raise HeadspanError(f"its {one.name} is {shown(value)}; expected a number")
