"""Training: data, loop, checkpoints."""

from headspan.training.loop import Trainer, train

__all__ = ["Trainer", "train"]
