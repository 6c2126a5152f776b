"""The cores that a process may use, and the way in which a process ended."""

import os
import signal


def available_cores() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def ending(code: int) -> str:
    """Describe how a process ended, from its exit code, negative for a signal."""
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
