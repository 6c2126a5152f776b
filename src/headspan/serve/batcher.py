"""Batcher: sentences of many requests, parsed together and fairly by one thread."""

from __future__ import annotations

import math
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field

from headspan.conllu import Sentence
from headspan.inference import Constraints, NoTreeError
from headspan.model.parse_options import ParseOptions
from headspan.model.parse_result import Parse
from headspan.model.parser import Parser
from headspan.plumbing.errors import HeadspanError

ROUND = 384
"""Words that are parsed together before waiting requests have their next turn."""
TURN = 64
"""Words that a request may give to a round when it is its turn."""


class QueueFullError(Exception):
    """So much waits already that no more is taken. `seconds`: when to try again."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"try again in {seconds} s")
        self.seconds = seconds


@dataclass(slots=True, eq=False)
class Job:
    """One request. Only the batcher's thread draws on its sentences and fills its parses."""

    sentences: Iterable[Sentence]
    """Drawn one by one when they are needed, so that a text is segmented in turns, too."""
    words: int
    """About how many there are."""
    wanted: ParseOptions = field(default_factory=ParseOptions)
    constraints: Mapping[int, Constraints] = field(default_factory=dict)
    """By the number of the sentence, from 1."""
    result: Future[list[Parse]] = field(default_factory=Future)

    _next: Sentence | None = None
    _credit: int = 0
    _drawn: int = 0
    _parses: dict[int, Parse] = field(default_factory=dict)
    complete: bool = False
    """Whether all its sentences have been drawn."""

    def draw(self, words: int) -> list[_Unit]:
        """The next sentences, as many as `words` more words and what was saved before allow.

        A sentence that is longer waits until its request has saved enough for it.
        """
        found: list[_Unit] = []
        self._credit += words
        while (sentence := self._peek()) is not None and len(sentence) <= self._credit:
            self._next = None
            self._drawn += 1
            self._credit -= len(sentence)
            found.append(_Unit(self, self._drawn, sentence))
        return found

    def _peek(self) -> Sentence | None:
        if self._next is None and not self.complete:
            self.sentences = iter(self.sentences)
            self._next = next(self.sentences, None)
            self.complete = self._next is None
        return self._next

    def add(self, number: int, parse: Parse) -> None:
        """Take the parse of a sentence."""
        self._parses[number] = parse
        self.finish_if_done()

    def finish_if_done(self) -> None:
        """Give the result if every sentence has been drawn and parsed."""
        if self.complete and len(self._parses) == self._drawn and self._settle():
            self.result.set_result([parse for _, parse in sorted(self._parses.items())])

    def fail(self, error: Exception) -> None:
        """Give an error instead of the result."""
        if self._settle():
            self.result.set_exception(error)

    def _settle(self) -> bool:
        """Whether the result is still wanted; from then on it cannot be cancelled."""
        return not self.result.done() and self.result.set_running_or_notify_cancel()


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence of a job."""

    job: Job
    number: int
    sentence: Sentence

    @property
    def constraints(self) -> Constraints | None:
        return self.job.constraints.get(self.number)


class Batcher:
    """A parser in a thread of its own, and the jobs that wait for it.

    The thread works in rounds of about ROUND words. Jobs give sentences to a round in turn, each a
    stretch of about TURN words, so that what a small request waits for does not depend on how large
    the others are. limit: how many words may wait.
    """

    def __init__(self, parser: Parser, *, limit: int) -> None:
        self.parser = parser
        self.limit = limit
        self._jobs: deque[Job] = deque()
        self._changed = threading.Condition()
        self._waiting: dict[Job, int] = {}
        self._stopping = False
        self._pace = 2000.0  # words a second, until it has been seen
        self._thread = threading.Thread(target=self._work, name="headspan-batcher", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """About how many words wait or are being parsed."""
        with self._changed:
            return sum(self._waiting.values())

    def submit(self, job: Job) -> Future[list[Parse]]:
        """Take a job; raises QueueFullError. Its future can be cancelled at any time."""
        with self._changed:
            waiting = sum(self._waiting.values())
            if self._stopping or waiting + job.words > self.limit:
                raise QueueFullError(max(1, math.ceil(waiting / self._pace)))
            self._waiting[job] = job.words
            self._jobs.append(job)
            self._changed.notify()
        job.result.add_done_callback(lambda _: self._forget(job))
        return job.result

    def stop(self) -> None:
        """Finish the round that is being parsed, give up all else, and end the thread."""
        with self._changed:
            self._stopping = True
            jobs = list(self._waiting)
            self._changed.notify()
        for job in jobs:
            job.result.cancel()
        self._thread.join()

    def _forget(self, job: Job) -> None:
        with self._changed:
            self._waiting.pop(job, None)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._jobs or self._stopping)
                if self._stopping:
                    return
            start = time.perf_counter()
            units = self._round()
            for units_alike in _alike(units):
                self._parse(units_alike)
            words = sum(len(unit.sentence) for unit in units)
            if words >= TURN:
                pace = words / (time.perf_counter() - start)
                self._pace += (pace - self._pace) / 8

    def _round(self) -> list[_Unit]:
        """The sentences of the next round; jobs that have given all leave the queue."""
        units: list[_Unit] = []
        words = 0
        while words < ROUND:
            with self._changed:
                if not self._jobs:
                    break
                job = self._jobs.popleft()
            if job.result.done():
                continue
            try:
                drawn = job.draw(TURN)
            except Exception as error:
                job.fail(error)
                continue
            if not job.complete:
                with self._changed:
                    self._jobs.append(job)
            elif not drawn:
                job.finish_if_done()
            units += drawn
            words += sum(len(unit.sentence) for unit in drawn)
        return units

    def _parse(self, units: list[_Unit]) -> None:
        """Parse sentences together; if that fails, one by one, so that only the culprit fails."""
        units = [unit for unit in units if not unit.job.result.done()]
        if not units:
            return
        wanted = units[0].job.wanted
        constraints = units[0].constraints
        try:
            parses = self.parser.parse(
                [unit.sentence for unit in units],
                confidence=wanted.confidence,
                k=wanted.k,
                constraints=None if constraints is None else [constraints],
                retag=wanted.retag,
            )
        except Exception as error:
            if len(units) == 1:
                units[0].job.fail(_placed(error, units[0]))
            else:
                for unit in units:
                    self._parse([unit])
            return
        for unit, parse in zip(units, parses, strict=True):
            unit.job.add(unit.number, parse)
            with self._changed:
                if unit.job in self._waiting:
                    left = self._waiting[unit.job] - len(unit.sentence)
                    self._waiting[unit.job] = max(0, left)


def _placed(error: Exception, unit: _Unit) -> Exception:
    """What a user did wrong, with the sentence that it is about."""
    if isinstance(error, NoTreeError):
        return HeadspanError(
            f"sentence {unit.number}: no projective tree satisfies the constraints"
        )
    if isinstance(error, HeadspanError):
        return HeadspanError(f"sentence {unit.number}: {error}")
    return error


def _alike(units: list[_Unit]) -> list[list[_Unit]]:
    """The units in groups that can be parsed together; a constrained one stands alone."""
    alone = [[unit] for unit in units if unit.constraints is not None]
    free: defaultdict[ParseOptions, list[_Unit]] = defaultdict(list)
    for unit in units:
        if unit.constraints is None:
            free[unit.job.wanted].append(unit)
    return [*free.values(), *alone]
