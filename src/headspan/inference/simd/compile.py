"""Compiling a kernel when it is first called, and keeping the machine code on disk.

A kernel is compiled for one type of scores at a time, with its signature spelt out: every memory
layout and read-only arrays then share one piece of machine code, and threads never compile.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from zlib import crc32

import numpy as np
from numba import njit, types

Signature = Callable[[Any], Any]
_LOCK = Lock()


def score_array(number: Any, dimensions: int) -> Any:
    """The type of a score array: any strides, never written to."""
    return types.Array(number, dimensions, "A", readonly=True)


def array(number: Any, dimensions: int) -> Any:
    """The type of an array of ours: C-contiguous."""
    return types.Array(number, dimensions, "C")


INDICES = array(types.int64, 1)


def best_signature(*scores: int, gold: tuple[int, ...]) -> Signature:
    """The signature of a kernel for the best tree; see `Kernels`.

    scores, gold: the number of axes of each piece's scores and gold array, batch axis included.
    """
    heads, spans = array(types.int64, 2), array(types.int64, 3)
    return lambda number: types.void(
        *(score_array(number, axes) for axes in scores),
        INDICES,
        INDICES,
        *(array(types.int64, axes) for axes in gold),
        *[number] * len(gold),
        heads,
        spans,
        array(number, 1),
        INDICES,
    )


def sums_signature(*scores: int, outputs: int) -> Signature:
    """The signature of a kernel for sums over all trees; see `Kernels`."""
    return lambda number: types.void(
        *(score_array(number, axes) for axes in scores),
        INDICES,
        INDICES,
        array(types.float64, 1),
        *[array(number, 1)] * outputs,
        INDICES,
    )


Function = TypeVar("Function", bound=Callable[..., Any])


def helper(function: Function) -> Function:
    """Have Numba compile a function into the kernels that call it, and mypy see what it is."""
    compiled: Function = njit(function)
    return compiled


@cache
def _fingerprint() -> str:
    """A number that changes with the source of any kernel."""
    sources = sorted(Path(__file__).parent.parent.rglob("*.py"))
    return f"{crc32(b''.join(source.read_bytes() for source in sources)):08x}"


class Kernel:
    """A loop nest, compiled once for float32 and once for float64, each when first asked for."""

    def __init__(self, function: Callable[..., Any], signature: Signature) -> None:
        self._function = function
        self._signature = signature
        self._compiled: dict[Any, Callable[..., Any]] = {}

    def __getitem__(self, dtype: Any) -> Callable[..., Any]:
        """The compiled loops for scores of this type."""
        dtype = np.dtype(dtype)
        if dtype not in self._compiled:
            with _LOCK:
                if dtype not in self._compiled:
                    self._compiled[dtype] = self._compile(dtype)
        return self._compiled[dtype]

    def _compile(self, dtype: Any) -> Callable[..., Any]:
        number = types.float32 if dtype == np.float32 else types.float64
        signature = self._signature(number)
        # Numba looks whether a kernel's own file has changed, but not the files of the helpers that
        # are compiled into it. The name of the cached file is made of the qualified name.
        name = self._function.__qualname__.partition("@")[0]
        self._function.__qualname__ = f"{name}@{_fingerprint()}"
        compiled: Callable[..., Any]
        try:
            compiled = njit(signature, nogil=True, cache=True)(self._function)
        except RuntimeError as error:
            # Numba looks for a folder to write to beside the source and then in the user's
            # cache. Where it may write to neither, the kernel lives as long as the process.
            if "cannot cache" not in str(error):
                raise
            compiled = njit(signature, nogil=True)(self._function)
        return compiled


def kernel(signature: Signature) -> Callable[[Callable[..., Any]], Kernel]:
    """Decorate loops with the signature that they get for a type of scores."""
    return lambda function: Kernel(function, signature)
