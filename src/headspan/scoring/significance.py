"""Is one system better than another, or was it luck with these sentences?"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from headspan.scoring.alignment import UNALIGNED
from headspan.scoring.flat import ScoringError
from headspan.scoring.metrics import Evaluation

_Counts: TypeAlias = npt.NDArray[np.float64]
_ROWS = 256  # resamples drawn at once, to bound memory


@dataclass(frozen=True, slots=True)
class Difference:
    """A metric of two systems, first and second, and the difference second − first."""

    first: float
    second: float
    low: float
    """The lower end of the 95% interval of the difference, from a paired bootstrap."""
    high: float
    p: float
    """How often shuffling the systems' sentences makes a difference as large or larger."""

    @property
    def difference(self) -> float:
        return self.second - self.first


Comparison: TypeAlias = Mapping[str, Difference]
"""The difference in `uas` and in `las`."""


def compare(
    first: Evaluation, second: Evaluation, *, samples: int = 10_000, seed: int = 0
) -> Comparison:
    """The difference between two systems on the same gold treebank, and what it is worth.

    Sentences are drawn again with replacement for the interval (paired bootstrap) and exchanged
    between the systems with a fair coin for the p-value (approximate randomisation, two-sided).

    samples: how many times each is done. The same seed gives the same figures.
    """
    return compare_runs([first], [second], samples=samples, seed=seed)


def compare_runs(
    first: Sequence[Evaluation],
    second: Sequence[Evaluation],
    *,
    samples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """`compare` for two systems that were each trained several times, paired run by run.

    A sentence is drawn or exchanged with all its runs at once, for what several runs make of one
    sentence is not independent. How much seeds differ is another question.
    """
    if not first or len(first) != len(second):
        raise ScoringError(f"cannot pair {len(first)} runs with {len(second)}")
    for one in (*first, *second):
        if (
            one.gold.sentence_ranges != first[0].gold.sentence_ranges
            or one.gold_counts != first[0].gold_counts
        ):
            raise ScoringError(
                "two systems can only be compared on the same words of a gold treebank"
            )
        if one.subtypes != first[0].subtypes:
            raise ScoringError(
                "two systems can only be compared with subtypes kept in both or in none"
            )
    if samples < 1 or seed < 0:
        raise ScoringError(f"cannot draw {samples} samples with seed {seed}")
    rng = np.random.default_rng(seed)
    measures: dict[str, Callable[[Evaluation], list[bool]]] = {
        "uas": lambda e: e.head_right,
        "las": lambda e: e.both_right,
    }
    return {
        metric: _difference(_summed(first, right), _summed(second, right), samples, rng)
        for metric, right in measures.items()
    }


def _summed(runs: Sequence[Evaluation], right: Callable[[Evaluation], list[bool]]) -> _Counts:
    return np.asarray(np.sum([_counts(run, right) for run in runs], axis=0))


def _counts(e: Evaluation, right: Callable[[Evaluation], list[bool]]) -> _Counts:
    """For each gold sentence how many words are right, and how many there are on both sides."""
    counts = np.zeros((len(e.gold.sentences), 2))
    for g, counting in enumerate(e.gold_counts):
        counts[e.gold.sentence_of[g], 1] += counting
    starts = [start for start, _ in e.gold.sentence_ranges]
    is_right = right(e)
    for s, g in enumerate(e.gold_of):
        if e.system_counts[s]:
            sentence = (
                bisect_right(starts, e.system.ranges[s][0]) - 1
                if g == UNALIGNED
                else e.gold.sentence_of[g]
            )
            counts[sentence] += is_right[s], 1
    return counts


def _difference(
    first: _Counts, second: _Counts, samples: int, rng: np.random.Generator
) -> Difference:
    n = len(first)
    observed = _f1(second.sum(0)) - _f1(first.sum(0))
    bootstrap, shuffled_as_large = [], 0
    for start in range(0, samples, _ROWS):
        rows = min(_ROWS, samples - start)
        drawn = rng.integers(0, n, (rows, n)) + n * np.arange(rows)[:, None]
        weight = np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(float)
        bootstrap.append(_f1(weight @ second) - _f1(weight @ first))
        swap = (rng.random((rows, n)) < 0.5) @ (second - first)
        shuffled = _f1(second.sum(0) - swap) - _f1(first.sum(0) + swap)
        shuffled_as_large += int((np.abs(shuffled) >= abs(observed) - 1e-9).sum())
    low, high = np.percentile(np.concatenate(bootstrap), [2.5, 97.5])
    return Difference(
        first=float(_f1(first.sum(0))),
        second=float(_f1(second.sum(0))),
        low=float(low),
        high=float(high),
        p=(shuffled_as_large + 1) / (samples + 1),
    )


def _f1(counts: _Counts) -> npt.NDArray[np.float64]:
    """counts: (…, 2), how many are right and how many there are on both sides together."""
    total = np.maximum(counts[..., 1], 1)
    return np.asarray(200 * counts[..., 0] / total)
