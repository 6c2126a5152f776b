"""The local engine: processes that each hold the model and take one chunk at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import warnings
from collections import Counter, deque
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from typing import Any

from headspan.corpus.chunks import Chunk, Shard
from headspan.corpus.shards import ShardWriter
from headspan.plumbing.errors import HeadspanError, HeadspanWarning, warn
from headspan.plumbing.machine import exit_reason, memory, usable_cores

TRIES = 2
"""Number of times that a chunk is tried if the process that parses it dies."""
_LOADS = 3
"""Number of times in a row that processes may die while they load the model, per process."""
_READY = "ready"
_MEMORY = 3 << 29
"""Bytes that a process may need: libraries, the model, and the longest sentence."""


@dataclass(frozen=True, slots=True)
class ProcessPlan:
    """A number of processes, and the threads of each."""

    processes: int
    threads: int


def plan_processes(processes: int | None = None) -> ProcessPlan:
    """Use all cores: one process per core, or fewer with more threads if memory is short.

    Two processes with one thread each parse more than one process with two, because much of the
    work on a sentence cannot be divided. The number of threads may change how results are rounded,
    so it depends only on the machine; the number of processes also depends on its free memory.
    """
    cores = usable_cores()
    total, free = memory()
    threads = max(1, cores // max(1, total // _MEMORY))
    if processes is None:
        processes = max(1, min(cores // threads, free // _MEMORY))
    return ProcessPlan(processes, threads)


def run(chunks: Iterator[Chunk], writer: ShardWriter, *, processes: int) -> Generator[Shard]:
    """Parse the chunks in several processes; yields the shards as they are finished.

    There are at most as many chunks in memory as processes. A process that dies is replaced; its
    chunk is tried once more, then recorded as failed. HeadspanError is raised if processes die in a
    row while they load the model. Closing the generator ends the processes.
    """
    state = _RunState(most_failed_loads=_LOADS * processes)
    team, waiting = state.team, state.waiting
    try:
        while True:
            while len(waiting) + sum(w.chunk is not None for w in team) < processes:
                chunk = next(chunks, None)
                if chunk is None:
                    break
                waiting.append(chunk)
            while len(team) < min(processes, len(waiting) + sum(bool(w.chunk) for w in team)):
                team.append(_Worker(writer))
            for worker in team:
                if worker.ready and worker.chunk is None and waiting:
                    worker.assign(waiting.popleft())
            if not waiting and not any(worker.chunk for worker in team):
                return
            readable = connection.wait([worker.pipe for worker in team])
            for worker in [worker for worker in team if worker.pipe in readable]:
                yield from _receive(worker, state)
    finally:
        for worker in team:
            worker.kill()


@dataclass
class _RunState:
    """The processes of a run, the chunks that wait for them, and what has gone wrong so far."""

    most_failed_loads: int
    team: list[_Worker] = field(default_factory=list)
    waiting: deque[Chunk] = field(default_factory=deque)
    deaths: Counter[int] = field(default_factory=Counter)
    """Number of processes that died, by the chunk that they parsed."""
    failed_loads: int = 0
    """Number of processes in a row that died while they loaded the model."""
    warned: set[str] = field(default_factory=set)


def _receive(worker: _Worker, state: _RunState) -> Iterator[Shard]:
    """Handle a message of a process: ready, a shard, a warning, an error, or its death.

    Warnings that all processes have are given once.
    """
    try:
        message = worker.pipe.recv()
    except (EOFError, OSError):
        state.team.remove(worker)
        how, chunk = worker.how_it_ended(), worker.chunk
        if chunk is None and worker.ready:  # it had nothing to do
            return
        if chunk is None:
            state.failed_loads += 1
            if state.failed_loads < state.most_failed_loads:
                return
            raise HeadspanError(
                f"a process {how} while it loaded the model, {state.failed_loads} times in a row; "
                "fewer --processes need less memory"
            ) from None
        state.deaths[chunk.number] += 1
        if state.deaths[chunk.number] < TRIES:
            state.waiting.appendleft(chunk)
        else:
            yield Shard.failed(chunk, f"the process that parsed it {how}, {TRIES} times")
        return
    if isinstance(message, HeadspanWarning):
        if str(message) not in state.warned:
            state.warned.add(str(message))
            warn(str(message))
        return
    if isinstance(message, Exception):
        raise message
    if isinstance(message, Shard):
        worker.chunk = None
        yield message
    else:
        state.failed_loads = 0
    worker.ready = True


class _Worker:
    """A process, and the chunk that it is parsing."""

    def __init__(self, writer: ShardWriter) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.chunk: Chunk | None = None
        self.ready = False
        self._process: BaseProcess = context.Process(
            target=_work, args=(theirs, writer), daemon=True
        )
        before = os.environ.get("OMP_NUM_THREADS")
        os.environ["OMP_NUM_THREADS"] = str(writer.threads)  # libraries read it when they load
        try:
            self._process.start()
        finally:
            if before is None:
                del os.environ["OMP_NUM_THREADS"]
            else:
                os.environ["OMP_NUM_THREADS"] = before
        theirs.close()

    def assign(self, chunk: Chunk) -> None:
        """Let it parse a chunk."""
        self.chunk = chunk
        with suppress(OSError):  # it has died, as receiving will show
            self.pipe.send(chunk)

    def how_it_ended(self) -> str:
        """Wait for its end, and describe it."""
        self._process.join()
        code = self._process.exitcode or 0
        self.pipe.close()
        return exit_reason(code)

    def kill(self) -> None:
        """End it now; what it was writing stays under a temporary name."""
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _work(pipe: connection.Connection, writer: ShardWriter) -> None:
    """Load the model, then parse one chunk after the other: the work of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process handles Ctrl-C
    threading.Thread(target=_end_with_parent, daemon=True).start()
    show = warnings.showwarning

    def send(message: Warning | str, *place: Any, **more: Any) -> None:
        """Let the first process give a warning of headspan."""
        if isinstance(message, HeadspanWarning):
            pipe.send(message)
        else:
            show(message, *place, **more)

    warnings.showwarning = send
    try:
        parser = writer.parser()
    except HeadspanError as error:
        pipe.send(error)
        return
    pipe.send(_READY)
    while True:
        try:
            chunk = pipe.recv()
        except (EOFError, OSError):  # the first process is gone
            return
        try:
            pipe.send(writer.write(parser, chunk))
        except HeadspanError as error:
            pipe.send(error)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
