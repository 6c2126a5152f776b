"""The best tree that satisfies constraints, by the cheapest algorithm that can honour them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headspan.inference.constraints import Constraints, masked, read_constraints
from headspan.inference.errors import NoTreeError
from headspan.inference.inputs import Backend, Kind, read_scores
from headspan.inference.results import Trees
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
    """Mask the scores, and move to the joint structure where the given one cannot say it all.

    The joint structure is used for the whole batch if a sentence needs it.
    """
    batch = read_scores(structure.kinds, scores, lengths, backend)
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
    try:
        found = structure.best_tree(
            [parts[kind] for kind in structure.kinds], batch.lengths, backend, threads
        )
    except NoTreeError as error:
        raise NoTreeError(f"no tree satisfies the constraints: {error}") from None
    if batch.has_batch_axis:
        return found
    return Trees(found.heads[0], found.spans[0], found.scores[0], found.lengths[0])


def _zeros(like: Any, kind: Kind) -> Any:
    size, side = like.shape[:2]
    shape = (size, side, side, side) if kind == "span" else (size, side, side)
    if isinstance(like, np.ndarray):
        return np.zeros(shape, like.dtype)
    return like.new_zeros(shape)
