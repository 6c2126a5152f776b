"""The same operations as rows.py and tiles.py, as plain loops: what each of them means.

Tests compare the two, and a new operation is written here first. All work on flat arrays, `x` from
index `x0` on, for `count` elements. Only the elements inside a row are the same: the vector
operations also write behind its end (see rows.py).
"""

from math import exp
from typing import Any

import numpy as np

from headspan.inference.simd.compile import helper


@helper
def max_plus(dst: Any, d0: int, a: Any, a0: int, c: Any, count: int) -> None:
    """Dst = max(dst, c + a)"""
    for t in range(count):
        dst[d0 + t] = max(dst[d0 + t], c + a[a0 + t])


@helper
def max_plus_plus(dst: Any, d0: int, a: Any, a0: int, b: Any, b0: int, c: Any, count: int) -> None:
    """Dst = max(dst, (c + a) + b)"""
    for t in range(count):
        dst[d0 + t] = max(dst[d0 + t], (c + a[a0 + t]) + b[b0 + t])


@helper
def plus_max(dst: Any, d0: int, a: Any, a0: int, b: Any, b0: int, c: Any, count: int) -> Any:
    """Dst = a + b; returns max(dst)"""
    largest = -np.inf
    for t in range(count):
        dst[d0 + t] = a[a0 + t] + b[b0 + t]
        largest = max(largest, dst[d0 + t])
    return largest


@helper
def plus_plus_max(dst: Any, d0: int, a: Any, a0: int, b: Any, b0: int, c: Any, count: int) -> Any:
    """Dst = (a + b) + dst; returns max(dst)"""
    largest = -np.inf
    for t in range(count):
        dst[d0 + t] = (a[a0 + t] + b[b0 + t]) + dst[d0 + t]
        largest = max(largest, dst[d0 + t])
    return largest


@helper
def exp_sum(dst: Any, d0: int, a: Any, a0: int, c: Any, count: int) -> Any:
    """Dst = exp(a - c); returns sum(dst). Also the meaning of single_exp_sum."""
    total = 0.0
    for t in range(count):
        dst[d0 + t] = exp(a[a0 + t] - c)
        total += dst[d0 + t]
    return total


@helper
def exp_plus_sum(dst: Any, d0: int, a: Any, a0: int, b: Any, b0: int, c: Any, count: int) -> Any:
    """Dst = exp((a + b) - c); returns sum(dst). Also the meaning of single_exp_plus_sum."""
    total = 0.0
    for t in range(count):
        dst[d0 + t] = exp((a[a0 + t] + b[b0 + t]) - c)
        total += dst[d0 + t]
    return total


@helper
def add_scaled(dst: Any, d0: int, a: Any, a0: int, c: Any, count: int) -> None:
    """Dst = dst + c * a"""
    for t in range(count):
        dst[d0 + t] += c * a[a0 + t]


@helper
def store_scaled(dst: Any, d0: int, a: Any, a0: int, c: Any, count: int) -> None:
    """Dst = c * a, where dst may be of a narrower type"""
    for t in range(count):
        dst[d0 + t] = c * a[a0 + t]


@helper
def scale_in_place(terms: Any, dst: Any, d0: int, c: Any, count: int) -> None:
    """Dst = c * dst, and a copy of it in terms"""
    for t in range(count):
        dst[d0 + t] *= c
        terms[t] = dst[d0 + t]


@helper
def add_upper_triangle(
    dst: Any, d0: int, rows: Any, r0: int, stride: int, factors: Any, count: int
) -> None:
    """dst[t] += sum of factors[r] * rows[r, t] over r <= t"""
    for t in range(count):
        for r in range(t + 1):
            dst[d0 + t] += factors[r] * rows[r0 + r * stride + t]


@helper
def add_lower_triangle(
    dst: Any, d0: int, rows: Any, r0: int, stride: int, factors: Any, count: int
) -> None:
    """dst[t] += sum of factors[r] * rows[r, t] over r >= t"""
    for t in range(count):
        for r in range(t, count):
            dst[d0 + t] += factors[r] * rows[r0 + r * stride + t]


@helper
def extend(
    alpha: Any, gamma: Any, scores: Any, to: int, child: int, head: int, c: Any, count: int
) -> None:
    """alpha[to] = max(alpha, c + gamma[child]), gamma[to] = max(gamma, c + alpha[head] + scores)"""
    for t in range(count):
        sequence = c + gamma[child + t]
        span = (c + alpha[head + t]) + scores[head + t]
        alpha[to + t] = max(alpha[to + t], sequence)
        gamma[to + t] = max(gamma[to + t], span)


@helper
def max_plus_pair(
    first: Any, second: Any, d0: int, a: Any, b: Any, s0: int, c1: Any, c2: Any, count: int
) -> None:
    """First = max(first, c1 + a), second = max(second, c2 + b)"""
    for t in range(count):
        first[d0 + t] = max(first[d0 + t], c1 + a[s0 + t])
        second[d0 + t] = max(second[d0 + t], c2 + b[s0 + t])


@helper
def transpose_tile(dst: Any, d0: int, width: int, tile: Any, diagonal: bool) -> bool:
    """dst[k, t] = tile[t, k], for k <= t only on the diagonal; True if one is NaN or +inf"""
    bad = False
    for t in range(tile.shape[0]):
        for k in range(t + 1 if diagonal else tile.shape[1]):
            bad |= not (tile[t, k] < np.inf)
            dst[d0 + k * width + t] = tile[t, k]
    return bad


@helper
def copy_span(dst: Any, d0: int, scores: Any, start: int, count: int) -> bool:
    """Dst = scores, where dst may be of a wider type; True if one is NaN or +inf"""
    bad = False
    for t in range(count):
        bad |= not (scores[start + t] < np.inf)
        dst[d0 + t] = scores[start + t]
    return bad
