"""Batcher: the sentences of many requests, parsed together and fairly by one thread."""

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
"""Words parsed together before waiting requests get their next turn."""
TURN = 64
"""Words that a request may add to a round when it is its turn."""


class QueueFullError(Exception):
    """No more work is taken, since too many words are waiting. `seconds`: when to try again."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"try again in {seconds} s")
        self.seconds = seconds


@dataclass(slots=True, eq=False)
class ParseJob:
    """One request. Only the batcher's thread draws its sentences and adds its parses."""

    sentences: Iterable[Sentence]
    """Drawn one by one when they are needed, so that segmenting a text takes turns, too."""
    words: int
    """The approximate number of words in the sentences."""
    options: ParseOptions = field(default_factory=ParseOptions)
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
        """Draw the next sentences, up to `words` words plus those saved from earlier turns.

        A longer sentence waits until its request has saved enough words for it.
        """
        units: list[_Unit] = []
        self._credit += words
        while (sentence := self._peek()) is not None and len(sentence) <= self._credit:
            self._next = None
            self._drawn += 1
            self._credit -= len(sentence)
            units.append(_Unit(self, self._drawn, sentence))
        return units

    def _peek(self) -> Sentence | None:
        if self._next is None and not self.complete:
            self.sentences = iter(self.sentences)
            self._next = next(self.sentences, None)
            self.complete = self._next is None
        return self._next

    def add(self, number: int, parse: Parse) -> None:
        """Add the parse of a sentence."""
        self._parses[number] = parse
        self.finish_if_done()

    def finish_if_done(self) -> None:
        """Set the result if every sentence has been drawn and parsed."""
        if self.complete and len(self._parses) == self._drawn and self._settle():
            self.result.set_result([parse for _, parse in sorted(self._parses.items())])

    def fail(self, error: Exception) -> None:
        """Set an error instead of the result."""
        if self._settle():
            self.result.set_exception(error)

    def _settle(self) -> bool:
        """Return whether the result is still awaited; from then on it cannot be cancelled."""
        return not self.result.done() and self.result.set_running_or_notify_cancel()


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence of a job."""

    job: ParseJob
    number: int
    sentence: Sentence

    @property
    def constraints(self) -> Constraints | None:
        return self.job.constraints.get(self.number)


class Batcher:
    """A parser in a thread of its own, and the jobs that wait for it.

    The thread works in rounds of about ROUND words. Jobs add sentences to a round in turn, about
    TURN words each, so that the time a small request waits does not depend on the size of the
    others. limit: the number of words that may wait.
    """

    def __init__(self, parser: Parser, *, limit: int) -> None:
        self.parser = parser
        self.limit = limit
        self._jobs: deque[ParseJob] = deque()
        self._changed = threading.Condition()
        self._waiting: dict[ParseJob, int] = {}
        self._stopping = False
        self._pace = 2000.0  # words per second, until it has been measured
        self._thread = threading.Thread(target=self._work, name="headspan-batcher", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """The approximate number of words that are waiting or being parsed."""
        with self._changed:
            return sum(self._waiting.values())

    def submit(self, job: ParseJob) -> Future[list[Parse]]:
        """Queue a job; raises QueueFullError. Its future can be cancelled at any time."""
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
        """Finish the current round, cancel everything else, and end the thread."""
        with self._changed:
            self._stopping = True
            jobs = list(self._waiting)
            self._changed.notify()
        for job in jobs:
            job.result.cancel()
        self._thread.join()

    def _forget(self, job: ParseJob) -> None:
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
        """Draw the next round; jobs with no sentences left leave the queue."""
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
        """Parse sentences together; if that fails, one by one, so that only the bad one fails."""
        units = [unit for unit in units if not unit.job.result.done()]
        if not units:
            return
        options = units[0].job.options
        constraints = [unit.constraints for unit in units] if units[0].constraints else None
        try:
            parses = self.parser.parse(
                [unit.sentence for unit in units],
                confidence=options.confidence,
                k=options.k,
                constraints=constraints,
                retag=options.retag,
            )
        except Exception as error:
            if len(units) == 1:
                units[0].job.fail(_located(error, units[0]))
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


def _located(error: Exception, unit: _Unit) -> Exception:
    """A user's mistake, with the number of the sentence."""
    if isinstance(error, NoTreeError):
        return HeadspanError(f"sentence {unit.number}: no tree satisfies the constraints")
    if isinstance(error, HeadspanError):
        return HeadspanError(f"sentence {unit.number}: {error}")
    return error


def _alike(units: list[_Unit]) -> list[list[_Unit]]:
    """Group units that can be parsed together; constraints, which can fail, are kept apart."""
    groups: defaultdict[tuple[ParseOptions, bool], list[_Unit]] = defaultdict(list)
    for unit in units:
        groups[unit.job.options, unit.constraints is not None].append(unit)
    return list(groups.values())
