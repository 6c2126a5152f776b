"""Free memory that the C library keeps."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any


def give_back() -> None:
    """Return free memory to the system, where the C library can.

    Batches are of all sizes and leave free memory scattered over the heap, where it still counts: a
    process that parses for hours would slowly grow.
    """
    if (trim := _malloc_trim()) is not None:
        trim(0)


@cache
def _malloc_trim() -> Any:
    """The function of glibc, or None without glibc."""
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
