"""The cores and the memory that this process may use, and the ends of other processes."""

from __future__ import annotations

import math
import os
import signal
from contextlib import suppress
from functools import cache
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
_MEMINFO = Path("/proc/meminfo")


def usable_cores() -> int:
    """The number of cores that this process may use."""
    has_affinity = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    quota = _core_quota(_CGROUP / "cpu.max")
    return max(1, min(cores, quota or cores))


@cache
def _core_quota(path: Path) -> int | None:
    try:
        quota, period = path.read_text(encoding="ascii").split()
        return math.ceil(int(quota) / int(period))
    except (OSError, ValueError):  # there is no such file, or no limit
        return None


def memory() -> tuple[int, int]:
    """The bytes of memory in total, and those that are free."""
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


def exit_reason(code: int) -> str:
    """Describe how a process ended, from its exit code, which is negative for a signal."""
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
