"""The number of threads that a process computes with."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from headspan.plumbing.machine import usable_cores

_chosen: int | None = None


def threads() -> int:
    """The number that was set or, by default, OMP_NUM_THREADS or the number of cores."""
    if _chosen is not None:
        return _chosen
    with suppress(ValueError):
        return max(1, int(os.environ.get("OMP_NUM_THREADS", "")))
    return usable_cores()


def set_threads(count: int) -> None:
    """Compute with so many threads from now on."""
    global _chosen
    _chosen = count
    tell_torch()


def tell_torch() -> None:
    """Give torch the number that was set, if torch has been imported."""
    torch = sys.modules.get("torch")
    if torch is not None and _chosen is not None:
        torch.set_num_threads(_chosen)
