"""Training: data, loop, checkpoints."""

from headspan.plumbing.extras import needed_for

with needed_for("training", extra="train"):
    from headspan.training.loop import Trainer, train

__all__ = ["Trainer", "train"]
