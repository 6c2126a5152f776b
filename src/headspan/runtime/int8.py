"""Whether this processor is fast at 8-bit integers."""

from __future__ import annotations

import os

from headspan.plumbing.errors import HeadspanError

SETTING = "HEADSPAN_INT8"
"""The environment variable that, if it is 0, turns int8 off where nobody asked for it."""


def is_default() -> bool:
    """Return whether models that are stored in int8 are computed in int8 here."""
    return os.environ.get(SETTING, "1") != "0" and is_available()


def is_available() -> bool:
    """Return whether this processor has the instructions that make int8 fast."""
    from llvmlite.binding import get_host_cpu_features

    features = get_host_cpu_features()
    return any(features.get(name) for name in ("avx512vnni", "avxvnni"))


def check_available() -> None:
    """Raise HeadspanError if the processor lacks the instructions."""
    if not is_available():
        raise HeadspanError(
            "int8 needs a processor with VNNI instructions, which this one lacks; use float32"
        )
