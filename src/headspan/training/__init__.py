"""Training: data, loop, checkpoints."""

import os

from headspan.plumbing.extras import needed_for

# Threads that wait for each other by spinning come to a near stop beside a busy process. OpenMP
# reads this when torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

with needed_for("training", extra="train"):
    from headspan.training.loop import Trainer, train

__all__ = ["Trainer", "train"]
