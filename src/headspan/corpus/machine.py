"""The number of processes and threads that suits this machine."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_MEMORY = 3 << 29
"""Bytes that a process may need: libraries, the model, and the longest sentence."""
_CGROUP = Path("/sys/fs/cgroup")
_MEMINFO = Path("/proc/meminfo")


@dataclass(frozen=True, slots=True)
class ProcessPlan:
    """A number of processes, and the threads of each."""

    processes: int
    threads: int


def plan_processes(processes: int | None = None) -> ProcessPlan:
    """Use all cores: one process per core, or fewer with more threads if memory is short.

    Two processes with one thread each parse more than one process with two, because much of the
    work on a sentence cannot be divided. The number of threads may change how results are rounded,
    so it depends only on the machine; the number of processes also depends on its free memory.
    """
    cores = usable_cores()
    memory, free = _memory()
    threads = max(1, cores // max(1, memory // _MEMORY))
    if processes is None:
        processes = max(1, min(cores // threads, free // _MEMORY))
    return ProcessPlan(processes, threads)


def usable_cores() -> int:
    """The number of cores that this process may use, within a container's quota."""
    has_affinity = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    try:
        quota, period = (_CGROUP / "cpu.max").read_text(encoding="ascii").split()
        allowed = math.ceil(int(quota) / int(period))
    except (OSError, ValueError):  # there is no such file, or no limit
        return cores
    return max(1, min(cores, allowed))


def _memory() -> tuple[int, int]:
    """The bytes of memory in total and free, within a container's limit."""
    total = free = 1 << 62  # if the system does not say, memory is not a limit
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
