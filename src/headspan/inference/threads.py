"""Sharing the sentences of a batch among threads.

The kernels release the interpreter's lock, so ordinary threads run them side by side. That is
safe where Numba's own parallel loops are not: in any thread, and after a fork.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headspan.plumbing.machine import usable_cores

_CHUNKS_PER_THREAD = 4
_WORTH_A_THREAD = 200_000  # cells; below, waking a thread costs more than it brings

_pools: dict[int, ThreadPoolExecutor] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)


def over_sentences(
    run: Callable[[NDArray[np.int64]], Any],
    lengths: NDArray[np.int64],
    threads: int | None,
    *,
    exponent: int = 3,
) -> None:
    """Call run(sentences) for every sentence of the batch, on up to `threads` threads.

    A sentence of n words is taken to cost n**exponent. Long sentences start first, so that no
    thread is left alone with one at the end. `threads` None means as many as there are processors.
    """
    if len(lengths) < 2:
        run(np.arange(len(lengths)))
        return
    order = np.argsort(-lengths, kind="stable").astype(np.int64)
    count = usable_cores() if threads is None else max(1, threads)
    work = float(np.sum(lengths.astype(float) ** exponent))
    if count == 1 or (threads is None and work < _WORTH_A_THREAD):
        run(order)
        return
    if count not in _pools:
        _pools.setdefault(count, ThreadPoolExecutor(count - 1, thread_name_prefix="headspan"))
    chunks = min(len(order), count * _CHUNKS_PER_THREAD)
    parts = [np.ascontiguousarray(order[start::chunks]) for start in reversed(range(chunks))]

    def take_parts() -> None:
        while parts:
            try:
                part = parts.pop()
            except IndexError:  # another thread was quicker
                return
            run(part)

    # The calling thread works, too: waking a sleeping one can take as long as many short sentences.
    helpers = [_pools[count].submit(take_parts) for _ in range(count - 1)]
    take_parts()
    for helper in helpers:
        helper.result()
