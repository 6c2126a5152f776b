"""The scores of a batch under a structure, and the questions that can be asked of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headspan.inference import Constraints, Structure, Trees
from headspan.inference.pieces import ARC
from headspan.plumbing import limits
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.threads import threads
from headspan.runtime import piece_scores
from headspan.runtime.piece_scores import PieceScores, RowScores, StepScores


class TreeScores:
    """The scores of B sentences of given lengths, (B,), for every piece of a structure.

    They may be arrays or tensors; only `dense` keeps gradients.

    minimum_risk: the best tree is not the one with the highest score, but the one with the highest
    expected number of right heads.
    """

    def __init__(
        self,
        structure: Structure,
        lengths: NDArray[np.int64],
        parts: Sequence[PieceScores],
        *,
        minimum_risk: bool = False,
    ) -> None:
        self.structure = structure
        self.lengths = lengths
        self.parts = tuple(parts)
        self.minimum_risk = minimum_risk

    def dense(self) -> list[Any]:
        """All scores of every piece, as inference takes them; tensors are differentiable."""
        return [part.dense() for part in self.parts]

    def along(self, heads: Any) -> list[Any]:
        """All scores of every piece, like `dense`; where they depend on heads, these are given."""
        return [
            part.along(heads) if isinstance(part, StepScores) else part.dense()
            for part in self.parts
        ]

    def sentences(self, rows: list[int]) -> TreeScores:
        """The scores of some of the sentences."""
        lengths = self.lengths[rows]
        longest = int(lengths.max())
        parts = [part.sentences(rows, longest) for part in self.parts]
        return TreeScores(self.structure, lengths, parts, minimum_risk=self.minimum_risk)

    @property
    def fits(self) -> bool:
        """Whether the dense scores are few enough to be made for the whole batch at once."""
        return sum(part.pending for part in self.parts) <= piece_scores.MOST_DENSE

    def best(
        self,
        constraints: Sequence[Constraints | None] | None = None,
        *,
        gold: Any = None,
    ) -> Trees:
        """The best trees, as NumPy arrays: of each sentence under its constraints, if any.

        gold: gold heads, (B, N); then the cost-augmented trees, without constraints.
        """
        if gold is not None:
            return self._best(gold)
        bound = [b for b, limit in enumerate(constraints or ()) if limit is not None]
        if not bound or constraints is None:
            return self._best(None)
        free = [b for b in range(len(self.lengths)) if b not in set(bound)]
        longest = int(self.lengths.max())
        trees = _no_trees(self.lengths, longest)
        if free:
            _fill(trees, free, self.sentences(free)._best(None))
        for rows in [bound] if self.fits else [[b] for b in bound]:
            limited = [constraints[b] for b in rows]
            _fill(trees, rows, self.sentences(rows)._best_of_dense(limited))
        return trees

    def _best_of_dense(self, constraints: Sequence[Constraints | None] | None = None) -> Trees:
        scores = self.dense() if constraints is None else self._bounded_dense()
        options: dict[str, Any] = {"lengths": self.lengths, "threads": threads()}
        if not self.minimum_risk:
            best = self.structure.best_tree(*scores, constraints=constraints, **options)
            return _arrays(best)
        best = self.structure.minimum_risk_tree(*scores, constraints=constraints, **options)
        own = self.structure.tree_score(*scores, heads=best.heads, lengths=self.lengths)
        return _arrays(Trees(best.heads, best.spans, own, best.lengths))

    def _best(self, gold: Any) -> Trees:
        if gold is None and not self.structure.factored:
            return self._built
        first = self.parts[0]
        by_rows = self.structure.reads_rows and isinstance(first, RowScores)
        by_rows &= gold is not None or not self.minimum_risk
        if by_rows and not self.fits and first.device.type == "cpu":
            return self._best_by_rows(gold)
        if gold is None:
            return self._best_of_dense()
        return _arrays(
            self.structure.cost_augmented_tree(
                *self.dense(), gold=gold, lengths=self.lengths, threads=threads()
            )
        )

    @cached_property
    def _built(self) -> Trees:
        """The trees that are built word by word."""
        structure: Any = self.structure
        trees: Trees = structure.best_tree_by_steps(self.parts[0], self.lengths)
        return trees

    @cached_property
    def _scores_of_heads(self) -> NDArray[np.float64]:
        """The scores of every word's heads as its tree was built, −inf where there is none."""
        (scores,) = self.along(self._built.heads)
        places = np.arange(scores.shape[1])
        legal = ARC.legal(self.lengths[:, None, None], places[:, None], places)
        return np.where(legal, _array(scores).astype(np.float64), -np.inf)

    def _best_by_rows(self, gold: Any) -> Trees:
        """Sentence by sentence, in O(n²) memory."""
        part: Any = self.parts[0]
        structure: Any = self.structure
        longest = int(self.lengths.max()) if gold is None else gold.shape[1]
        trees = _no_trees(self.lengths, longest)
        for b, n in enumerate(self.lengths.tolist()):
            heads = None if gold is None else _array(gold[b, :n])
            tree = structure.best_tree_by_rows(
                part.by_rows(b, n), block=part.rows_per_block(n), gold=heads
            )
            trees.heads[b, :n], trees.spans[b, :n] = tree.heads, tree.spans
            trees.scores[b] = tree.scores
        return trees

    def arc_marginals(
        self,
        temperature: float = 1.0,
        constraints: Sequence[Constraints | None] | None = None,
    ) -> NDArray[np.float64]:
        """The probability of every arc, [b, h, d] as in Marginals, of scores / temperature.

        NaN for a sentence that is too long for dense scores. constraints: one per sentence, if
        only the trees that satisfy them count. Where trees are built word by word, it is the
        probability of pointing to h in the step of d, after the steps that led to the tree.
        """
        if not self.structure.factored and not any(constraints or ()):
            scaled = self._scores_of_heads / temperature
            shares = np.exp(scaled - scaled.max(1, keepdims=True).clip(-1e300))
            found: NDArray[np.float64] = shares / shares.sum(1, keepdims=True).clip(1e-300)
            return found
        if self.fits and not self.structure.dense_sums:
            return self._arc_marginals(temperature, constraints)
        longest = int(self.lengths.max())
        out = np.full((len(self.lengths), longest + 1, longest + 1), np.nan)
        for b, n in enumerate(self.lengths.tolist()):
            if n <= limits.LONGEST_DENSE:
                bound = None if constraints is None else [constraints[b]]
                own = self.sentences([b])._arc_marginals(temperature, bound)
                out[b, : n + 1, : n + 1] = own[0]
        return out

    def _arc_marginals(
        self, temperature: float, constraints: Sequence[Constraints | None] | None
    ) -> NDArray[np.float64]:
        scores = [part / temperature for part in self.dense()]
        marginals = self.structure.marginals(
            *scores, constraints=constraints, lengths=self.lengths, threads=threads()
        )
        return _array(marginals.arcs)

    def entropy(self, b: int, temperature: float = 1.0) -> float:
        """The entropy of the trees of sentence b, in nats."""
        dense = self.sentences([b])._bounded_dense()
        parts = [_array(part[0]).astype(np.float64) / temperature for part in dense]
        return float(self.structure.entropy(*parts))

    def shares(
        self, b: int, scores: NDArray[np.float64], temperature: float = 1.0
    ) -> NDArray[np.float64]:
        """The probabilities of trees of sentence b with these scores, among all of its trees."""
        dense = self.sentences([b])._bounded_dense()
        parts = [_array(part[0]).astype(np.float64) / temperature for part in dense]
        log_partition = float(self.structure.log_partition(*parts))
        own = scores.astype(np.float64) / temperature
        return np.exp(np.minimum(own - log_partition, 0.0))

    def k_best(self, b: int, k: int, constraints: Constraints | None = None) -> Trees:
        """The k best trees of sentence b, best first, as a batch; fewer if there are fewer."""
        scores = [part[0] for part in self.sentences([b])._bounded_dense()]
        trees = self.structure.k_best(*scores, k=k, constraints=constraints)
        count = int(trees.counts)
        return _arrays(
            Trees(trees.heads[:count], trees.spans[:count], trees.scores[:count], trees.lengths)
        )

    def _bounded_dense(self) -> list[Any]:
        """The dense scores; raises HeadspanError if a sentence is too long for them."""
        for n in self.lengths.tolist():
            if n > limits.LONGEST_DENSE:
                raise HeadspanError(
                    f"a sentence has {n:,} words; with constraints or k best trees, it may have "
                    f"{limits.LONGEST_DENSE} at most"
                )
        return self.dense()


def _no_trees(lengths: NDArray[np.int64], longest: int) -> Trees:
    size = len(lengths)
    heads = np.full((size, longest), -1, np.int64)
    return Trees(heads, np.full((size, longest, 2), -1, np.int64), np.zeros(size), lengths)


def _fill(trees: Trees, rows: list[int], new: Trees) -> None:
    width = new.heads.shape[1]
    trees.heads[rows, :width], trees.spans[rows, :width] = new.heads, new.spans
    trees.scores[rows] = new.scores


def _arrays(trees: Trees) -> Trees:
    return Trees(_array(trees.heads), _array(trees.spans), _array(trees.scores), trees.lengths)


def _array(values: Any) -> NDArray[Any]:
    """An array from an array or a tensor."""
    return values if isinstance(values, np.ndarray) else np.asarray(values.detach().cpu())
