"""From heads to headed spans, and back."""

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from headspan.inference.simd.compile import INDICES, array, helper, kernel


@helper
def spans_of_sentence(heads: Any, b: int, n: int, spans: Any, projective: bool = True) -> bool:
    """Fill in the headed spans of one tree; False unless it has a single root and is projective.

    projective: False allows other trees; a span is then what lies between the ends of a subtree.
    """
    sizes = np.zeros(n + 1, np.int64)
    roots = 0
    for k in range(1, n + 1):
        spans[b, k - 1, 0], spans[b, k - 1, 1] = k - 1, k
    for k in range(1, n + 1):
        roots += heads[b, k - 1] == 0
        ancestor = k
        steps = 0
        while ancestor != 0:
            if ancestor < 0 or ancestor > n or steps > n:
                return False  # an unknown word or a cycle
            sizes[ancestor] += 1
            spans[b, ancestor - 1, 0] = min(spans[b, ancestor - 1, 0], k - 1)
            spans[b, ancestor - 1, 1] = max(spans[b, ancestor - 1, 1], k)
            ancestor = heads[b, ancestor - 1]
            steps += 1
    for k in range(1, n + 1):
        if projective and spans[b, k - 1, 1] - spans[b, k - 1, 0] != sizes[k]:
            return False  # a gap in the subtree of k
    return roots == 1


def _spans_of_trees(heads: Any, lengths: Any, projective: bool, spans: Any) -> int:
    for b in range(heads.shape[0]):
        if not spans_of_sentence(heads, b, lengths[b], spans, projective):
            return b
    return -1


_spans_of_trees_kernel = kernel(
    lambda number: types.int64(array(types.int64, 2), INDICES, types.boolean, array(types.int64, 3))
)(_spans_of_trees)


def spans_of_trees(
    heads: Any, lengths: Any, *, projective: bool = True
) -> tuple[NDArray[np.int64], int]:
    """The headed spans (B, N, 2) of trees (B, N), and the first that is not a projective tree.

    projective: False allows all trees with a single root; a span is then what lies between the ends
    of a subtree. −1 beyond the end of a sentence, and for the first wrong tree if there is none.
    """
    spans = np.full((*heads.shape, 2), -1, np.int64)
    # The kernel has no scores; the type is not used.
    wrong = _spans_of_trees_kernel[np.float64](
        np.ascontiguousarray(heads), lengths, projective, spans
    )
    return spans, int(wrong)


def heads_of_spans(spans: Any) -> NDArray[np.int64]:
    """Heads (B, N) of trees given by their headed spans (B, N, 2), which are −1 behind the ends."""
    heads = np.full(spans.shape[:2], -1, np.int64)
    for b, sentence in enumerate(spans):
        # Wider spans first: whoever covers a word last is its nearest ancestor so far.
        n = int((sentence[:, 0] >= 0).sum())
        cover = np.zeros(n, np.int64)
        for k in np.argsort(sentence[:n, 0] - sentence[:n, 1], kind="stable"):
            heads[b, k] = cover[k]
            cover[sentence[k, 0] : sentence[k, 1]] = k + 1
    return heads
