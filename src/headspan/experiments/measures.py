"""The figures of an error analysis: breakdowns with bootstrap intervals, and differences."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from headspan import conllu
from headspan.conllu import Sentence
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import open_output
from headspan.scoring import Bins, Evaluation, Punct, Score, breakdown, score
from headspan.scoring.significance import bootstrap_weights, confidence_interval

FIGURE_4: Mapping[str, str] = {
    "sentence_length": "uas",
    "root_distance": "uas",
    "dependency_length": "uas",
    "span_length": "spans",
}
"""The breakdowns of the paper's four plots, and the measure that each shows."""
BARS: Mapping[str, str] = {"relation": "las", "upos": "las"}
"""The breakdowns shown as differences between two systems, and their measures."""


@dataclass(frozen=True)
class Point:
    """The score of one system in one bin."""

    score: Score
    low: float
    """The lower end of the 95% interval of F1."""
    high: float
    seeds: int = 1
    """The number of parses counted together in the score."""


@dataclass(frozen=True)
class ScoredParse:
    """A parse of the gold treebank, scored as a whole and sentence by sentence."""

    whole: Evaluation
    sentences: tuple[Evaluation, ...]


@dataclass(frozen=True)
class System:
    """One or more parses of the gold treebank, one per seed, whose counts are added up."""

    name: str
    seeds: tuple[ScoredParse, ...]


Series = Mapping[str, Point]
"""The bins of one system, in order."""


def read_systems(
    gold: str, systems: Sequence[str], names: Sequence[str], *, punct: Punct
) -> list[System]:
    """Score parses of a treebank; each must have exactly its sentences and words.

    Parses with the same name are seeds of one system.
    """
    treebank = [s for s in conllu.read(gold) if len(s)]
    scored: dict[str, list[ScoredParse]] = {}
    for path, name in zip(systems, names, strict=True):
        parsed = [s for s in conllu.read(path) if len(s)]
        _check_same(treebank, parsed, gold, path)
        whole = score(treebank, parsed, punct=punct, names=(gold, path))
        single = tuple(
            score([g], [s], punct=punct, names=(gold, path))
            for g, s in zip(treebank, parsed, strict=True)
        )
        scored.setdefault(name, []).append(ScoredParse(whole, single))
    return [System(name, tuple(seeds)) for name, seeds in scored.items()]


def _check_same(gold: list[Sentence], system: list[Sentence], name: str, path: str) -> None:
    if len(gold) != len(system):
        raise HeadspanError(
            f"{path}: has {len(system):,} sentences; expected the {len(gold):,} of {name}"
        )
    for number, (g, s) in enumerate(zip(gold, system, strict=True), 1):
        if g.forms != s.forms:
            raise HeadspanError(
                f"{path}: sentence {number} has other words than in {name}; expected the same words"
            )


def series(
    system: System,
    by: str,
    measure: str,
    *,
    bins: Bins | None = None,
    samples: int = 1000,
    seed: int = 0,
) -> Series:
    """Break down the scores of one system, with bootstrap intervals over sentences."""
    whole = _scores(system, by, measure, bins)
    drawn = _resampled(_counts(system, by, measure, list(whole), bins), samples, seed)
    low, high = _interval(drawn)
    seeds = len(system.seeds)
    return {name: Point(whole[name], low[k], high[k], seeds) for k, name in enumerate(whole)}


@dataclass(frozen=True)
class Gap:
    """The scores of two systems, with the 95% interval of second − first."""

    gold: int
    """The number of gold words."""
    first: float
    second: float
    low: float
    high: float


def gaps(
    first: System, second: System, by: str, measure: str, *, samples: int = 1000, seed: int = 0
) -> dict[str, Gap]:
    """The gap between two systems for every row with gold words, the most frequent first."""
    rows = [_scores(system, by, measure) for system in (first, second)]
    names = [name for name, total in rows[0].items() if total.gold]
    drawn = [
        _resampled(_counts(system, by, measure, names), samples, seed) for system in (first, second)
    ]
    low, high = _interval(drawn[1] - drawn[0])
    return {
        name: Gap(
            rows[0][name].gold // len(first.seeds),
            rows[0][name].f1,
            rows[1][name].f1,
            low[k],
            high[k],
        )
        for k, name in enumerate(names)
    }


def _scores(system: System, by: str, measure: str, bins: Bins | None = None) -> dict[str, Score]:
    """One measure of a breakdown, added up over seeds."""
    totals: dict[str, Score] = {}
    for seed in system.seeds:
        for name, scores in breakdown(seed.whole, by, bins=bins).items():
            totals[name] = totals.get(name, Score(0, 0, 0)) + scores[measure]
    return totals


def _interval(drawn: npt.NDArray[np.float64]) -> tuple[list[float], list[float]]:
    """The 95% interval of each column, over the resamples in which it is not empty."""
    ends = [confidence_interval(column[~np.isnan(column)]) for column in drawn.T]
    return [low for low, _ in ends], [high for _, high in ends]


def _counts(
    system: System, by: str, measure: str, names: Sequence[str], bins: Bins | None = None
) -> npt.NDArray[np.float64]:
    """The counts of `Score.counts`, of shape (sentences, rows, 4)."""
    row_of = {name: k for k, name in enumerate(names)}
    counts = np.zeros((len(system.seeds[0].sentences), len(names), 4))
    for seed in system.seeds:  # a sentence is drawn with all its seeds
        for number, evaluation in enumerate(seed.sentences):
            for name, scores in breakdown(evaluation, by, bins=bins).items():
                if name in row_of:
                    counts[number, row_of[name]] += scores[measure].counts
    return counts


def _resampled(counts: npt.NDArray[np.float64], samples: int, seed: int) -> npt.NDArray[np.float64]:
    """F1 of shape (samples, rows) over resampled sentences, the same ones for the same seed."""
    n, rows, _ = counts.shape
    flat = counts.reshape(n, -1)
    parts = [
        _f1((weights @ flat).reshape(len(weights), rows, 4))
        for weights in bootstrap_weights(n, samples, np.random.default_rng(seed))
    ]
    return np.concatenate(parts)


def _f1(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """F1 as in `Score.f1`, but NaN where there is nothing to score."""
    correct, gold, system, recalled = np.moveaxis(counts, -1, 0)
    precision = correct / np.maximum(system, 1)
    recall = recalled / np.maximum(gold, 1)
    total = precision + recall
    return np.where(
        gold + system > 0, 200 * precision * recall / np.where(total > 0, total, 1), np.nan
    )


def write_series(path: Path, all_series: Mapping[str, Series]) -> None:
    """Write the data of a plot as CSV, one row per system and bin; words are those of one seed."""
    rows = (
        [name, row, p.score.f1, p.low, p.high, p.score.precision, p.score.recall,
         p.score.gold // p.seeds, f"{p.score.system / p.seeds:.10g}", p.seeds]
        for name, points in all_series.items()
        for row, p in points.items()
    )  # fmt: skip
    _write_csv(path, "system bin f1 low high precision recall gold predicted seeds".split(), rows)


def write_gaps(path: Path, by: str, gaps_by_name: Mapping[str, Gap]) -> None:
    """Write the data of a bar chart as CSV."""
    rows = (
        [name, gap.gold, gap.first, gap.second, gap.second - gap.first, gap.low, gap.high]
        for name, gap in gaps_by_name.items()
    )
    _write_csv(path, [by, *"gold first second difference low high".split()], rows)


def _write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(header)
    table.writerows(rows)
    with open_output(path) as stream:
        stream.write(text.getvalue().encode())
