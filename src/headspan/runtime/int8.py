"""Whether this processor is fast at 8-bit integers."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache

from headspan.plumbing.errors import HeadspanError

SETTING = "HEADSPAN_INT8"
"""The environment variable that, if it is 0, turns int8 off where nobody asked for it."""
_VNNI = {"avx512_vnni", "avx_vnni", "avx512vnni", "avxvnni"}


def is_default() -> bool:
    """Return whether models that are stored in int8 are computed in int8 here."""
    return os.environ.get(SETTING, "1") != "0" and is_available()


@cache
def is_available() -> bool:
    """Return whether this processor has the instructions that make int8 fast."""
    return not _flags().isdisjoint(_VNNI)


def _flags() -> set[str]:
    """The names of the processor's features, as Linux or LLVM spells them."""
    if sys.platform == "linux":  # llvmlite would take 37 MB to say the same
        with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as lines:  # noqa: PTH123
            for line in lines:
                if line.startswith("flags"):
                    return set(line.partition(":")[2].split())
    from llvmlite.binding import get_host_cpu_features

    return {name for name, present in get_host_cpu_features().items() if present}


def check_available() -> None:
    """Raise HeadspanError if the processor lacks the instructions."""
    if not is_available():
        raise HeadspanError(
            "int8 needs a processor with VNNI instructions, which this one lacks; use float32"
        )
