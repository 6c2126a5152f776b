"""Arrays in safetensors files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from headspan.plumbing.files import unreadable


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], header: dict[str, str]) -> None:
    """Write a safetensors file. Raises OSError if it cannot be written."""
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    try:
        save_file(plain, path, metadata=header)
    except SafetensorError as error:  # which does not say what kind of error it is
        raise OSError(str(error)) from error


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a safetensors file. Raises HeadspanError."""
    try:
        with safe_open(path, framework="numpy") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (AttributeError, ImportError, OSError, SafetensorError, TypeError) as error:
        # all but two of these are what it raises for a type that NumPy lacks
        raise unreadable(path, error) from error
