"""Pieces: what a structure takes a tree apart into and scores.

A piece owns the axes of its score array, which cells of it are legal, which cells a tree has, what
constraints say about them, and its name in error messages. Every tree of n words has one cell of
each piece per word.

Pieces of the same name have the same cells, and are equal; they may differ in where their scores
come from.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from headspan.inference.constraints import Constraints

_SPARE = 8  # elements behind a flat array, so that kernels may store whole vectors


class Piece(ABC):
    """One kind of scored piece. Words are 1 … n, fenceposts 0 … n."""

    name: ClassVar[str]
    """The name in error messages and in `Marginals.by_piece`."""
    axes: ClassVar[int]
    """The number of axes of one sentence's scores, each of size N + 1. The last is the word's."""

    @property
    def scorer(self) -> str:
        """The name in the registry of scorers."""
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Piece) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    @abstractmethod
    def legal(self, n: Any, *cell: Any) -> Any:
        """Whether a cell means something in a sentence of n words; numbers or arrays of them."""

    @abstractmethod
    def describe(self, *cell: int) -> str:
        """A cell in words."""

    @abstractmethod
    def cells(self, heads: Any, spans: Any) -> tuple[Any, ...]:
        """The cell of every word of given trees, as one index array per axis, each (…, N).

        heads: (…, N); spans: (…, N, 2). Arrays or tensors.
        """

    @abstractmethod
    def gold(self, heads: Any, spans: Any) -> Any:
        """The one of the two from which a kernel reads the gold cells."""

    @abstractmethod
    def allowed(self, constraints: Constraints, n: int) -> NDArray[np.bool_]:
        """A mask of the cells that constraints leave in a sentence of n words."""

    @abstractmethod
    def is_needed_by(self, constraints: Constraints) -> bool:
        """Whether these constraints can be expressed only by a mask on this piece."""

    def shape(self, longest: int) -> tuple[int, ...]:
        """The shape of the scores of one sentence with room for so many words."""
        return (longest + 1,) * self.axes

    def new_marginals(
        self, size: int, longest: int, dtype: Any
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Zeros for the marginals of a batch: as a kernel fills them, and the same as a result."""
        shape = (size, *self.shape(longest))
        flat = np.zeros(int(np.prod(shape)) + _SPARE, dtype)
        return flat, flat[:-_SPARE].reshape(shape)

    def no_marginals(self, dtype: Any) -> NDArray[Any]:
        """An empty array in place of `new_marginals`, for a kernel that shall not fill it."""
        return np.zeros(0, dtype)


class DecidingPiece(Piece):
    """A piece whose cells are enough to know the tree."""

    @abstractmethod
    def heads(self, chosen: Any) -> NDArray[np.int64]:
        """Heads (B, N) of the trees whose cells, (B, …), are 1 and all others 0."""

    @abstractmethod
    def roots(self, marginals: Any, lengths: NDArray[np.int64]) -> Any:
        """The probability of every word to be the root, (B, N+1), from this piece's marginals."""


class HeadedSpanPiece(DecidingPiece):
    """(i, j) as the headed span of word k: scores[i, j, k], i < k <= j."""

    name = "span"
    axes = 3

    def legal(self, n: Any, *cell: Any) -> Any:
        i, j, k = cell
        return (i < k) & (k <= j) & (j <= n)

    def describe(self, *cell: int) -> str:
        i, j, k = cell
        return f"span ({i}, {j}) with head {k}"

    def cells(self, heads: Any, spans: Any) -> tuple[Any, ...]:
        return spans[..., 0], spans[..., 1], _words(heads)

    def gold(self, heads: Any, spans: Any) -> Any:
        return spans

    def heads(self, chosen: Any) -> NDArray[np.int64]:
        from headspan.inference.headed_spans import heads_of_spans

        size, side = chosen.shape[:2]
        cell = chosen.reshape(size, side * side, side)[..., 1:].argmax(1)
        spans = np.stack([cell // side, cell % side], -1)
        return heads_of_spans(np.where(chosen.any(axis=(1, 2))[:, 1:, None], spans, -1))

    def roots(self, marginals: Any, lengths: NDArray[np.int64]) -> Any:
        return marginals[np.arange(len(lengths)), 0, lengths]

    def allowed(self, constraints: Constraints, n: int) -> NDArray[np.bool_]:
        return constraints.allowed_spans(n)

    def is_needed_by(self, constraints: Constraints) -> bool:
        return constraints.need_spans


class ArcPiece(DecidingPiece):
    """The arc from head h, 0 for the root, to dependent d: scores[h, d], h != d."""

    name = "arc"
    axes = 2

    def legal(self, n: Any, *cell: Any) -> Any:
        h, d = cell
        return (h <= n) & (d >= 1) & (d <= n) & (h != d)

    def describe(self, *cell: int) -> str:
        h, d = cell
        return f"arc from {h} to {d}"

    def cells(self, heads: Any, spans: Any) -> tuple[Any, ...]:
        return heads, _words(heads)

    def gold(self, heads: Any, spans: Any) -> Any:
        return heads

    def heads(self, chosen: Any) -> NDArray[np.int64]:
        heads: NDArray[np.int64] = chosen[..., 1:].argmax(1)
        return np.where(chosen.any(axis=1)[:, 1:], heads, -1)

    def roots(self, marginals: Any, lengths: NDArray[np.int64]) -> Any:
        return marginals[:, 0]

    def allowed(self, constraints: Constraints, n: int) -> NDArray[np.bool_]:
        return constraints.allowed_arcs(n)

    def is_needed_by(self, constraints: Constraints) -> bool:
        return constraints.need_arcs


class PosteriorArcPiece(ArcPiece):
    """An arc whose score has been brought up to date by those of second-order pieces."""

    @property
    def scorer(self) -> str:
        return "posterior_arc"


class PointedArcPiece(ArcPiece):
    """An arc whose score depends on the partial trees below the dependents of its dependent."""

    @property
    def scorer(self) -> str:
        return "hierarchical_pointer"


class PointedArcInOrderPiece(ArcPiece):
    """An arc whose score depends on all words up to its dependent, in their order."""

    @property
    def scorer(self) -> str:
        return "left_to_right_pointer"


class EndPiece(Piece):
    """One end of a headed span: scores[p, k], fencepost p as the left or right end of word k."""

    axes = 2

    def gold(self, heads: Any, spans: Any) -> Any:
        return spans

    def allowed(self, constraints: Constraints, n: int) -> NDArray[np.bool_]:
        """All: constraints on arcs are on arcs, and those on spans need both ends."""
        return np.ones(self.shape(n), np.bool_)

    def is_needed_by(self, constraints: Constraints) -> bool:
        return False


class LeftEndPiece(EndPiece):
    """Fencepost i as the left end of the headed span of word k: scores[i, k], i < k."""

    name = "left_end"

    def legal(self, n: Any, *cell: Any) -> Any:
        i, k = cell
        return (i < k) & (k <= n)

    def describe(self, *cell: int) -> str:
        i, k = cell
        return f"left end {i} of word {k}"

    def cells(self, heads: Any, spans: Any) -> tuple[Any, ...]:
        return spans[..., 0], _words(heads)


class RightEndPiece(EndPiece):
    """Fencepost j as the right end of the headed span of word k: scores[j, k], k <= j."""

    name = "right_end"

    def legal(self, n: Any, *cell: Any) -> Any:
        j, k = cell
        return (k >= 1) & (k <= j) & (j <= n)

    def describe(self, *cell: int) -> str:
        j, k = cell
        return f"right end {j} of word {k}"

    def cells(self, heads: Any, spans: Any) -> tuple[Any, ...]:
        return spans[..., 1], _words(heads)


class SiblingPiece(Piece):
    """Word b as the inner sibling of d below h: scores[h, b, d], b between h and d.

    The inner sibling is the dependent of h next to d on the side of h. b = h if there is none.
    """

    name = "sibling"
    axes = 3

    def legal(self, n: Any, *cell: Any) -> Any:
        h, b, d = cell
        between = ((h < b) & (b < d)) | ((d < b) & (b < h))
        inside = (h <= n) & (d >= 1) & (d <= n) & (h != d)
        return inside & ((b == h) | (between & (h >= 1)))

    def describe(self, *cell: int) -> str:
        h, b, d = cell
        inner = "no sibling" if b == h else f"the sibling {b}"
        return f"arc from {h} to {d} with {inner} between them"

    def cells(self, heads: Any, spans: Any) -> tuple[Any, ...]:
        from headspan.inference.siblings import inner_siblings

        return heads, inner_siblings(heads), _words(heads)

    def gold(self, heads: Any, spans: Any) -> Any:
        return heads

    def allowed(self, constraints: Constraints, n: int) -> NDArray[np.bool_]:
        """All: constraints on arcs are on arcs, and those on spans cannot be expressed."""
        return np.ones(self.shape(n), np.bool_)

    def is_needed_by(self, constraints: Constraints) -> bool:
        return False


HEADED_SPAN = HeadedSpanPiece()
ARC = ArcPiece()
POSTERIOR_ARC = PosteriorArcPiece()
POINTED_ARC = PointedArcPiece()
POINTED_ARC_IN_ORDER = PointedArcInOrderPiece()
LEFT_END = LeftEndPiece()
RIGHT_END = RightEndPiece()
SIBLING = SiblingPiece()


def _words(heads: Any) -> Any:
    """1 … N, in the shape and kind of the heads."""
    if isinstance(heads, np.ndarray):
        return np.broadcast_to(np.arange(1, heads.shape[-1] + 1), heads.shape)
    import torch

    return torch.arange(1, heads.shape[-1] + 1, device=heads.device).expand(heads.shape)
