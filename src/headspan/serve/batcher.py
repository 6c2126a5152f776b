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
from headspan.model.batching import summed_batches
from headspan.model.parse_options import ParseOptions
from headspan.model.parse_result import Parse
from headspan.model.parser import Parser
from headspan.plumbing.errors import HeadspanError
from headspan.serve.work import Portion

ROUND = 384
"""Words of work that are drawn before other requests get their next turn."""
TURN = 64
"""Words of work that a request may add to a round when it is its turn."""
BATCH = 256
"""Words of work in one call of the parser, during which nothing else happens, unless a single
sentence is more."""


class QueueFullError(Exception):
    """No more work is taken, since too many words are waiting. `seconds`: when to try again."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"try again in {seconds} s")
        self.seconds = seconds


@dataclass(slots=True, eq=False)
class ParseJob:
    """One request. Only the batcher's thread draws its sentences and adds its parses."""

    portions: Iterable[Portion]
    """Drawn when they are needed, so that segmenting a text takes turns, too."""
    words: int
    """The work of all portions, in words; for a text, approximately."""
    options: ParseOptions = field(default_factory=ParseOptions)
    constraints: Mapping[int, Constraints] = field(default_factory=dict)
    """By the number of the sentence, from 1."""
    parser: Parser | None = None
    """The parser of its sentences; None for the batcher's own."""
    result: Future[list[Parse]] = field(default_factory=Future)

    _next: deque[tuple[Sentence, int]] = field(default_factory=deque)
    _credit: int = 0
    _drawn: int = 0
    _parses: dict[int, Parse] = field(default_factory=dict)
    complete: bool = False
    """Whether all its sentences have been drawn."""

    def draw(self, words: int) -> tuple[list[_Unit], int]:
        """Draw the next sentences, up to `words` words of work plus those saved from earlier turns.

        A larger sentence waits until its request has saved enough words for it; what it takes to
        find sentences may be borrowed from later turns. Returns also the words that were used.
        """
        units: list[_Unit] = []
        self._credit += words
        before = self._credit
        while self._credit >= 0 and not self.complete:
            if not self._next:
                self._find()
            elif self._next[0][1] <= self._credit:
                sentence, work = self._next.popleft()
                self._drawn += 1
                self._credit -= work
                units.append(_Unit(self, self._drawn, sentence, work))
            else:
                break
        return units, before - self._credit

    def _find(self) -> None:
        self.portions = iter(self.portions)
        portion = next(self.portions, None)
        if portion is None:
            self.complete = True
        else:
            self._next.extend(portion.sentences)
            self._credit -= portion.words

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
    work: int
    """In words."""

    @property
    def constraints(self) -> Constraints | None:
        return self.job.constraints.get(self.number)


class Batcher:
    """A thread that parses, and the jobs that wait for it; also for parsers besides its own.

    The thread works in rounds of about ROUND words of work. Jobs add sentences to a round in turn,
    about TURN words each. A job's first turn comes after the batch that is being parsed, so that
    the time a small request waits does not depend on the size and number of those under way.
    limit: the words of work that may wait.
    """

    def __init__(self, parser: Parser, *, limit: int) -> None:
        self.parser = parser
        self.limit = limit
        self._new: deque[ParseJob] = deque()
        self._begun: deque[ParseJob] = deque()
        self._changed = threading.Condition()
        self._waiting: set[ParseJob] = set()
        self._stopping = False
        self._pace = 1000.0  # words per second, until it has been measured
        self._thread = threading.Thread(target=self._work, name="headspan-batcher", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """The work of all jobs that are not finished, in words."""
        with self._changed:
            return sum(job.words for job in self._waiting)

    def submit(self, job: ParseJob) -> Future[list[Parse]]:
        """Queue a job; raises QueueFullError. Its future can be cancelled at any time."""
        with self._changed:
            waiting = sum(job.words for job in self._waiting)
            if self._stopping or waiting + job.words > self.limit:
                raise QueueFullError(max(1, math.ceil(waiting / self._pace)))
            self._waiting.add(job)
            self._new.append(job)
            self._changed.notify()
        job.result.add_done_callback(lambda _: self._forget(job))
        return job.result

    def stop(self) -> None:
        """Finish the current batch, cancel everything else, and end the thread."""
        with self._changed:
            self._stopping = True
            jobs = list(self._waiting)
            self._changed.notify()
        for job in jobs:
            job.result.cancel()
        self._thread.join()

    def _forget(self, job: ParseJob) -> None:
        with self._changed:
            self._waiting.discard(job)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._new or self._begun or self._stopping)
                if self._stopping:
                    return
            start = time.perf_counter()
            words = self._serve_newcomers()
            batches, used = self._round(self._begun)
            for batch in batches:
                self._parse(batch)
                words += self._serve_newcomers()
            words += used
            if words >= TURN:
                pace = words / (time.perf_counter() - start)
                self._pace += (pace - self._pace) / 8

    def _serve_newcomers(self) -> int:
        """Give jobs their first turn, a round of them at most; returns the words of work."""
        batches, words = self._round(self._new)
        for batch in batches:
            self._parse(batch)
        return words

    def _round(self, queue: deque[ParseJob]) -> tuple[list[list[_Unit]], int]:
        """Draw a round of batches, and say how many words of work it is.

        Jobs with no sentences left leave the queue; the others wait for their next turn.
        """
        units: list[_Unit] = []
        words = 0
        while words < ROUND:
            with self._changed:
                if not queue or self._stopping:
                    break
                job = queue.popleft()
            if job.result.done():
                continue
            try:
                drawn, used = job.draw(TURN)
            except Exception as error:
                job.fail(error)
                continue
            if not job.complete:
                with self._changed:
                    self._begun.append(job)
            elif not drawn:
                job.finish_if_done()
            units += drawn
            words += used
        return _batches(units), words

    def _parse(self, units: list[_Unit]) -> None:
        """Parse sentences together; if that fails, in halves, so that only the bad one fails."""
        units = [unit for unit in units if not unit.job.result.done()]
        if not units:
            return
        options = units[0].job.options
        parser = units[0].job.parser or self.parser
        constraints = [unit.constraints for unit in units] if units[0].constraints else None
        try:
            parses = parser.parse(
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
                middle = len(units) // 2
                self._parse(units[:middle])
                self._parse(units[middle:])
            return
        for unit, parse in zip(units, parses, strict=True):
            unit.job.add(unit.number, parse)


def _located(error: Exception, unit: _Unit) -> Exception:
    """A user's mistake, with the number of the sentence."""
    if isinstance(error, NoTreeError):
        return HeadspanError(f"sentence {unit.number}: no tree satisfies the constraints")
    if isinstance(error, HeadspanError):
        return HeadspanError(f"sentence {unit.number}: {error}")
    return error


def _batches(units: list[_Unit]) -> list[list[_Unit]]:
    """Group units that can be parsed together; constraints, which can fail, are kept apart."""
    groups: defaultdict[tuple[int, ParseOptions, bool], list[_Unit]] = defaultdict(list)
    for unit in units:
        job = unit.job
        groups[id(job.parser), job.options, unit.constraints is not None].append(unit)
    return [
        [group[k] for k in batch]
        for group in groups.values()
        for batch in summed_batches(range(len(group)), [unit.work for unit in group], BATCH)
    ]
