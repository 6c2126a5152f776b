"""What the three structures have in common: everything but their recurrences.

A structure says which scores it takes and brings its recurrences twice, as compiled loops and as
batched tensor operations; here the results are allocated, sentences shared among threads, errors
raised and sums turned into probabilities.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headspan.inference.errors import NoTreeError, ScoresError
from headspan.inference.inputs import Backend, Batch, Kind, check_scores, read_heads, read_scores
from headspan.inference.kbest import Recurrence
from headspan.inference.results import Marginals, Trees
from headspan.inference.threads import over_sentences

NO_TREE, BAD_SCORE = 1, 2


@dataclass(frozen=True, slots=True)
class Gold:
    """Trees to stay away from, and what every mismatch costs."""

    heads: NDArray[np.int64]
    spans: NDArray[np.int64]
    costs: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over all trees, with a batch axis: arrays of the backend that made them."""

    log_partition: Any
    spans: Any
    arcs: Any


class Structure(ABC):
    """One way to take a tree apart into scored pieces."""

    kinds: tuple[Kind, ...]
    kernels: str  # the modules with the recurrences, below headspan.inference
    batched: str
    recurrence: Callable[..., Recurrence]  # of one sentence, from its scores and its length
    power = 3  # a sentence of n words costs n**power

    @abstractmethod
    def gold_arguments(self, gold: Gold | None, dtype: Any) -> tuple[Any, ...]:
        """What the best-tree kernel is told about gold trees; nothing if there are none."""

    def best_tree(
        self,
        scores: Sequence[Any],
        lengths: Any,
        backend: Backend | None,
        threads: int | None,
        *,
        gold: Any = None,
        costs: tuple[float, ...] = (),
    ) -> Trees:
        """The best tree of every sentence."""
        batch = read_scores(self.kinds, scores, lengths, backend)
        avoided = None if gold is None else Gold(*read_heads(gold, batch, "gold heads"), costs)
        heads = np.full((batch.size, batch.longest), -1, np.int64)
        spans = np.full((batch.size, batch.longest, 2), -1, np.int64)
        status = np.zeros(batch.size, np.int64)
        if batch.backend == "kernels":
            values = np.zeros(batch.size, batch.dtype)
            module = import_module(f"headspan.inference.kernels.{self.kernels}")
            run = module.best[batch.dtype]
            extra = self.gold_arguments(avoided, batch.dtype.type)
            over_sentences(
                lambda order: run(
                    *batch.parts, batch.lengths, order, *extra, heads, spans, values, status
                ),
                batch.lengths,
                threads,
                power=self.power,
            )
        else:
            module = import_module(f"headspan.inference.batched.{self.batched}")
            values = module.best(*batch.parts, batch.lengths, avoided, heads, spans, status)
        self.raise_for(batch, status)
        return Trees(batch.give(heads), batch.give(spans), batch.give(values), batch.give_lengths())

    def sums(self, batch: Batch, threads: int | None, *, marginals: bool, arcs: bool) -> Sums:
        """Find log Z of every sentence, in float64, and the marginals that are asked for."""
        status = np.zeros(batch.size, np.int64)
        if batch.backend == "batched":
            module = import_module(f"headspan.inference.batched.{self.batched}")
            found = module.sums(*batch.parts, batch.lengths, status, marginals, arcs)
            self.raise_for(batch, status)
            return Sums(*found)
        module = import_module(f"headspan.inference.kernels.{self.kernels}_sums")
        run = module.sums[batch.dtype]
        log_partition = np.zeros(batch.size)
        cubes, matrices = self._allocate(batch, marginals, arcs)
        over_sentences(
            lambda order: run(
                *batch.parts,
                batch.lengths,
                order,
                log_partition,
                cubes,
                matrices,
                status,
            ),
            batch.lengths,
            threads,
            power=self.power,
        )
        self.raise_for(batch, status)
        size, side = batch.size, batch.longest + 1
        return Sums(
            log_partition,
            cubes[: size * side**3].reshape(size, side, side, side) if cubes.size else None,
            matrices if matrices.size else None,
        )

    def _allocate(self, batch: Batch, marginals: bool, arcs: bool) -> tuple[Any, Any]:
        """Room for span marginals (flat, with a vector to spare) and arc marginals, or none."""
        side = batch.longest + 1
        wants_cube = marginals and "span" in self.kinds
        wants_matrix = marginals and (arcs or "arc" in self.kinds)
        spare = 8
        cubes = np.zeros(batch.size * side**3 + spare if wants_cube else 0, batch.dtype)
        matrices = np.zeros((batch.size if wants_matrix else 0, side, side), batch.dtype)
        return cubes, matrices

    def log_partition(
        self,
        scores: Sequence[Any],
        lengths: Any,
        backend: Backend | None,
        threads: int | None,
    ) -> Any:
        """Find log Z, differentiable if the scores are tensors that want a gradient."""
        batch = read_scores(self.kinds, scores, lengths, backend)
        if batch.like is not None and any(part.requires_grad for part in scores):
            from headspan.inference.gradient import LogPartition

            return LogPartition.apply(  # type: ignore[no-untyped-call]
                self, lengths, backend, threads, *scores
            )
        found = self.sums(batch, threads, marginals=False, arcs=False)
        return batch.give(_cast(found.log_partition, batch))

    def marginals(
        self,
        scores: Sequence[Any],
        lengths: Any,
        backend: Backend | None,
        threads: int | None,
        *,
        arcs: bool,
    ) -> Marginals:
        """Probabilities of pieces of trees."""
        batch = read_scores(self.kinds, scores, lengths, backend)
        found = self.sums(batch, threads, marginals=True, arcs=arcs)
        if "arc" in self.kinds:
            roots = found.arcs[:, 0]
        else:
            roots = found.spans[np.arange(batch.size), 0, batch.lengths]
        return Marginals(
            batch.give(_cast(found.log_partition, batch)),
            None if found.spans is None else batch.give(found.spans),
            None if found.arcs is None else batch.give(found.arcs),
            batch.give(roots),
        )

    def expected_score(
        self,
        scores: Sequence[Any],
        lengths: Any,
        backend: Backend | None,
        threads: int | None,
        values: Sequence[Any] | None = None,
    ) -> Any:
        """The expectation of the score, or of another value that is a sum over the same pieces."""
        batch = read_scores(self.kinds, scores, lengths, backend)
        found = self.sums(batch, threads, marginals=True, arcs=False)
        weighed = read_scores(self.kinds, scores if values is None else values, lengths, backend)
        return batch.give(_cast(self._expectation(found, weighed), batch))

    def entropy(
        self, scores: Sequence[Any], lengths: Any, backend: Backend | None, threads: int | None
    ) -> Any:
        """H = log Z - E[score], in nats."""
        batch = read_scores(self.kinds, scores, lengths, backend)
        found = self.sums(batch, threads, marginals=True, arcs=False)
        entropy = found.log_partition - self._expectation(found, batch)
        return batch.give(_cast(entropy.clip(0), batch))

    def _expectation(self, sums: Sums, weighed: Batch) -> Any:
        total: Any = 0.0
        pieces = {"span": sums.spans, "arc": sums.arcs}
        for kind, values in zip(self.kinds, weighed.parts, strict=True):
            total = total + _weighed_sum(pieces[kind], values)
        return total

    def tree_scores(self, scores: Sequence[Any], heads: Any, lengths: Any) -> Any:
        """The score of one given tree a sentence; differentiable for tensors."""
        batch = read_scores(self.kinds, scores, lengths, None)
        given, spans = read_heads(heads, batch, "heads")
        rows, words = np.nonzero(np.arange(batch.longest) < batch.lengths[:, None])
        left, right = spans[rows, words, 0], spans[rows, words, 1]
        cells = {
            "span": (rows, left, right, words + 1),
            "arc": (rows, given[rows, words], words + 1),
        }
        total: Any = 0
        for kind, part in zip(self.kinds, scores, strict=True):
            source = part if batch.has_batch_axis else part[None]
            picked = source[cells[kind]]
            if batch.like is None:
                sums = np.zeros(batch.size, batch.dtype)
                np.add.at(sums, rows, picked)
            else:
                at = batch.like.new_tensor(rows).long()
                sums = picked.new_zeros(batch.size).index_add(0, at, picked)
            total = total + sums
        return total if batch.has_batch_axis else total[0]

    def log_probability(
        self,
        scores: Sequence[Any],
        heads: Any,
        lengths: Any,
        backend: Backend | None,
        threads: int | None,
    ) -> Any:
        """Find log p(tree) of one given tree a sentence; differentiable for tensors."""
        value = self.tree_scores(scores, heads, lengths)
        return value - self.log_partition(scores, lengths, backend, threads)

    def raise_for(self, batch: Batch, status: NDArray[np.int64]) -> None:
        """The error that a kernel or a batched recurrence reported for a sentence, if any."""
        if not status.any():
            return
        for b in np.flatnonzero(status):
            if status[b] == BAD_SCORE:
                check_scores(self.kinds, batch, int(b))
                raise ScoresError(f"a score of sentence {b} is NaN or +inf")
            raise NoTreeError(f"the scores forbid every tree of sentence {b}: all are -inf")


def _cast(values: Any, batch: Batch) -> Any:
    """Sums are made in float64 and given in the type of the scores."""
    if isinstance(values, np.ndarray):
        return values.astype(batch.dtype)
    return values.to(batch.parts[0].dtype)


def _weighed_sum(probabilities: Any, values: Any) -> Any:
    """sum(probability * value) a sentence in float64; impossible pieces may have any value."""
    if isinstance(probabilities, np.ndarray):
        product = np.zeros(probabilities.shape)
        np.multiply(probabilities, values, out=product, where=probabilities > 0, dtype=np.float64)
        total: Any = product.reshape(len(product), -1).sum(axis=1)
        return total
    possible = probabilities > 0
    product = probabilities.double() * values.double().where(
        possible, values.new_zeros(()).double()
    )
    return product.flatten(1).sum(1)
