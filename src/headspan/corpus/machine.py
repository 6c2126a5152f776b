"""How many processes and threads suit this machine."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_MEMORY = 3 << 29
"""Bytes that a process may come to need: libraries and model, and the longest sentence."""
_CGROUP = Path("/sys/fs/cgroup")
_MEMINFO = Path("/proc/meminfo")


@dataclass(frozen=True, slots=True)
class Share:
    """So many processes, each with so many threads."""

    processes: int
    threads: int


def share(processes: int | None = None) -> Share:
    """How to use all cores: a process a core, with more threads where memory allows fewer.

    Two processes of one thread parse more than one process of two, since much of the work on a
    sentence cannot be shared out.
    """
    if processes is not None:
        return Share(processes, 1)
    cores = cpus()
    memory = free_memory()
    most = cores if memory is None else max(1, min(cores, memory // _MEMORY))
    return Share(most, max(1, cores // most))


def cpus() -> int:
    """The cores that this process may use, a container's quota considered."""
    has_affinity = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    try:
        quota, period = (_CGROUP / "cpu.max").read_text(encoding="ascii").split()
        allowed = math.ceil(int(quota) / int(period))
    except (OSError, ValueError):  # no such file, or no limit
        return cores
    return max(1, min(cores, allowed))


def free_memory() -> int | None:
    """Bytes that are free, a container's limit considered; None where that is not known."""
    found: list[int] = []
    with suppress(OSError, ValueError):
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
        found += [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
    with suppress(OSError, ValueError):
        limit = int((_CGROUP / "memory.max").read_text(encoding="ascii"))
        found.append(limit - int((_CGROUP / "memory.current").read_text(encoding="ascii")))
    return min(found, default=None)
