"""What the runs of an experiment came to: means over seeds, and whether systems differ."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headspan import conllu
from headspan.config import Data, from_table
from headspan.conllu import Sentence
from headspan.errors import HeadspanError
from headspan.experiments.folder import MODEL, Record, best_epoch, read_log, read_record
from headspan.experiments.plan import Run
from headspan.experiments.published import Published, published
from headspan.experiments.runner import parse_test
from headspan.scoring import Comparison, Evaluation, compare_runs, score

_STRUCTURES, _LOSSES = ("arc", "span", "joint"), ("local", "crf", "max-margin")


@dataclass(frozen=True)
class Result:
    """One run."""

    run: Run
    record: Record
    epochs: int
    """Done so far."""
    best_epoch: int
    """The one whose model was kept; 0 if there is none."""
    dev_uas: float
    dev_las: float
    model: Path
    test: Evaluation | None = None


@dataclass(frozen=True)
class Mean:
    """A figure over runs; the standard deviation is the sample's, and there is none of one run."""

    mean: float
    deviation: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        deviation = statistics.stdev(values) if len(values) > 1 else None
        return cls(statistics.fmean(values), deviation)


@dataclass(frozen=True)
class Cell:
    """The finished runs of one treebank, structure and loss, which differ in their seeds."""

    treebank: str
    structure: str
    loss: str
    results: tuple[Result, ...]
    paper: Published | None

    def mean(self, figure: str) -> Mean | None:
        """Over seeds, of `dev_uas`, `dev_las`, `test_uas` or `test_las`; None without figures."""
        part, _, metric = figure.partition("_")
        if part == "dev":
            values = [float(getattr(result, figure)) for result in self.results]
        else:
            values = [result.test[metric].f1 for result in self.results if result.test]
        return Mean.of(values) if values else None

    @property
    def best(self) -> Result:
        """The run with the best dev LAS."""
        return max(self.results, key=lambda result: result.dev_las)


@dataclass(frozen=True)
class Pair:
    """Two cells of a treebank that differ in one thing, on the seeds that both have."""

    first: Cell
    second: Cell
    seeds: tuple[int, ...]
    comparison: Comparison


@dataclass(frozen=True)
class Results:
    """All of an experiment."""

    name: str
    results: tuple[Result, ...]
    cells: tuple[Cell, ...]
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...] = field(default=())
    """What could not be measured, in a line each."""


def gather(
    name: str,
    runs: Sequence[Run],
    folder: Path,
    *,
    parse: Callable[[Run, Path], Path | None] = parse_test,
    samples: int = 10_000,
) -> Results:
    """Read what the runs left in the folder; parse test once for each that is finished."""
    notes: list[str] = []
    gold: dict[str, list[Sentence]] = {}
    results = []
    for run in runs:
        try:
            results.append(_result(run, folder / run.name, parse, gold))
        except HeadspanError as error:
            notes.append(str(error))
            results.append(_result(run, folder / run.name, lambda *_: None, gold))
        if results[-1].record.state == "finished" and not results[-1].test:
            notes.append(f"{run.name}: no test scores; {run.settings['data.test']} is needed")
    cells = _cells(results)
    pairs = [
        pair
        for first, second in itertools.combinations(_baselines_first(cells), 2)
        if _comparable(first, second) and (pair := _pair(first, second, samples))
    ]
    return Results(name, tuple(results), tuple(cells), tuple(pairs), tuple(notes))


def _result(
    run: Run,
    folder: Path,
    parse: Callable[[Run, Path], Path | None],
    gold: dict[str, list[Sentence]],
) -> Result:
    record = read_record(folder)
    log = read_log(folder)
    best = best_epoch(log) or {"epoch": 0, "dev_uas": 0.0, "dev_las": 0.0}
    test = None
    if record.state == "finished" and (parsed := parse(run, folder)):
        path = run.settings["data.test"]
        if path not in gold:
            gold[path] = [s for s in conllu.read(path) if len(s)]
        data = from_table(Data, (record.config or {}).get("data", {}), str(folder))
        test = score(gold[path], conllu.read(parsed), punct=data.punct, names=(path, str(parsed)))
    return Result(
        run, record, len(log), best["epoch"], best["dev_uas"], best["dev_las"], folder / MODEL, test
    )


def _cells(results: Sequence[Result]) -> list[Cell]:
    grouped: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        if result.record.state == "finished":
            key = (result.run.treebank, result.run.structure, result.run.loss)
            grouped.setdefault(key, []).append(result)
    return [
        Cell(*key, tuple(some), published(some[0].run.corpus, *key))
        for key, some in grouped.items()
    ]


def _baselines_first(cells: Sequence[Cell]) -> list[Cell]:
    """Treebanks as they are, and in each what the paper improves upon before the improvement."""
    treebanks = list(dict.fromkeys(cell.treebank for cell in cells))
    return sorted(
        cells,
        key=lambda cell: (
            treebanks.index(cell.treebank),
            _STRUCTURES.index(cell.structure),
            _LOSSES.index(cell.loss),
        ),
    )


def _comparable(first: Cell, second: Cell) -> bool:
    """Of one treebank, and different in structure or in loss but not in both."""
    return first.treebank == second.treebank and (
        (first.structure == second.structure) != (first.loss == second.loss)
    )


def _pair(first: Cell, second: Cell, samples: int) -> Pair | None:
    tests = [
        {result.run.seed: result.test for result in cell.results if result.test}
        for cell in (first, second)
    ]
    seeds = sorted(tests[0].keys() & tests[1].keys())
    if not seeds:
        return None
    comparison = compare_runs(
        [tests[0][seed] for seed in seeds], [tests[1][seed] for seed in seeds], samples=samples
    )
    return Pair(first, second, tuple(seeds), comparison)
