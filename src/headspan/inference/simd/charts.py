"""Loops and sums that the kernels of all structures share."""

from math import log
from typing import Any

import numpy as np

from headspan.inference.simd.compile import helper
from headspan.inference.simd.rows import (
    PAD,
    exp_plus_sum,
    exp_sum,
    single_exp_plus_sum,
    single_exp_sum,
)


@helper
def chart_width(n: int) -> int:
    """The number of elements between two rows of a chart: n + 1, padded to whole vectors."""
    return (n + 1 + PAD) // PAD * PAD + PAD


@helper
def longest_of(lengths: Any, order: Any) -> int:
    """The length of the longest of some sentences."""
    longest = 0
    for b in order:
        longest = max(longest, lengths[b])
    return longest


@helper
def log_sum(terms: Any, largest: float, count: int, single: bool) -> float:
    """The log of the sum of exp(terms), which are replaced by exp(terms - largest)."""
    if largest == -np.inf:
        for t in range(count):
            terms[t] = 0.0
        return largest
    if single:
        return largest + log(single_exp_sum(terms, 0, terms, 0, largest, count))
    return largest + log(exp_sum(terms, 0, terms, 0, largest, count))


@helper
def proportions(
    terms: Any, a: Any, a0: int, b: Any, b0: int, total: float, count: int, single: bool
) -> None:
    """Set terms = exp(a + b - total): the share of every term in a sum."""
    if single:
        single_exp_plus_sum(terms, 0, a, a0, b, b0, total, count)
    else:
        exp_plus_sum(terms, 0, a, a0, b, b0, total, count)
