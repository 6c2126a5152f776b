"""Tell whether one system is better than another, or was only lucky with these sentences."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from headspan.scoring.alignment import UNALIGNED
from headspan.scoring.flat import ScoringError
from headspan.scoring.metrics import Evaluation

_Counts: TypeAlias = npt.NDArray[np.float64]
_ROWS = 256  # resamples drawn at a time, to bound memory


@dataclass(frozen=True, slots=True)
class Difference:
    """A metric of two systems, first and second, and the difference second − first."""

    first: float
    second: float
    low: float
    """The lower end of the 95% interval of the difference, from a paired bootstrap."""
    high: float
    p: float
    """The share of random exchanges that make a difference at least as large."""

    @property
    def difference(self) -> float:
        return self.second - self.first


Comparison: TypeAlias = Mapping[str, Difference]
"""The differences in `uas` and in `las`."""


def compare(
    first: Evaluation, second: Evaluation, *, samples: int = 10_000, seed: int = 0
) -> Comparison:
    """Return the difference between two systems on the same gold treebank, and its significance.

    The interval comes from drawing sentences with replacement (paired bootstrap), the p-value from
    exchanging sentences between the systems at random (approximate randomisation, two-sided).

    samples: the number of draws for each. The same seed gives the same results.
    """
    return compare_runs([first], [second], samples=samples, seed=seed)


def compare_runs(
    first: Sequence[Evaluation],
    second: Sequence[Evaluation],
    *,
    samples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compare two systems that were each trained several times, paired run by run.

    A sentence is drawn or exchanged with all its runs at once, since the parses of one sentence by
    several runs are not independent. The variation between seeds is not measured.
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
                "two systems can only be compared if both keep subtypes or neither does"
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
    """Count for each gold sentence the right words, and the words of both sides together."""
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
    observed = _f1(second.sum(0)) - _f1(first.sum(0))
    bootstrap, shuffled_as_large = [], 0
    for weights in bootstrap_weights(len(first), samples, rng):
        bootstrap.append(_f1(weights @ second) - _f1(weights @ first))
        swap = (rng.random(weights.shape) < 0.5) @ (second - first)
        shuffled = _f1(second.sum(0) - swap) - _f1(first.sum(0) + swap)
        shuffled_as_large += int((np.abs(shuffled) >= abs(observed) - 1e-9).sum())
    low, high = confidence_interval(np.concatenate(bootstrap))
    return Difference(
        first=float(_f1(first.sum(0))),
        second=float(_f1(second.sum(0))),
        low=low,
        high=high,
        p=(shuffled_as_large + 1) / (samples + 1),
    )


def bootstrap_weights(n: int, samples: int, rng: np.random.Generator) -> Iterator[_Counts]:
    """Draw n sentences with replacement, `samples` times.

    Yields arrays (resamples, n), a few hundred resamples at a time: how often each sentence was
    drawn. The product of such an array with the sentences' counts gives the counts of resamples.
    """
    for start in range(0, samples, _ROWS):
        rows = min(_ROWS, samples - start)
        drawn = rng.integers(0, n, (rows, n)) + n * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(float)


def confidence_interval(values: _Counts) -> tuple[float, float]:
    """Return the 95% interval of the values of resamples; (0, 0) if there are none."""
    if not len(values):
        return 0.0, 0.0
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def _f1(counts: _Counts) -> npt.NDArray[np.float64]:
    """Return F1 from counts (…, 2): right words, and the words of both sides together."""
    total = np.maximum(counts[..., 1], 1)
    return np.asarray(200 * counts[..., 0] / total)
