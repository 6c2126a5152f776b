"""The time and memory that training will take."""

from __future__ import annotations

import resource
import sys
import time

from headspan.training import processes
from headspan.training.loop import Trainer


def estimate(trainer: Trainer) -> tuple[float, int]:
    """Seconds per epoch and bytes in all that training will take, from trying two batches.

    The batch that is largest when padded takes the most memory; the time of all batches is
    estimated from its time. Leaves no trace: dropout depends on the place of a step.
    """
    plan = trainer.batches(trainer.state.epoch)
    sizes = [len(batch) * max(trainer.costs[k] for k in batch) for batch in plan]
    largest = max(range(len(plan)), key=sizes.__getitem__)
    network = trainer.network.train()
    seconds = 0.0
    for number in (0, largest):  # the first one also waits for compilation
        started = time.monotonic()
        words = sum(len(trainer.training_set.sentences[k]) for k in plan[number])
        trainer.backward(plan[number], words)
        trainer.optimizer.zero_grad(set_to_none=True)
        seconds = (time.monotonic() - started) * sum(sizes) / sizes[number]
    learned = [p for p in network.parameters() if p.requires_grad]
    moments = 2 * sum(p.numel() * p.element_size() for p in learned)
    return seconds / processes.count(), peak_memory() + moments


def peak_memory() -> int:
    """The peak memory of this process so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
