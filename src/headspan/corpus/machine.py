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
    """How to use all cores: a process a core, and more threads where memory is too small for that.

    Two processes of one thread parse more than one process of two, since much of the work on a
    sentence cannot be shared out. Threads may change how numbers are rounded, so how many there are
    depends on the machine, not on what else is at work there; how many processes does.
    """
    cores = cpus()
    memory, free = _memory()
    threads = max(1, cores // max(1, memory // _MEMORY))
    if processes is None:
        processes = max(1, min(cores // threads, free // _MEMORY))
    return Share(processes, threads)


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


def _memory() -> tuple[int, int]:
    """Bytes that there are, and that are free; a container's limit considered."""
    total = free = 1 << 62  # where nothing is known, memory is no reason for less
    with suppress(OSError, ValueError, IndexError):
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
        known = {
            name: int(rest.split()[0]) << 10 for name, _, rest in (x.partition(":") for x in lines)
        }
        total, free = known.get("MemTotal", total), known.get("MemAvailable", free)
    with suppress(OSError, ValueError):
        limit = int((_CGROUP / "memory.max").read_text(encoding="ascii"))
        used = int((_CGROUP / "memory.current").read_text(encoding="ascii"))
        total, free = min(total, limit), min(free, limit - used)
    return total, free
