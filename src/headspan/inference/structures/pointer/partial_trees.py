"""Trees of which only the first words have heads, and the heads that their next word may get."""

import numpy as np
from numpy.typing import NDArray


class PartialTrees:
    """For every sentence of a batch a number of partial trees, whose words get heads from 1 to n.

    Whatever legal heads are taken, the next word has at least one, and the last word completes a
    tree with a single root. If no word is the root yet, the next one can be; the last one then has
    all others below it, and must be. If there is a root, the next word is not above it, and can be
    attached to it. Where no arcs may cross, that holds for words that are below no arc. One below
    an arc can be attached to the right end of the shortest of these arcs, a word without a head.

    Words beyond the end of a sentence have the head 0, which means nothing.
    """

    def __init__(
        self, lengths: NDArray[np.int64], longest: int, beam: int, *, projective: bool
    ) -> None:
        shape = len(lengths), beam, longest + 1
        self.projective = projective
        self.word = 1
        """The next word."""
        self.heads = np.zeros(shape, np.int64)
        """[b, k, d] is the head of word d, if it has one."""
        self._lengths = lengths[:, None, None]
        self._places = np.arange(longest + 1)
        # for every place, the word above it that has no head, or 0 if all of them have one
        self._top = np.broadcast_to(self._places, shape).copy()
        self._has_root = np.zeros(shape[:2], np.bool_)
        # the ends of the shortest arc over every place
        self._left, self._right = np.zeros(shape, np.int64), np.full(shape, longest + 1)

    def legal(self) -> NDArray[np.bool_]:
        """The places that may be the head of the next word, (B, K, N+1)."""
        word, places = self.word, self._places
        legal: NDArray[np.bool_] = (self._top != word) & (places <= self._lengths)
        legal[..., 0] &= ~self._has_root
        if self.projective:
            # within the arc over the word, and not below an arc that ends before it
            left, right = self._left[..., word, None], self._right[..., word, None]
            legal &= (left <= places) & (places <= right)
            legal &= (places > word) | (self._right >= word)
        over = (self._lengths < word).reshape(-1)
        legal[over] = places == 0
        return legal

    def attach(self, parents: NDArray[np.int64], heads: NDArray[np.int64]) -> None:
        """Go on with some of the trees of each sentence, and give the next word its heads.

        parents: the numbers of these trees, (B, K); heads: the head of the word in each.
        """
        word, places, heads = self.word, self._places, heads[..., None]
        for name in ("heads", "_top", "_left", "_right"):
            setattr(self, name, np.take_along_axis(getattr(self, name), parents[..., None], 1))
        self._has_root = np.take_along_axis(self._has_root, parents, 1) | (heads[..., 0] == 0)
        self.heads[..., word] = heads[..., 0]
        above = np.take_along_axis(self._top, heads, 2)
        self._top = np.where(self._top == word, above, self._top)
        left, right = np.minimum(heads, word), np.maximum(heads, word)
        below = (left < places) & (places < right)
        self._left = np.where(below, np.maximum(self._left, left), self._left)
        self._right = np.where(below, np.minimum(self._right, right), self._right)
        self.word += 1
