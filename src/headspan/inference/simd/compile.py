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
from numba import config, njit, types
from numba.misc.appdirs import AppDirs

from headspan.plumbing.private import is_private

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
        compiled = _cached(self._function) or njit(nogil=True)(self._function)
        compiled.compile(signature)
        compiled.disable_compile()
        return compiled  # type: ignore[no-any-return]


def _cached(function: Callable[..., Any]) -> Any:
    """A function to compile whose machine code is kept on disk; None where that is not possible.

    Cached code is run as it is, so nobody else may write to its folder. Numba takes the folder that
    NUMBA_CACHE_DIR names, the one beside the source or the user's cache: the first in which it may
    write. If that is not private, the user's cache is tried. Where there is no folder, the kernel
    lives as long as the process.
    """
    chosen = config.CACHE_DIR
    try:
        for folder in (chosen, AppDirs(appname="numba", appauthor=False).user_cache_dir):
            config.CACHE_DIR = folder
            compiled = njit(nogil=True)(function)
            compiled.enable_caching()  # which only chooses the folder
            if is_private(Path(compiled.stats.cache_path)):
                return compiled
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
    finally:
        config.CACHE_DIR = chosen
    return None


def kernel(signature: Signature) -> Callable[[Callable[..., Any]], Kernel]:
    """Decorate loops with the signature that they get for a type of scores."""
    return lambda function: Kernel(function, signature)
