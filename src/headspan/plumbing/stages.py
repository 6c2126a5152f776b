"""Timing the stages of parsing; costs nothing unless it is switched on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Stopwatch:
    """Seconds per stage. The time of a stage inside another counts for the inner one only.

    settle: is called before the clock is read, to wait for a device that works asynchronously.
    """

    def __init__(self, settle: Callable[[], object] | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self._settle = settle
        self._running: list[str] = []
        self._since = 0.0

    def enter(self, name: str) -> None:
        self._note()
        self._running.append(name)

    def leave(self) -> None:
        self._note()
        self._running.pop()

    def _note(self) -> None:
        if self._settle:
            self._settle()
        now = time.perf_counter()
        if self._running:
            name = self._running[-1]
            self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now


_watch: ContextVar[Stopwatch | None] = ContextVar("watch", default=None)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Count the time of the block for this stage."""
    watch = _watch.get()
    if watch is None:
        yield
        return
    watch.enter(name)
    try:
        yield
    finally:
        watch.leave()


@contextmanager
def timed(settle: Callable[[], object] | None = None) -> Iterator[Stopwatch]:
    """Measure the stages inside the block, in this thread."""
    watch = Stopwatch(settle)
    token = _watch.set(watch)
    try:
        yield watch
    finally:
        _watch.reset(token)
