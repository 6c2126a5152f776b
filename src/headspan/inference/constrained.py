"""The best trees that satisfy constraints, by the cheapest algorithm that can honour them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from headspan.inference import lists
from headspan.inference.constraints import Constraints, masked, read_constraints
from headspan.inference.errors import NoTreeError
from headspan.inference.inputs import Backend, Kind, read_scores
from headspan.inference.results import TreeLists, Trees
from headspan.inference.structure import Structure


def best_tree(
    structure: Structure,
    joint: Structure,
    scores: Sequence[Any],
    constraints: Constraints | Sequence[Constraints | None],
    lengths: Any,
    backend: Backend | None,
    threads: int | None,
) -> Trees:
    """The best tree of every sentence."""
    masked_scores = _Masked(structure, joint, scores, constraints, lengths, backend)
    with _naming():
        found = masked_scores.structure.best_tree(
            masked_scores.parts, masked_scores.lengths, backend, threads
        )
    if masked_scores.has_batch_axis:
        return found
    return Trees(found.heads[0], found.spans[0], found.scores[0], found.lengths[0])


def k_best(
    structure: Structure,
    joint: Structure,
    scores: Sequence[Any],
    k: int,
    constraints: Constraints | Sequence[Constraints | None],
    lengths: Any,
    threads: int | None,
) -> TreeLists:
    """The k best trees of every sentence."""
    masked_scores = _Masked(structure, joint, scores, constraints, lengths, None)
    with _naming():
        found = lists.k_best(
            masked_scores.structure, masked_scores.parts, k, masked_scores.lengths, threads
        )
    if masked_scores.has_batch_axis:
        return found
    return TreeLists(
        found.heads[0], found.spans[0], found.scores[0], found.counts[0], found.lengths[0]
    )


class _Masked:
    """Scores, with a batch axis, that say what constraints allow, and the structure they are for.

    That is the joint one, for the whole batch, where the given one cannot say it all.
    """

    def __init__(
        self,
        structure: Structure,
        joint: Structure,
        scores: Sequence[Any],
        constraints: Constraints | Sequence[Constraints | None],
        lengths: Any,
        backend: Backend | None,
    ) -> None:
        batch = read_scores(structure.kinds, scores, lengths, backend)
        self.lengths = batch.lengths
        self.has_batch_axis = batch.has_batch_axis
        given = read_constraints(constraints, batch.size)
        parts = {
            kind: part if batch.has_batch_axis else part[None]
            for kind, part in zip(structure.kinds, scores, strict=True)
        }
        missing: set[Kind] = {"span", "arc"} - set(structure.kinds)  # type: ignore[assignment]
        if any(c.need(kind) for c in given for kind in missing):
            structure = joint
            for kind in missing:
                parts[kind] = _zeros(next(iter(parts.values())), kind)
        for kind in parts:
            pairs = zip(given, batch.lengths, strict=True)
            masks = [c.allowed_spans(n) if kind == "span" else c.allowed_arcs(n) for c, n in pairs]
            parts[kind] = masked(parts[kind], masks)
        self.structure = structure
        self.parts = [parts[kind] for kind in structure.kinds]


@contextmanager
def _naming() -> Iterator[None]:
    try:
        yield
    except NoTreeError as error:
        raise NoTreeError(f"no tree satisfies the constraints: {error}") from None


def _zeros(like: Any, kind: Kind) -> Any:
    size, side = like.shape[:2]
    shape = (size, side, side, side) if kind == "span" else (size, side, side)
    if isinstance(like, np.ndarray):
        return np.zeros(shape, like.dtype)
    return like.new_zeros(shape)
