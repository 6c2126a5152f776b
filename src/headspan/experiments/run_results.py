"""The results of an experiment: means over seeds, and differences between systems."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from headspan import conllu
from headspan.config import Config, DataConfig, from_table, to_table, upgraded
from headspan.conllu import Sentence
from headspan.experiments.plan import Run
from headspan.experiments.published import Published, published
from headspan.experiments.run_folder import (
    LOG,
    MODEL,
    RECORD,
    Record,
    best_epoch,
    differences,
    read_log,
    read_record,
)
from headspan.experiments.runner import parse_test
from headspan.plumbing.errors import HeadspanError
from headspan.scoring import Comparison, Evaluation, compare_runs, score

_BASELINES = ("arc", "local", "crf")  # come first in comparisons


@dataclass(frozen=True)
class Result:
    """The result of one run."""

    run: Run
    record: Record
    epochs: int
    """Epochs done so far."""
    best_epoch: int
    """The epoch whose model was kept; 0 if there is none."""
    dev_uas: float | None
    """None if the training has no log."""
    dev_las: float | None
    model: Path
    test: Evaluation | None = None


@dataclass(frozen=True)
class Mean:
    """The mean of a figure over runs, and its sample standard deviation, None for a single run."""

    mean: float
    deviation: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        deviation = statistics.stdev(values) if len(values) > 1 else None
        return cls(statistics.fmean(values), deviation)


@dataclass(frozen=True)
class Cell:
    """The finished runs of one treebank and system, with different seeds."""

    treebank: str
    structure: str
    """With its variant, if it has one."""
    loss: str
    results: tuple[Result, ...]
    paper: Published | None

    def mean(self, figure: str) -> Mean | None:
        """The mean of dev_uas, dev_las, test_uas or test_las over seeds; None if there are none."""
        part, _, metric = figure.partition("_")
        if part == "dev":
            figures = [getattr(result, figure) for result in self.results]
            values = [value for value in figures if value is not None]
        else:
            values = [result.test[metric].f1 for result in self.results if result.test]
        return Mean.of(values) if values else None

    @property
    def system(self) -> str:
        """Structure and loss, as in the names of runs."""
        return f"{self.structure}-{self.loss}"

    @property
    def best(self) -> Result:
        """The run with the best dev LAS."""
        return max(self.results, key=lambda result: result.dev_las or 0.0)


@dataclass(frozen=True)
class Pair:
    """Two cells of one treebank, on the seeds that both have."""

    first: Cell
    second: Cell
    seeds: tuple[int, ...]
    comparison: Comparison
    also_differ: tuple[tuple[str, Any, Any], ...] = ()
    """Other settings in which they differ, with both values."""


@dataclass(frozen=True)
class Results:
    """The results of a whole experiment."""

    name: str
    results: tuple[Result, ...]
    cells: tuple[Cell, ...]
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...] = field(default=())
    """One line for each thing that could not be measured or compared."""


def gather(
    name: str,
    runs: Sequence[Run],
    folder: Path,
    *,
    parse: Callable[[Run, Path], Path | None] = parse_test,
    samples: int = 10_000,
    against: str = "",
) -> Results:
    """Collect the results of runs; each finished run parses its test treebank once.

    against: the system, such as `split-max-margin`, with which all others are compared. Without
    it, systems are compared that have the same structure or the same loss.
    """
    systems = dict.fromkeys(f"{run.kind}-{run.loss}" for run in runs)
    if against and against not in systems:
        raise HeadspanError(
            f"--against {against}: the plan has no such system; expected one of "
            f"{', '.join(systems)}"
        )
    notes: list[str] = []
    gold: dict[str, list[Sentence]] = {}
    results = []
    for run in runs:
        result = _result(run, folder / run.name)
        if result.record.state == "finished":
            try:
                test = _test(result, parse, gold)
                result = replace(result, test=test)
                if not test:
                    needed = run.settings["data.test"]
                    notes.append(f"{run.name}: no test scores; {needed} is needed (see --data)")
            except HeadspanError as error:
                notes.append(f"{run.name}: no test scores; {error}")
            if not result.epochs:
                notes.append(f"{run.name}: no dev scores; {folder / run.name / LOG} has none")
        results.append(result)
    notes += _not_in_plan(runs, folder)
    cells, mixed = _cells(results)
    pairs, unequal = _pairs(cells, samples, against)
    notes += [*mixed, *unequal]
    without = {run.treebank for run in runs} - {c.treebank for c in cells if c.system == against}
    notes += [f"{treebank}: {against} has no results" for treebank in sorted(without) if against]
    return Results(name, tuple(results), tuple(cells), tuple(pairs), tuple(notes))


def _result(run: Run, folder: Path) -> Result:
    """The result of a run, without its test scores."""
    try:
        record = read_record(folder)
    except HeadspanError as error:
        record = Record(state="failed", error=f"its record cannot be used: {error}")
    log = read_log(folder)
    best = best_epoch(log) or {"epoch": 0, "dev_uas": None, "dev_las": None}
    return Result(
        run, record, len(log), best["epoch"], best["dev_uas"], best["dev_las"], folder / MODEL
    )


def _test(
    result: Result,
    parse: Callable[[Run, Path], Path | None],
    gold: dict[str, list[Sentence]],
) -> Evaluation | None:
    """The test scores of a finished run; None if the treebank is missing."""
    folder = result.model.parent
    parsed = parse(result.run, folder)
    if parsed is None:
        return None
    path = result.run.settings["data.test"]
    if path not in gold:
        gold[path] = [s for s in conllu.read(path) if len(s)]
    data = from_table(DataConfig, (result.record.config or {}).get("data", {}), str(folder))
    with conllu.read(parsed) as sentences:
        return score(gold[path], sentences, punct=data.punct, names=(path, str(parsed)))


def _not_in_plan(runs: Sequence[Run], folder: Path) -> list[str]:
    """A line that names the runs of other plans in the folder, if there are any."""
    known = {run.name for run in runs}
    others = sorted(
        path.parent.name for path in folder.glob(f"*/{RECORD}") if path.parent.name not in known
    )
    what = "not runs of this plan; left out"
    return [f"{', '.join(others)}: {what}"] if others else []


def _cells(results: Sequence[Result]) -> tuple[list[Cell], list[str]]:
    """Group finished runs over seeds; and a line for each group with different settings."""
    grouped: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        if result.record.state == "finished":
            key = (result.run.treebank, result.run.kind, result.run.loss)
            grouped.setdefault(key, []).append(result)
    cells, notes = [], []
    for key, group in grouped.items():
        names = ", ".join(result.run.name for result in group)
        try:
            tables = [_settings(result) for result in group]
        except HeadspanError as error:
            notes.append(f"{names}: not averaged; {error}")
            continue
        differ = next(filter(None, (differences(tables[0], table) for table in tables)), None)
        if differ:
            notes.append(f"{names}: not averaged; their settings differ: {_listed(differ)}")
        else:
            cells.append(Cell(*key, tuple(group), published(group[0].run.corpus, *key)))
    return cells, notes


def _listed(differ: Iterable[tuple[str, Any, Any]]) -> str:
    return "; ".join(f"{key} is {a!r} and {b!r}" for key, a, b in differ)


def _settings(result: Result) -> dict[str, Any]:
    """The configuration of a run, without its seed and the paths of its data."""
    config = from_table(Config, upgraded(result.record.config or {}), str(result.model.parent))
    data = config.data.without_files()
    return to_table(replace(config, data=data, training=replace(config.training, seed=0)))


def _baselines_first(cells: Sequence[Cell]) -> list[Cell]:
    """Keep the order of the plan, but put the paper's baselines before what improves on them."""

    def ordered(key: str) -> list[str]:
        names = dict.fromkeys(getattr(cell, key) for cell in cells)
        return sorted(names, key=lambda name: [*_BASELINES, name].index(name))

    orders = {key: ordered(key) for key in ("treebank", "structure", "loss")}
    return sorted(
        cells, key=lambda cell: [names.index(getattr(cell, key)) for key, names in orders.items()]
    )


def _comparable(first: Cell, second: Cell) -> bool:
    """Return whether cells of one treebank differ in structure or in loss, but not in both."""
    return first.treebank == second.treebank and (
        (first.structure == second.structure) != (first.loss == second.loss)
    )


def _to_compare(cells: Sequence[Cell], against: str) -> Iterator[tuple[Cell, Cell]]:
    if not against:
        pairs = itertools.combinations(_baselines_first(cells), 2)
        yield from (pair for pair in pairs if _comparable(*pair))
        return
    for first, second in itertools.product(cells, cells):
        if first.system != against:
            continue
        if first.treebank == second.treebank and first is not second:
            yield first, second


def _pairs(cells: Sequence[Cell], samples: int, against: str) -> tuple[list[Pair], list[str]]:
    """All comparisons; and a line for each that is impossible or has other differences."""
    pairs, notes = [], []
    for first, second in _to_compare(cells, against):
        names = " and ".join(cell.results[0].run.system for cell in (first, second))
        try:
            pair = _pair(first, second, samples)
        except HeadspanError as error:
            notes.append(f"{names}: not compared; {error}")
            continue
        if pair and pair.also_differ:
            notes.append(
                f"{names}: compared, but other settings differ: {_listed(pair.also_differ)}"
            )
        pairs += [pair] if pair else []
    return pairs, notes


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
    differ = differences(_settings(first.results[0]), _settings(second.results[0]))
    others = [d for d in differ if d[0] not in ("model.structure", "model.loss")]
    return Pair(first, second, tuple(seeds), comparison, tuple(others))
