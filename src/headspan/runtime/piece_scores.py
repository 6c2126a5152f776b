"""The scores of one piece for a batch of sentences: dense, or factored and made when needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from headspan.inference import RowProvider
from headspan.inference.structures.pointer import StepProvider

MOST_DENSE = 1 << 22
"""The number of scores that are made at once for a batch; more are made row by row."""


class PieceScores(Protocol):
    """Scores of one piece, as arrays or as tensors, which are differentiable."""

    @property
    def device(self) -> Any:
        """The device of tensors."""
        ...

    @property
    def pending(self) -> int:
        """The count of numbers that `dense` would have to compute."""
        ...

    def dense(self) -> Any:
        """All scores, (B, …), as inference takes them."""
        ...

    def cells(self, b: Any, *cell: Any) -> Any:
        """The scores of single cells of sentences b[t]; (t,)."""
        ...

    def sentences(self, rows: list[int], longest: int) -> PieceScores:
        """The scores of some sentences, with room for this many words."""
        ...


@runtime_checkable
class RowScores(PieceScores, Protocol):
    """Scores of a piece that can be made row by row."""

    def by_rows(self, b: int, n: int) -> RowProvider:
        """Those of sentence b, which has n words, to be asked for row by row."""
        ...

    def rows_per_block(self, n: int) -> int:
        """How many rows of a sentence of n words to ask for at a time."""
        ...


@runtime_checkable
class StepScores(PieceScores, StepProvider, Protocol):
    """Scores of the heads of each word that depend on the heads of the words before it."""

    def along(self, heads: Any) -> Any:
        """The scores as these trees are built, (B, N+1, N+1); heads are (B, N), −1 beyond ends."""
        ...


@dataclass(frozen=True, slots=True)
class DenseScores:
    """Scores that are all in memory."""

    scores: Any

    @property
    def device(self) -> Any:
        """The device of tensors."""
        return self.scores.device

    @property
    def pending(self) -> int:
        """Nothing has to be computed."""
        return 0

    def dense(self) -> Any:
        """The scores themselves."""
        return self.scores

    def cells(self, b: Any, *cell: Any) -> Any:
        """The scores of single cells of sentences b[t]; (t,)."""
        return self.scores[(b, *cell)]

    def sentences(self, rows: list[int], longest: int) -> DenseScores:
        """The scores of some sentences, with room for this many words."""
        room = (slice(longest + 1),) * (self.scores.ndim - 1)
        return DenseScores(self.scores[rows][(slice(None), *room)])
