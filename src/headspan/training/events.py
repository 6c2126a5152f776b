"""What happens in training, for those who watch it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from headspan.text import SegmenterEpoch


@dataclass(frozen=True, slots=True)
class StepDone:
    """One step of the optimiser. Losses are means over the words of its batches."""

    epoch: int
    """From 1."""
    step: int
    """In this epoch, from 1."""
    steps: int
    """In this epoch."""
    parse: float
    label: float
    tag: float


@dataclass(frozen=True, slots=True)
class EpochDone:
    """One epoch, a line in log.jsonl. Losses are means over all words."""

    epoch: int
    """From 1."""
    parse: float
    label: float
    tag: float
    dev_uas: float
    dev_las: float
    seconds: float
    """Since training began."""


Event: TypeAlias = StepDone | EpochDone | SegmenterEpoch
Watch: TypeAlias = Callable[[Event], None]
"""Is told about every step, every epoch, and every epoch of the segmenter."""
