"""The speed of a parser: words per second, and the share of every stage."""

from __future__ import annotations

import io
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from headspan import conllu
from headspan.conllu import Sentence
from headspan.model.parser import Parser
from headspan.plumbing.stages import stage, timed
from headspan.plumbing.threads import set_threads
from headspan.plumbing.threads import threads as threads_now

STAGES = ("segment", "prepare", "encode", "score", "decode", "label", "write")


@dataclass(frozen=True, slots=True)
class Speed:
    """The speed with a number of threads: medians over repeats."""

    threads: int
    words: int
    seconds: float
    """Wall-clock time."""
    cpu_seconds: float
    stages: dict[str, float]
    """Seconds of wall-clock time per stage; `other` is the rest."""

    @property
    def without_encoder(self) -> float:
        """Seconds from the words' vectors to a labelled tree: scoring, decoding, relations."""
        return sum(self.stages[name] for name in ("score", "decode", "label"))

    @property
    def words_per_second(self) -> float:
        return self.words / self.seconds

    @property
    def words_per_cpu_second(self) -> float:
        return self.words / self.cpu_seconds


def measure(
    parser: Parser,
    work: str | Sequence[Sentence],
    *,
    threads: Sequence[int] = (1, 2),
    repeat: int = 3,
) -> list[Speed]:
    """Parse a text, or sentences, with each number of threads.

    The numbers of threads take turns, so that other load on the machine affects all of them.
    """
    (speeds,) = in_turn([parser], work, threads=threads, repeat=repeat)
    return speeds


def in_turn(
    parsers: Sequence[Parser],
    work: str | Sequence[Sentence],
    *,
    threads: Sequence[int] = (1, 2),
    repeat: int = 3,
) -> list[list[Speed]]:
    """Measure several parsers, which take turns as well."""
    before = threads_now()
    runs: list[dict[int, list[Speed]]] = [{count: [] for count in threads} for _ in parsers]
    try:
        for parser in parsers:
            _once(parser, work, before)  # compiles and loads, which is not counted
        for _ in range(repeat):
            for count in threads:
                set_threads(count)
                for parser, speeds in zip(parsers, runs, strict=True):
                    speeds[count].append(_once(parser, work, count))
    finally:
        set_threads(before)
    return [[_median(repeats) for repeats in speeds.values()] for speeds in runs]


def _once(parser: Parser, work: str | Sequence[Sentence], threads: int) -> Speed:
    started, cpu = time.perf_counter(), time.process_time()
    with timed(_settle(parser)) as watch:
        sentences = parser.sentences([work]) if isinstance(work, str) else work
        parsed = list(parser.parse_stream(sentences))
        with stage("write"):
            conllu.write(parsed, io.BytesIO())
    seconds = time.perf_counter() - started
    stages = {name: watch.seconds.get(name, 0.0) for name in STAGES}
    stages["other"] = max(0.0, seconds - sum(stages.values()))
    words = sum(map(len, parsed))
    return Speed(threads, words, seconds, time.process_time() - cpu, stages)


def _settle(parser: Parser) -> Callable[[], object] | None:
    """The function that waits for a GPU, which works asynchronously; None on a CPU."""
    torch: Any = sys.modules.get("torch")
    if torch is None or not isinstance(parser.network, torch.nn.Module):
        return None
    cuda = any(weights.is_cuda for weights in parser.network.parameters())
    return torch.cuda.synchronize if cuda else None


def _median(runs: list[Speed]) -> Speed:
    return Speed(
        runs[0].threads,
        runs[0].words,
        statistics.median(run.seconds for run in runs),
        statistics.median(run.cpu_seconds for run in runs),
        {name: statistics.median(run.stages[name] for run in runs) for name in runs[0].stages},
    )
