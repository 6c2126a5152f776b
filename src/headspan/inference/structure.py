"""Structure: everything that can be asked of a way to score trees, stated once.

A structure names its pieces and brings one recurrence, `inside`, over any algebra. From it follow
the best tree and the marginals on tensors (by differentiation), and the charts over which k best
trees and samples are found. For speed on a CPU a structure may also bring compiled kernels. The
rest is here: results are allocated, sentences shared among threads, constraints turned into masks,
errors raised, and sums turned into probabilities.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property, wraps
from importlib import import_module
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from headspan.inference import few_trees
from headspan.inference.algebra import LOG_SUM, MAXIMUM, Algebra, ArrayAlgebra, largest
from headspan.inference.constraints import Constraints, masked, read_constraints
from headspan.inference.failures import NoTreeError, ScoresError
from headspan.inference.hypergraph import Hypergraph, ScoredTrees, best, k_best, sample
from headspan.inference.pieces import ARC, DecidingPiece, Piece
from headspan.inference.results import Marginals, TreeLists, Trees
from headspan.inference.scores import NO_TREE, Backend, ScoreBatch, read_heads, read_scores
from headspan.inference.threads import over_sentences
from headspan.registries import STRUCTURES
from headspan.tree import subtree_spans

_NO_TREES = np.zeros((0, 0), np.int64), np.zeros((0, 0, 0), np.int64)  # heads and spans
_Method = TypeVar("_Method", bound=Callable[..., Any])


class Kernels(NamedTuple):
    """Compiled loops over the sentences of a batch, by the type of the scores.

    best[dtype](*scores, lengths, order, *gold, *costs, heads, spans, values, status)
    sums[dtype](*scores, lengths, order, log_partition, *marginals, status)

    `order` are the sentences to work on. `gold` and `costs` have an entry per piece; gold is empty
    if there are no gold trees. `marginals` have an entry per piece, and one for arcs if these are
    not among the pieces; each is flat, and empty if it is not wanted.
    """

    best: Any
    sums: Any


@dataclass(frozen=True, slots=True)
class GoldTrees:
    """Trees to stay away from, and the cost per piece of every mismatch."""

    heads: NDArray[np.int64]
    spans: NDArray[np.int64]
    costs: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over all trees, with a batch axis, as arrays of the backend that made them."""

    log_partition: Any
    by_piece: dict[str, Any]


def _positional(*names: str) -> Callable[[_Method], _Method]:
    """Let the arguments of these names also follow the scores by position."""

    def decorate(method: _Method) -> _Method:
        @wraps(method)
        def call(self: "Structure", *arguments: Any, **options: Any) -> Any:
            scores, rest = arguments[: len(self.pieces)], arguments[len(self.pieces) :]
            if len(rest) > len(names):
                raise TypeError(
                    f"{method.__name__}() takes {' and '.join(names)} after the scores; "
                    "all other arguments need their names"
                )
            return method(self, *scores, **dict(zip(names, rest, strict=False)), **options)

        return call  # type: ignore[return-value]

    return decorate


class Structure(ABC):
    """A way to take a tree apart into scored pieces: score(tree) = the sum over its pieces.

    Every method takes one score array per piece, in the order of `pieces`; the class of a structure
    says what their cells mean. Words are 1 … n, fenceposts 0 … n, and 0 is the root.

    Scores are NumPy arrays or tensors, float32 or float64, all alike. They have a batch axis,
    (B, …), or none for a single sentence; results have one if and only if the scores do. Axes have
    room for N + 1 numbers; `lengths[b]` is the length n <= N of sentence b (a number without the
    batch axis; N by default). Illegal cells are never read. A score of -inf forbids its piece.

    `backend` is chosen by where the scores are: compiled loops ("kernels") on the CPU, tensor
    operations ("batched") elsewhere, or if a structure has no kernels; both give the same trees,
    ties included. While there is little to do, best trees are found without loading the kernels.
    `threads` is how many sentences the kernels work on at a time, by default as many as there are
    processors.

    `constraints` hold for every sentence, or are a sequence with one set (or None) per sentence.
    They are masks on copies of the scores. Where the pieces cannot express them, the structure
    `joint` stands in, in O(n⁴); if it cannot, for siblings and trees that are not projective, that
    is a ScoresError.

    `log_partition`, `tree_score` and `log_probability` of tensors carry gradients; nothing else
    does.

    NaN and +inf raise ScoresError. Scores or constraints that leave no tree raise NoTreeError.
    """

    pieces: tuple[Piece, ...]
    """The scored pieces, of which one at least must be enough to know the tree."""
    all_trees: ClassVar[bool] = True
    """Whether every projective tree can be built, so that another structure can stand in."""
    projective: bool = True
    """Whether only projective trees can be built."""
    factored: ClassVar[bool] = True
    """Whether the scores of pieces are known before the tree. If they are not, there is only
    `best_tree_by_steps`, and the only loss is `local`, which knows the tree."""
    exponent: ClassVar[int] = 3
    """The best tree of n words takes O(n ** exponent) time."""
    sums_exponent: ClassVar[int | None] = None
    """That of sums, where it is another."""
    dense_sums: ClassVar[bool] = False
    """Whether marginals take n³ numbers per sentence, even if the scores do not."""
    items: ClassVar[Callable[..., Hypergraph] | None] = None
    """A class, items(charts, n, *scores): the hypergraph of one sentence, for k best trees and
    samples, over the charts of `inside`, which have a batch axis of 1; None to do without."""
    compiled: ClassVar[str] = ""
    """The package with modules `kernel` and `sums`, whose `best` and `sums` are Kernels, if any."""
    reads_rows: ClassVar[bool] = False
    """Whether there is a `best_tree_by_rows`, for which no dense scores have to exist."""

    # What a structure brings.

    @abstractmethod
    def inside(self, algebra: Algebra, lengths: NDArray[np.int64], *scores: Any) -> Any:
        """Fill the charts of the recurrence; they have a field `total` with the goal's value, (B,).

        scores: one array per piece, (B, …), −inf in every illegal cell. Charts are filled for all N
        words, and the total is read where a sentence ends. Every tree must have exactly one
        derivation, which adds the score of each of its cells exactly once: only then are gradients
        trees and marginals.
        """

    @cached_property
    def kernels(self) -> Kernels | None:
        """The compiled loops, if there are any; imported when they are first used."""
        if not self.compiled:
            return None
        kernel, sums = (import_module(f"{self.compiled}.{name}") for name in ("kernel", "sums"))
        return Kernels(kernel.best, sums.sums)

    def as_joint(self, *scores: Any) -> tuple[Any, ...]:
        """The same scores for the structure `joint`, with zeros for the pieces that are missing.

        Raises ScoresError if `joint` cannot stand in.
        """
        joint = STRUCTURES["joint"]
        if not self.projective:
            raise ScoresError("a word and all words below it need not be a span")
        if not self.all_trees or not set(self.pieces) <= set(joint.pieces):
            raise ScoresError(f"the structure joint cannot stand in for {type(self).__name__}")
        own = dict(zip((piece.name for piece in self.pieces), scores, strict=True))
        size, longest = scores[0].shape[0], scores[0].shape[1] - 1
        return tuple(
            own[piece.name]
            if piece.name in own
            else _zeros(scores[0], (size, *piece.shape(longest)))
            for piece in joint.pieces
        )

    def __reduce__(self) -> tuple[type["Structure"], tuple[()]]:
        """A structure has no state of its own: a copy is a new instance."""
        return type(self), ()

    def configured(self, *, crossing: bool, beam: int) -> "Structure":
        """The structure as a configuration wants it: itself, if the scores decide everything.

        crossing: whether arcs may cross, where a structure can do both. beam: the width of its
        search, if it has one.
        """
        return self

    # What can be asked of it.

    def best_tree(
        self,
        *scores: Any,
        constraints: Constraints | Sequence[Constraints | None] | None = None,
        lengths: Any = None,
        backend: Backend | None = None,
        threads: int | None = None,
    ) -> Trees:
        """The tree with the highest score and a single root, per sentence."""
        if constraints is None:
            return self._best(scores, lengths, backend, threads)
        batch = read_scores(self.pieces, scores, lengths, backend)
        structure, masked_scores = self._constrained(batch, scores, constraints)
        with _naming_constraints():
            return structure._best(masked_scores, lengths, backend, threads)

    @_positional("gold")
    def cost_augmented_tree(
        self,
        *scores: Any,
        gold: Any,
        cost: Any = 1.0,
        lengths: Any = None,
        backend: Backend | None = None,
        threads: int | None = None,
    ) -> Trees:
        """The tree with the highest score + cost: `cost` for every piece that gold does not have.

        gold[b, k-1] is the head of word k in the gold tree; (B, N), or (N,) without a batch axis.
        cost: one number, or one per piece. Takes as long as best_tree; the kernels neither copy nor
        change the scores. `scores` of the result include the cost.
        """
        costs = [float(cost)] * len(self.pieces) if np.ndim(cost) == 0 else list(map(float, cost))
        if len(costs) != len(self.pieces):
            raise ScoresError(f"expected one cost, or one per piece, found {len(costs)}")
        return self._best(scores, lengths, backend, threads, gold=gold, costs=tuple(costs))

    @_positional("heads")
    def tree_score(self, *scores: Any, heads: Any, lengths: Any = None) -> Any:
        """The score of a given tree per sentence, (B,); heads are (B, N).

        Differentiable if the scores are tensors.
        """
        batch = read_scores(self.pieces, scores, lengths, None)
        own_heads, spans = read_heads(heads, batch, "heads", projective=self.projective)
        rows, words = np.nonzero(np.arange(batch.longest) < batch.lengths[:, None])
        total: Any = 0
        for piece, part in zip(self.pieces, scores, strict=True):
            source = part if batch.has_batch_axis else part[None]
            cells = (axis[rows, words] for axis in piece.cells(own_heads, spans))
            picked = source[(rows, *cells)]
            if batch.like is None:
                sums = np.zeros(batch.size, batch.dtype)
                np.add.at(sums, rows, picked)
            else:
                at = batch.like.new_tensor(rows).long()
                sums = picked.new_zeros(batch.size).index_add(0, at, picked)
            total = total + sums
        return total if batch.has_batch_axis else total[0]

    def log_partition(
        self,
        *scores: Any,
        lengths: Any = None,
        backend: Backend | None = None,
        threads: int | None = None,
    ) -> Any:
        """The log of the sum of exp(score) over all trees; (B,).

        Differentiable (once) if the scores are tensors that require a gradient.
        """
        batch = self.read(scores, lengths, backend)
        if batch.like is not None and batch.wants_gradient(scores):
            from headspan.inference.differentiation import LogPartition

            return LogPartition.apply(  # type: ignore[no-untyped-call]
                self, lengths, backend, threads, *scores
            )
        sums = self.sums(batch, threads, marginals=False)
        return batch.as_result(batch.cast(sums.log_partition))

    def marginals(
        self,
        *scores: Any,
        arcs: bool = True,
        constraints: Constraints | Sequence[Constraints | None] | None = None,
        lengths: Any = None,
        backend: Backend | None = None,
        threads: int | None = None,
    ) -> Marginals:
        """Probabilities of pieces and roots under p(tree) = exp(score(tree)) / Z.

        arcs: also those of arcs if these are not among the pieces, in O(n⁴) with a small constant.
        Under constraints, the probabilities are those among the trees that satisfy them.
        """
        if constraints is not None:
            read = read_scores(self.pieces, scores, lengths, backend)
            structure, parts = self._constrained(read, scores, constraints)
            with _naming_constraints():
                return structure.marginals(
                    *parts, arcs=arcs, lengths=lengths, backend=backend, threads=threads
                )
        batch = self.read(scores, lengths, backend)
        sums = self.sums(batch, threads, marginals=True, arcs=arcs)
        piece = ARC if ARC.name in sums.by_piece else self.deciding_piece
        return Marginals(
            batch.as_result(batch.cast(sums.log_partition)),
            {name: batch.as_result(part) for name, part in sums.by_piece.items()},
            batch.as_result(piece.roots(sums.by_piece[piece.name], batch.lengths)),
        )

    def entropy(
        self,
        *scores: Any,
        lengths: Any = None,
        backend: Backend | None = None,
        threads: int | None = None,
    ) -> Any:
        """The entropy of p(tree) in nats, H = log Z − E[score]; (B,)."""
        batch = self.read(scores, lengths, backend)
        sums = self.sums(batch, threads, marginals=True)
        entropy = sums.log_partition - self._expectation(sums, batch)
        return batch.as_result(batch.cast(entropy.clip(0)))

    @_positional("heads")
    def log_probability(
        self,
        *scores: Any,
        heads: Any,
        lengths: Any = None,
        backend: Backend | None = None,
        threads: int | None = None,
    ) -> Any:
        """The log of p(tree) of a given tree per sentence, (B,); heads are (B, N).

        Differentiable if the scores are tensors.
        """
        value = self.tree_score(*scores, heads=heads, lengths=lengths)
        return value - self.log_partition(
            *scores, lengths=lengths, backend=backend, threads=threads
        )

    def expected_score(
        self,
        *scores: Any,
        values: Any = None,
        lengths: Any = None,
        backend: Backend | None = None,
        threads: int | None = None,
    ) -> Any:
        """The expectation of score(tree) under p(tree); (B,).

        With `values`, in the shape of the scores (a sequence of arrays where there are several),
        the expectation of their sum over the tree's pieces instead.
        """
        batch = self.read(scores, lengths, backend)
        sums = self.sums(batch, threads, marginals=True)
        if values is None:
            weighted = batch
        else:
            several = values if isinstance(values, tuple | list) else (values,)
            weighted = self.read(several, lengths, backend)
        return batch.as_result(batch.cast(self._expectation(sums, weighted)))

    @_positional("count")
    def sample(self, *scores: Any, count: int, seed: int, lengths: Any = None) -> TreeLists:
        """`count` independent trees per sentence, drawn from p(tree). Runs on the CPU.

        The samples of a sentence depend on the seed, its scores and its place in the batch.
        """
        if count < 1:
            raise ScoresError(f"cannot draw {count} samples")

        def draw(b: int, n: int, parts: list[NDArray[np.float64]]) -> ScoredTrees:
            return self.samples_of_sentence(n, count, np.random.default_rng([seed, b]), *parts)

        return self._tree_lists(scores, lengths, count, draw)

    @_positional("k")
    def k_best(
        self,
        *scores: Any,
        k: int,
        constraints: Constraints | Sequence[Constraints | None] | None = None,
        lengths: Any = None,
    ) -> TreeLists:
        """The k best trees per sentence: exact, distinct, best first. Runs on the CPU.

        Trees that score -inf do not count. Over a recurrence, the charts are filled once, and then
        each tree takes about O(n) per item that has to be looked at again.
        """
        if k < 1:
            raise ScoresError(f"cannot find the {k} best trees")

        if constraints is None:
            return self._k_best(scores, lengths, k)
        batch = read_scores(self.pieces, scores, lengths, None)
        structure, masked_scores = self._constrained(batch, scores, constraints)
        with _naming_constraints():
            return structure._k_best(masked_scores, lengths, k)

    def minimum_risk_tree(
        self,
        *scores: Any,
        constraints: Constraints | Sequence[Constraints | None] | None = None,
        lengths: Any = None,
        backend: Backend | None = None,
        threads: int | None = None,
    ) -> Trees:
        """The tree with the highest expected number of right heads; `scores` is that number.

        It is the best tree on the arc marginals, by Eisner's algorithm if it must be projective.
        Under constraints, they are the marginals of the trees that satisfy them. A score of −inf
        makes a piece improbable; if it is not an arc, the tree may have it all the same.
        """
        options = {"lengths": lengths, "backend": backend, "threads": threads}
        structure, parts = self, list(scores)
        if constraints is not None:
            batch = read_scores(self.pieces, scores, lengths, backend)
            structure, parts = self._constrained(batch, scores, constraints)
        with _naming_constraints() if constraints is not None else nullcontext():
            marginals = structure.marginals(*parts, **options)
        by_arcs = STRUCTURES["arc" if self.projective else "mst"]
        trees: Trees = by_arcs.best_tree(marginals.arcs, constraints=constraints, **options)
        return trees

    # How it is done.

    @property
    def deciding_piece(self) -> DecidingPiece:
        """The piece from which trees and roots are read: arcs, if they are among the pieces."""
        for piece in (ARC, *self.pieces):
            if piece in self.pieces and isinstance(piece, DecidingPiece):
                return piece
        raise ScoresError(f"no piece of {type(self).__name__} is enough to know the tree")

    def needs_dense_scores(self, *, sums: bool) -> bool:
        """Whether n³ numbers per sentence have to be in memory at once.

        sums: for sums over all trees, not only for the best tree.
        """
        if sums and self.dense_sums:
            return True
        return any(piece.axes > 2 for piece in self.pieces) and (sums or not self.reads_rows)

    def read(self, scores: Sequence[Any], lengths: Any, backend: Backend | None) -> ScoreBatch:
        """Check the scores and choose the backend; see `read_scores`."""
        if backend is None and not self.compiled:
            backend = "batched"
        return read_scores(self.pieces, scores, lengths, backend)

    def _best(
        self,
        scores: Sequence[Any],
        lengths: Any,
        backend: Backend | None,
        threads: int | None,
        *,
        gold: Any = None,
        costs: tuple[float, ...] = (),
    ) -> Trees:
        batch = self.read(scores, lengths, backend)
        avoided = None
        if gold is not None:
            trees = read_heads(gold, batch, "gold heads", projective=self.projective)
            avoided = GoldTrees(*trees, costs)
        status = np.zeros(batch.size, np.int64)
        values: Any
        if backend is None and avoided is None and self._are_few(batch):
            heads, spans, values = self._best_by_charts(batch, status)
            batch.raise_for(status)
        elif batch.backend == "kernels":
            heads, spans, values = self._best_by_kernel(batch, avoided, status, threads)
            batch.raise_for(status)
        else:
            from headspan.inference import differentiation
            from headspan.inference.headed_spans import spans_of_trees

            heads, values = differentiation.best(self, batch, avoided, status)
            batch.raise_for(status)
            spans, _ = spans_of_trees(heads, batch.lengths, projective=self.projective)
        return Trees(
            batch.as_result(heads),
            batch.as_result(spans),
            batch.as_result(values),
            batch.result_lengths(),
        )

    def _are_few(self, batch: ScoreBatch) -> bool:
        """Whether kernels that are not loaded yet would take longer to load than they save."""
        loaded = "kernels" in self.__dict__
        possible = batch.backend == "kernels" and self.items is not None and self.exponent <= 3
        return possible and not loaded and few_trees.are_few(batch.lengths)

    def _best_by_charts(
        self, batch: ScoreBatch, status: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
        """The trees that the kernels would give, from the recurrence."""
        heads, spans, values = batch.rooms()
        algebra = ArrayAlgebra(largest, batch.dtype)
        for b, n in enumerate(batch.lengths.tolist()):
            scores = batch.legal_parts(b, batch.dtype)
            charts = self.inside(algebra, np.array([n]), *scores)
            values[b] = charts.total[0]
            if values[b] == -np.inf or self.items is None:
                status[b] = NO_TREE
                continue
            tree = best(self.items(charts, n, *scores), n)
            heads[b, :n] = tree
            spans[b, :n] = [(left, right) for left, right, _ in subtree_spans(tree)]
        return heads, spans, values

    def _best_by_kernel(
        self,
        batch: ScoreBatch,
        avoided: GoldTrees | None,
        status: NDArray[np.int64],
        threads: int | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
        heads, spans, values = batch.rooms()
        if avoided is None:
            trees, costs = _NO_TREES, (0.0,) * len(self.pieces)
        else:
            trees, costs = (avoided.heads, avoided.spans), avoided.costs
        gold = [piece.gold(*trees) for piece in self.pieces]
        number = batch.dtype.type
        run = self._compiled().best[batch.dtype]
        over_sentences(
            lambda order: run(
                *batch.parts,
                batch.lengths,
                order,
                *gold,
                *map(number, costs),
                heads,
                spans,
                values,
                status,
            ),
            batch.lengths,
            threads,
            exponent=self.exponent,
        )
        return heads, spans, values

    def sums(
        self, batch: ScoreBatch, threads: int | None, *, marginals: bool, arcs: bool = False
    ) -> Sums:
        """Find log Z of every sentence, in float64, and the marginals that are asked for."""
        status = np.zeros(batch.size, np.int64)
        if batch.backend == "batched":
            return self._sums_of_tensors(batch, status, marginals=marginals, arcs=arcs)
        outputs = self.pieces if ARC in self.pieces else (*self.pieces, ARC)
        rooms, by_piece = [], {}
        for piece in outputs:
            if marginals and (arcs or piece in self.pieces):
                flat, by_piece[piece.name] = piece.new_marginals(
                    batch.size, batch.longest, batch.dtype
                )
                rooms.append(flat)
            else:
                rooms.append(piece.no_marginals(batch.dtype))
        log_partition = np.zeros(batch.size)
        run = self._compiled().sums[batch.dtype]
        over_sentences(
            lambda order: run(*batch.parts, batch.lengths, order, log_partition, *rooms, status),
            batch.lengths,
            threads,
            exponent=self.sums_exponent or self.exponent,
        )
        batch.raise_for(status)
        return Sums(log_partition, by_piece)

    def _sums_of_tensors(
        self, batch: ScoreBatch, status: NDArray[np.int64], *, marginals: bool, arcs: bool
    ) -> Sums:
        from headspan.inference import differentiation

        if not marginals:
            log_partition = differentiation.log_partition(self, batch, status)
            batch.raise_for(status)
            return Sums(log_partition, {})
        structure, source = self, batch
        if arcs and ARC not in self.pieces:
            # With arcs that score 0, the joint structure has the same trees, and knows their arcs.
            structure = STRUCTURES["joint"]
            joint_scores = self.as_joint(*batch.parts)
            source = read_scores(structure.pieces, joint_scores, batch.lengths, "batched")
        log_partition, parts = differentiation.sums(structure, source, status)
        batch.raise_for(status)
        names = (piece.name for piece in structure.pieces)
        return Sums(log_partition, dict(zip(names, parts, strict=True)))

    def _compiled(self) -> Kernels:
        if self.kernels is None:
            raise ScoresError(f"{type(self).__name__} has no kernels; expected backend 'batched'")
        return self.kernels

    def _expectation(self, sums: Sums, weighted: ScoreBatch) -> Any:
        parts = zip(self.pieces, weighted.parts, strict=True)
        return sum(_weighted_sum(sums.by_piece[piece.name], values) for piece, values in parts)

    def k_best_of_sentence(self, n: int, k: int, *scores: NDArray[np.float64]) -> ScoredTrees:
        """The k best trees of one sentence, best first; scores as for `inside`, (1, …)."""
        graph = self._hypergraph(MAXIMUM, n, scores)
        return k_best(graph, n, k) if graph else []

    def samples_of_sentence(
        self, n: int, count: int, rng: np.random.Generator, *scores: NDArray[np.float64]
    ) -> ScoredTrees:
        """Trees of one sentence drawn from p(tree), none if there are none; scores (1, …)."""
        graph = self._hypergraph(LOG_SUM, n, scores)
        return sample(graph, n, count, rng) if graph else []

    def _hypergraph(
        self, algebra: ArrayAlgebra, n: int, scores: Sequence[NDArray[np.float64]]
    ) -> Hypergraph | None:
        """The hypergraph of one sentence over its charts; None if it has no tree."""
        if self.items is None:
            raise ScoresError(f"{type(self).__name__} has no items for k best trees and samples")
        charts = self.inside(algebra, np.array([n]), *scores)
        return None if charts.total[0] == -np.inf else self.items(charts, n, *scores)

    def _k_best(self, scores: Sequence[Any], lengths: Any, k: int) -> TreeLists:
        def find(b: int, n: int, parts: list[NDArray[np.float64]]) -> ScoredTrees:
            return self.k_best_of_sentence(n, k, *parts)

        return self._tree_lists(scores, lengths, k, find)

    def _tree_lists(
        self,
        scores: Sequence[Any],
        lengths: Any,
        most: int,
        find: Callable[[int, int, list[NDArray[np.float64]]], ScoredTrees],
    ) -> TreeLists:
        """Lists of at most so many trees: find(b, n, scores) gives those of a sentence."""
        from headspan.inference.headed_spans import spans_of_trees

        batch = read_scores(self.pieces, scores, lengths, "kernels")
        heads = np.full((batch.size, most, batch.longest), -1, np.int64)
        spans = np.full((batch.size, most, batch.longest, 2), -1, np.int64)
        values = np.full((batch.size, most), -np.inf, batch.dtype)
        counts = np.zeros(batch.size, np.int64)
        for b, n in enumerate(batch.lengths.tolist()):
            trees = find(b, n, batch.legal_parts(b))
            if not trees:
                raise NoTreeError(f"the scores forbid every tree of sentence {b}: all are -inf")
            count = counts[b] = len(trees)
            values[b, :count] = [score for score, _ in trees]
            heads[b, :count, :n] = [tree for _, tree in trees]
            spans[b, :count], _ = spans_of_trees(
                heads[b, :count], np.full(count, n), projective=self.projective
            )
        return TreeLists(
            batch.as_result(heads),
            batch.as_result(spans),
            batch.as_result(values),
            counts if batch.has_batch_axis else counts[0],
            batch.result_lengths(),
        )

    def _constrained(
        self,
        batch: ScoreBatch,
        scores: Sequence[Any],
        constraints: Constraints | Sequence[Constraints | None],
    ) -> "tuple[Structure, list[Any]]":
        """Scores that allow only what constraints allow, and the structure they are for.

        That is the joint one, for the whole batch, where ours cannot express it all.
        """
        per_sentence = read_constraints(constraints, batch.size)
        structure: Structure = self
        parts = [part if batch.has_batch_axis else part[None] for part in scores]
        joint = STRUCTURES["joint"]
        others = set(joint.pieces) - set(self.pieces)
        needed = [p for p in others if any(p.is_needed_by(some) for some in per_sentence)]
        if needed:
            with _naming_pieces(self, needed[0]):
                structure, parts = joint, list(self.as_joint(*parts))
        masked_parts = []
        for piece, part in zip(structure.pieces, parts, strict=True):
            pairs = zip(per_sentence, batch.lengths.tolist(), strict=True)
            copy = masked(part, [piece.allowed(some, n) for some, n in pairs])
            masked_parts.append(copy if batch.has_batch_axis else copy[0])
        return structure, masked_parts


@contextmanager
def _naming_constraints() -> Iterator[None]:
    try:
        yield
    except NoTreeError as error:
        raise NoTreeError(f"no tree satisfies the constraints: {error}") from None


@contextmanager
def _naming_pieces(structure: Structure, piece: Piece) -> Iterator[None]:
    try:
        yield
    except ScoresError as error:
        raise ScoresError(
            f"{type(structure).__name__} cannot express constraints on {piece.name}s: {error}"
        ) from None


def _zeros(like: Any, shape: tuple[int, ...]) -> Any:
    return np.zeros(shape, like.dtype) if isinstance(like, np.ndarray) else like.new_zeros(shape)


def _weighted_sum(probabilities: Any, values: Any) -> Any:
    """sum(probability * value) per sentence in float64; impossible pieces may have any value."""
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
