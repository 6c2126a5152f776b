"""The local engine: processes that each hold the model and take a chunk at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Generator, Iterator
from contextlib import suppress
from multiprocessing import connection
from multiprocessing.process import BaseProcess

from headspan.corpus.chunks import Chunk, Shard
from headspan.corpus.shards import Work
from headspan.plumbing.errors import HeadspanError

_TRIES = 2  # that a chunk has if the process that parses it dies
_READY = "ready"


def run(chunks: Iterator[Chunk], work: Work, *, processes: int) -> Generator[Shard]:
    """Parse the chunks in so many processes; gives the shards as they are finished.

    As many chunks are in memory as there are processes. A process that dies is replaced; its chunk
    is tried once more, then recorded as failed. Closing the generator ends the processes.
    """
    waiting: deque[Chunk] = deque()
    deaths: Counter[int] = Counter()
    team: list[_Worker] = []
    try:
        while True:
            while len(waiting) + sum(w.chunk is not None for w in team) < processes:
                chunk = next(chunks, None)
                if chunk is None:
                    break
                waiting.append(chunk)
            while len(team) < min(processes, len(waiting) + sum(bool(w.chunk) for w in team)):
                team.append(_Worker(work))
            for worker in team:
                if worker.ready and worker.chunk is None and waiting:
                    worker.give(waiting.popleft())
            if not waiting and not any(worker.chunk for worker in team):
                return
            speaking = connection.wait([worker.pipe for worker in team])
            for worker in [worker for worker in team if worker.pipe in speaking]:
                yield from _hear(worker, team, waiting, deaths)
    finally:
        for worker in team:
            worker.end()


def _hear(
    worker: _Worker, team: list[_Worker], waiting: deque[Chunk], deaths: Counter[int]
) -> Iterator[Shard]:
    """What a process has to say: that it is ready, a shard, an error, or that it is dead."""
    try:
        said = worker.pipe.recv()
    except (EOFError, OSError):
        team.remove(worker)
        why, chunk = worker.death(), worker.chunk
        if chunk is None and worker.ready:  # it had nothing to do
            return
        if chunk is None:
            raise HeadspanError(
                f"a process {why} while it loaded the model; fewer --processes need less memory"
            ) from None
        deaths[chunk.number] += 1
        if deaths[chunk.number] < _TRIES:
            waiting.appendleft(chunk)
        else:
            yield Shard.failed(chunk, f"the process that parsed it {why}, {_TRIES} times")
        return
    if isinstance(said, Exception):
        raise said
    if isinstance(said, Shard):
        worker.chunk = None
        yield said
    worker.ready = True


class _Worker:
    """A process, and the chunk that it has."""

    def __init__(self, work: Work) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.chunk: Chunk | None = None
        self.ready = False
        self._process: BaseProcess = context.Process(target=_work, args=(theirs, work), daemon=True)
        before = os.environ.get("OMP_NUM_THREADS")
        os.environ["OMP_NUM_THREADS"] = str(work.threads)  # libraries look when they are loaded
        try:
            self._process.start()
        finally:
            if before is None:
                del os.environ["OMP_NUM_THREADS"]
            else:
                os.environ["OMP_NUM_THREADS"] = before
        theirs.close()

    def give(self, chunk: Chunk) -> None:
        self.chunk = chunk
        with suppress(OSError):  # it has died, which is heard from the pipe
            self.pipe.send(chunk)

    def death(self) -> str:
        """How it ended."""
        self._process.join()
        code = self._process.exitcode or 0
        self.pipe.close()
        return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"

    def end(self) -> None:
        """End it now; what it was writing stays under a temporary name."""
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _work(pipe: connection.Connection, work: Work) -> None:
    """What a process does: load the model, then a chunk after the other."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the matter of the first process
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        parser = work.parser()
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
            pipe.send(work.shard(parser, chunk))
        except HeadspanError as error:
            pipe.send(error)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
