"""Sums over all trees of arcs, projective or not, and what is likely. O(n³) time.

log Z is the elimination of recurrence.py, on logarithms in float64, in O(n²) memory. Marginals are
its gradient, word by word in the reverse order; for that, the share of the paths through word k in
every w(h,d) is kept, in O(n³) memory.
"""

from math import exp, log, log1p
from typing import Any

import numpy as np

from headspan.inference.scores import BAD_SCORE, NO_TREE
from headspan.inference.simd.charts import longest_of
from headspan.inference.simd.compile import helper, kernel, sums_signature


@helper
def _load(w: Any, scores: Any, b: int, n: int) -> float:
    """Put s(h,d), less the largest of word d, into w[h, d]; the sum of these, NaN if one is bad."""
    total = 0.0
    for d in range(1, n + 1):
        largest = -np.inf
        for h in range(n + 1):
            if h != d:
                x = scores[b, h, d]
                if not (x < np.inf):
                    return np.nan
                largest = max(largest, x)
        for h in range(n + 1):
            w[h, d] = scores[b, h, d] - largest
        w[d, d] = -np.inf
        total += largest
    return total


@helper
def _log_sum(w: Any, first: int, k: int) -> float:
    """The log of the sum of w(h,k) over first <= h < k."""
    largest = -np.inf
    for h in range(first, k):
        largest = max(largest, w[h, k])
    if largest == -np.inf:
        return largest
    total = 0.0
    for h in range(first, k):
        total += exp(w[h, k] - largest)
    return largest + log(total)


@helper
def _stage(k: int) -> int:
    """Where the shares of word k begin: before them are those of all smaller words."""
    return (k - 1) * k * (2 * k - 1) // 6


@helper
def _eliminate(w: Any, n: int, divisors: Any, shares: Any) -> int:
    """Eliminate words n … 1; fills in the logs of D. Returns the root's dependent, 0 if none."""
    root = 0
    for k in range(n, 0, -1):
        divisor = _log_sum(w, 0 if root else 1, k)
        if divisor == -np.inf:
            divisor = w[0, k]
            if root or divisor == -np.inf:
                return 0
            root = k
            for d in range(1, k):
                w[0, d] = -np.inf
        divisors[k] = divisor
        for h in range(k):
            head = w[h, k] - divisor
            for d in range(1, k):
                through = head + w[k, d]
                share = 0.0
                if h != d and through > -np.inf:
                    direct = w[h, d]
                    ratio = exp(-abs(through - direct))
                    w[h, d] = max(direct, through) + log1p(ratio)
                    share = (1.0 if through > direct else ratio) / (1.0 + ratio)
                if shares.size:
                    shares[_stage(k) + h * k + d] = share
    return root


@helper
def _hand_back(w: Any, n: int, root: int, divisors: Any, shares: Any, p: Any) -> None:
    """Marginals p[h, d], from the tree of the last word alone to those of all words."""
    p[: n + 1, : n + 1] = 0.0
    through = np.empty(n + 1)
    for k in range(1, n + 1):
        everything = 0.0
        for h in range(k):
            through[h] = 0.0
            for d in range(1, k):
                part = p[h, d] * shares[_stage(k) + h * k + d]
                p[h, d] -= part
                p[k, d] += part
                through[h] += part
            everything += through[h]
        for h in range(k):
            counts = h > 0 or k <= root
            share = exp(w[h, k] - divisors[k]) if counts else 0.0
            p[h, k] = through[h] + (1.0 - everything) * share


def _sums(
    scores: Any,
    lengths: Any,
    order: Any,
    log_partition: Any,
    arc_marginals: Any,
    status: Any,
) -> None:
    longest = longest_of(lengths, order)
    w = np.empty((longest + 1, longest + 1))
    divisors = np.empty(longest + 1)
    wanted = arc_marginals.size > 0
    shares = np.empty(_stage(longest + 1) if wanted else 0)
    p = np.empty((longest + 1, longest + 1) if wanted else (0, 0))
    side = scores.shape[1]
    for b in order:
        n = lengths[b]
        total = _load(w, scores, b, n)
        if np.isnan(total):
            status[b] = BAD_SCORE
            continue
        root = _eliminate(w, n, divisors, shares) if total > -np.inf else 0
        if root == 0:
            status[b] = NO_TREE
            continue
        for k in range(1, n + 1):
            total += divisors[k]
        log_partition[b] = total
        if not wanted:
            continue
        _hand_back(w, n, root, divisors, shares, p)
        for h in range(n + 1):
            for d in range(1, n + 1):
                arc_marginals[(b * side + h) * side + d] = max(p[h, d], 0.0)


sums = kernel(sums_signature(3, outputs=1))(_sums)
