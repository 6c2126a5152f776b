"""Weights in little space: large matrices as int8 with a scale per row, the others as float16."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headspan.plumbing.errors import HeadspanError, named

Array = NDArray[Any]
SCALE = ".scale"
"""The suffix of an int8 tensor's name that gives the name of its scales."""
_LARGE_MATRIX = 1 << 15  # in numbers


def packed(tensors: Mapping[str, Array]) -> dict[str, Array]:
    """Smaller copies of tensors.

    Linear maps in int8 round weights in the same way, so computing in int8 loses nothing more.
    """
    small: dict[str, Array] = {}
    for name, tensor in tensors.items():
        if tensor.dtype != np.float32:
            small[name] = tensor
        elif tensor.ndim == 2 and tensor.size >= _LARGE_MATRIX:
            small[name], small[name + SCALE] = rounded(tensor)
        else:
            small[name] = tensor.astype(np.float16)
    return small


def rounded(matrix: Array) -> tuple[Array, Array]:
    """A matrix in int8, and the scale of each of its rows, (rows, 1)."""
    scale = np.maximum(np.abs(matrix).max(1, keepdims=True), np.float32(1e-12)) / 127
    return np.rint(matrix / scale).astype(np.int8), scale.astype(np.float32)


def names(stored: Mapping[str, Array]) -> list[str]:
    """The names of the tensors in a file, which may be packed; without those of scales."""
    scales = {name + SCALE for name, tensor in stored.items() if tensor.dtype == np.int8}
    return [name for name in stored if name not in scales]


def unpacked(stored: Mapping[str, Array], name: str) -> Array:
    """The tensor of a name in float32, if it was packed or not."""
    tensor, scale = stored[name], scale_of(stored, name)
    if scale is not None:
        return tensor * scale
    return tensor.astype(np.float32) if tensor.dtype == np.float16 else tensor


def scale_of(stored: Mapping[str, Array], name: str) -> Array | None:
    """The scales of a tensor in int8, (rows, 1); None for other tensors."""
    tensor, scale = stored[name], stored.get(name + SCALE)
    if tensor.dtype != np.int8 or scale is None:
        return None
    if tensor.ndim != 2 or scale.shape != (len(tensor), 1) or scale.dtype != np.float32:
        raise HeadspanError(f"the tensor {named(name)} does not fit its scale")
    return scale
