"""Constraints on trees, as masks on scores.

Every constraint forbids headed spans or arcs; a tree satisfies it if and only if it contains none
of those. So constrained inference is inference with some scores at -inf, and exact.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headspan.inference.failures import ConstraintError
from headspan.plumbing.errors import shown

Arc = tuple[int, int]
Bracket = tuple[int, int]
HeadedSpan = tuple[int, int, int]
_SIZES = {
    "required_arcs": 2, "forbidden_arcs": 2, "required_spans": 3, "forbidden_spans": 3,
    "root": 1, "leaves": 1, "brackets": 2,
}  # fmt: skip
"""How many numbers each element of a constraint has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """Constraints on the tree of one sentence. Words are 1 … n, fenceposts 0 … n.

    required_arcs, forbidden_arcs: pairs (head, dependent); the head 0 is the root.
    required_spans, forbidden_spans: triples (i, j, k), (i, j) as the headed span of word k.
    root: the only word whose head is 0.
    leaves: words without dependents.
    brackets: pairs (i, j) of fenceposts that no headed span may cross; a span crosses a bracket
    if they overlap and neither contains the other.
    """

    required_arcs: Iterable[Arc] = ()
    forbidden_arcs: Iterable[Arc] = ()
    required_spans: Iterable[HeadedSpan] = ()
    forbidden_spans: Iterable[HeadedSpan] = ()
    root: int | None = None
    leaves: Iterable[int] = ()
    brackets: Iterable[Bracket] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name != "root":
                given = getattr(self, field.name)
                object.__setattr__(self, field.name, _whole_numbers(field.name, given))
        if self.root is not None:
            [root] = _whole_numbers("root", [self.root])
            object.__setattr__(self, "root", root)

    @property
    def need_spans(self) -> bool:
        """Whether only masks on headed spans can express all of this.

        A root and a leaf can be expressed by either mask, and so can any arc from 0: the root's
        span is the whole sentence.
        """
        return bool(self.required_spans or self.forbidden_spans or self.brackets)

    @property
    def need_arcs(self) -> bool:
        """Whether only masks on arcs can express all of this."""
        return any(head != 0 for head, _ in (*self.required_arcs, *self.forbidden_arcs))

    def allowed_spans(self, n: int) -> NDArray[np.bool_]:
        """mask[i, j, k]: may (i, j) be the headed span of k? (n+1, n+1, n+1).

        Expresses everything but arcs from words.
        """
        self._check(n)
        mask = np.ones((n + 1, n + 1, n + 1), np.bool_)
        for i, j, k in self.required_spans:
            again = mask[i, j, k]
            mask[:, :, k] = False
            mask[i, j, k] = again
        for i, j, k in self.forbidden_spans:
            mask[i, j, k] = False
        for k in self.leaves:
            again = mask[k - 1, k, k]
            mask[:, :, k] = False
            mask[k - 1, k, k] = again
        for k in self._roots_forbidden(n):
            mask[0, n, k] = False
        for p, q in self.brackets:
            for i in range(n + 1):
                for j in range(i + 1, n + 1):
                    if i < p < j < q or p < i < q < j:
                        mask[i, j] = False
        return mask

    def allowed_arcs(self, n: int) -> NDArray[np.bool_]:
        """mask[h, d]: may h be the head of d? (n+1, n+1). Everything but spans and brackets."""
        self._check(n)
        mask = np.ones((n + 1, n + 1), np.bool_)
        for h, d in self.required_arcs:
            again = mask[h, d]
            mask[:, d] = False
            mask[h, d] = again
        for h, d in self.forbidden_arcs:
            mask[h, d] = False
        for k in self.leaves:
            mask[k] = False
        for k in self._roots_forbidden(n):
            mask[0, k] = False
        return mask

    def _roots_forbidden(self, n: int) -> Iterator[int]:
        """The words that cannot be the root; all but one if that one is required."""
        required = {d for h, d in self.required_arcs if h == 0}
        required |= {self.root} if self.root is not None else set()
        forbidden = {d for h, d in self.forbidden_arcs if h == 0}
        for k in range(1, n + 1):
            if k in forbidden or required - {k}:
                yield k

    def _check(self, n: int) -> None:
        for h, d in (*self.required_arcs, *self.forbidden_arcs):
            if not (0 <= h <= n and 1 <= d <= n and h != d):
                raise ConstraintError(f"there is no arc from {h} to {d} in a sentence of {n} words")
        for i, j, k in (*self.required_spans, *self.forbidden_spans):
            if not 0 <= i < k <= j <= n:
                raise ConstraintError(
                    f"({i}, {j}) cannot be the span of word {k} in a sentence of {n} words"
                )
        for k in (*self.leaves, *(() if self.root is None else (self.root,))):
            if not 1 <= k <= n:
                raise ConstraintError(f"there is no word {k} in a sentence of {n} words")
        for i, j in self.brackets:
            if not 0 <= i < j <= n:
                raise ConstraintError(f"there is no bracket ({i}, {j}) in a sentence of {n} words")


def _whole_numbers(name: str, values: Iterable[Any]) -> tuple[Any, ...]:
    """The values of a constraint as a tuple; raises ConstraintError if they are of another kind."""
    size = _SIZES[name]
    try:
        if size == 1:
            return tuple(map(index, values))
        found = tuple(tuple(map(index, value)) for value in values)
    except TypeError:
        found = ((),)
    if any(len(value) != size for value in found):
        what = "whole numbers" if size == 1 else f"tuples of {size} whole numbers"
        raise ConstraintError(f"{name} has {shown(values)}; expected {what}")
    return found


def read_constraints(
    constraints: Constraints | Sequence[Constraints | None], size: int
) -> list[Constraints]:
    """One set of constraints per sentence: the same for all, or as given; None means no limits."""
    if isinstance(constraints, Constraints):
        return [constraints] * size
    if len(constraints) != size:
        raise ConstraintError(f"{len(constraints)} constraints for {size} sentences")
    return [Constraints() if one is None else one for one in constraints]


def masked(scores: Any, masks: Sequence[NDArray[np.bool_]]) -> Any:
    """A copy of scores, with a batch axis, with -inf where the mask of a sentence says no."""
    forbidden = np.zeros(tuple(scores.shape), np.bool_)
    for b, mask in enumerate(masks):
        corner = tuple(slice(side) for side in mask.shape)
        forbidden[b][corner] = ~mask
    if isinstance(scores, np.ndarray):
        return np.where(forbidden, scores.dtype.type(-np.inf), scores)
    import torch

    return scores.masked_fill(torch.as_tensor(forbidden, device=scores.device), float("-inf"))
