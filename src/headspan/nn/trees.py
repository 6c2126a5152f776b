"""The trees of a batch: what can be asked of its scores under a structure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headspan.inference import Constraints, Trees, arc, headed_span, joint
from headspan.nn.cube import best_trees, fits, score_cube
from headspan.nn.scorers import SpanTerms
from headspan.plumbing import limits
from headspan.plumbing.errors import HeadspanError

_INFERENCE: dict[str, Any] = {"span": headed_span, "arc": arc, "joint": joint}


class TreeScores:
    """Scores of a batch of B sentences, without gradient.

    lengths: (B,). spans and arcs are what the structure scores: spans for "span" and "joint", arcs,
    (B, N+1, N+1), for "arc" and "joint".
    """

    def __init__(
        self, structure: str, lengths: Tensor, spans: SpanTerms | None, arcs: Tensor | None
    ) -> None:
        self.structure = structure
        self.lengths = lengths
        self.spans = spans
        self.arcs = arcs
        self._algorithms = _INFERENCE[structure]

    def best(self, constraints: Sequence[Constraints | None] | None = None) -> Trees:
        """The best trees, as NumPy arrays; under constraints where a sentence has some."""
        if self.structure == "span" and self.spans is not None:
            trees = best_trees(self.spans, self.lengths)
        else:
            found = self._algorithms.best_tree(
                *self._batch(), lengths=self.lengths, threads=torch.get_num_threads()
            )
            trees = _arrays(found)
        for b, some in enumerate(constraints or ()):
            if some is not None:
                n = int(self.lengths[b])
                tree = _arrays(self._algorithms.best_tree(*self._sentence(b), constraints=some))
                trees.heads[b, :n], trees.spans[b, :n] = tree.heads, tree.spans
                trees.scores[b] = tree.scores
        return trees

    def arc_chances(self, temperature: float = 1.0) -> NDArray[np.float64]:
        """The probability of every arc, [b, h, d] as in Marginals; NaN where one is too long."""
        words = int(self.lengths.max())
        out = np.full((len(self.lengths), words + 1, words + 1), np.nan)
        if self.spans is None or fits(self.spans):
            scores = [part / temperature for part in self._batch()]
            found = self._algorithms.marginals(
                *scores, lengths=self.lengths, threads=torch.get_num_threads()
            )
            return _array(found.arcs)
        for b, n in enumerate(self.lengths.tolist()):
            if n <= limits.LONGEST_DENSE:
                scores = [part / temperature for part in self._sentence(b)]
                out[b, : n + 1, : n + 1] = _array(self._algorithms.marginals(*scores).arcs)
        return out

    def next_best(self, b: int, k: int, constraints: Constraints | None = None) -> Trees:
        """The k best trees of sentence b, best first, as a batch; fewer if there are fewer."""
        found = self._algorithms.k_best(*self._sentence(b), k, constraints=constraints)
        count = int(found.counts)
        return _arrays(
            Trees(found.heads[:count], found.spans[:count], found.scores[:count], found.lengths)
        )

    def _batch(self) -> list[Tensor]:
        parts = [] if self.spans is None else [score_cube(self.spans)]
        return parts if self.arcs is None else [*parts, self.arcs]

    def _sentence(self, b: int) -> list[Tensor]:
        n = int(self.lengths[b])
        if n > limits.LONGEST_DENSE:
            raise HeadspanError(
                f"a sentence of {n:,} words; constraints and the k best trees go up to "
                f"{limits.LONGEST_DENSE}"
            )
        parts = [] if self.spans is None else [score_cube(self.spans.sentence(b, n))[0]]
        return parts if self.arcs is None else [*parts, self.arcs[b, : n + 1, : n + 1]]


def _arrays(trees: Trees) -> Trees:
    return Trees(_array(trees.heads), _array(trees.spans), _array(trees.scores), trees.lengths)


def _array(values: Any) -> NDArray[Any]:
    return values.cpu().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)
