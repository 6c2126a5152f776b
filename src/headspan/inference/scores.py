"""Reading the scores, lengths and trees that a caller gives, and handing results back."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from headspan.inference.failures import NoTreeError, ScoresError, TreeError
from headspan.inference.pieces import Piece

Backend = Literal["kernels", "batched"]

OK, NO_TREE, BAD_SCORE = 0, 1, 2
"""The outcome of inference on a sentence."""


def is_tensor(x: Any) -> bool:
    """Whether x is a torch tensor. Never, if torch has not been imported."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


_FLOATS: dict[int, np.dtype[Any]] = {4: np.dtype(np.float32), 8: np.dtype(np.float64)}


@dataclass(frozen=True, slots=True)
class ScoreBatch:
    """Scores with a batch axis, on the backend that works on them."""

    pieces: Sequence[Piece]
    parts: tuple[Any, ...]
    """The scores of each piece."""
    lengths: NDArray[np.int64]
    backend: Backend
    has_batch_axis: bool
    """Whether the caller's scores had one."""
    like: Any
    """A tensor on the device where results belong, or None for NumPy."""
    dtype: np.dtype[Any]
    """float32 or float64."""

    @property
    def size(self) -> int:
        """The number of sentences."""
        return len(self.lengths)

    @property
    def longest(self) -> int:
        """N: the number of words that the scores have room for."""
        return int(self.parts[0].shape[1]) - 1

    def as_result(self, values: Any) -> Any:
        """An array with a batch axis, as the caller should see it."""
        if self.like is not None:
            torch = sys.modules["torch"]
            values = torch.as_tensor(values, device=self.like.device)
        elif is_tensor(values):
            values = values.cpu().numpy()
        return values if self.has_batch_axis else values[0]

    def wants_gradient(self, scores: Sequence[Any]) -> bool:
        """Whether a gradient of these scores, as the caller gave them, will be asked for."""
        torch = sys.modules["torch"]
        return torch.is_grad_enabled() and any(part.requires_grad for part in scores)

    def result_lengths(self) -> Any:
        """The lengths as results carry them: always a NumPy array or number."""
        return self.lengths if self.has_batch_axis else self.lengths[0]

    def cast(self, sums: Any) -> Any:
        """Sums, which are made in float64, in the type of the scores."""
        if isinstance(sums, np.ndarray):
            return sums.astype(self.dtype)
        return sums.to(self.parts[0].dtype)

    def legal_parts(self, b: int, dtype: Any = np.float64) -> list[NDArray[Any]]:
        """The scores of sentence b in this type, with a batch axis, −inf in every illegal cell.

        Raises ScoresError if a legal one is NaN or +inf.
        """
        n = int(self.lengths[b])
        legal_parts = []
        for piece, part in zip(self.pieces, self.parts, strict=True):
            scores = part[(b, *[slice(n + 1)] * piece.axes)]
            cell = np.meshgrid(*[np.arange(n + 1)] * piece.axes, indexing="ij", sparse=True)
            legal = np.broadcast_to(piece.legal(n, *cell), scores.shape)
            if not (scores[legal] < np.inf).all():
                self.explain_bad_score(b)
            legal_parts.append(np.where(legal, scores, -np.inf).astype(dtype)[None])
        return legal_parts

    def rooms(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
        """Room for the heads, the headed spans and the score of one tree per sentence."""
        heads = np.full((self.size, self.longest), -1, np.int64)
        spans = np.full((self.size, self.longest, 2), -1, np.int64)
        return heads, spans, np.zeros(self.size, self.dtype)

    def raise_for(self, status: NDArray[np.int64]) -> None:
        """Raise the error that a kernel or a recurrence noted for a sentence, if any."""
        if not status.any():
            return
        for b in np.flatnonzero(status):
            if status[b] == BAD_SCORE:
                self.explain_bad_score(int(b))
            raise NoTreeError(f"the scores forbid every tree of sentence {b}: all are -inf")

    def explain_bad_score(self, b: int) -> None:
        """Raise the error that names the first NaN or +inf among the scores of sentence b."""
        n = int(self.lengths[b])
        for piece, part in zip(self.pieces, self.parts, strict=True):
            scores = part[b].cpu().numpy() if is_tensor(part) else part[b]
            for cell in np.argwhere(~(scores < np.inf)):
                if piece.legal(n, *cell):
                    raise ScoresError(
                        f"the score of the {piece.describe(*cell)} in sentence {b} is "
                        f"{scores[tuple(cell)]}"
                    )
        raise ScoresError(f"a score of sentence {b} is NaN or +inf")


def read_scores(
    pieces: Sequence[Piece], scores: Sequence[Any], lengths: Any, backend: Backend | None
) -> ScoreBatch:
    """Check shapes and types, add the batch axis, choose the backend."""
    if len(scores) != len(pieces):
        raise ScoresError(f"expected {_names(pieces)} scores, found {len(scores)} arrays")
    has_batch_axis = getattr(scores[0], "ndim", -1) == pieces[0].axes + 1
    tensors = [x for x in scores if is_tensor(x)]
    parts = []
    for piece, part in zip(pieces, scores, strict=True):
        what = f"{piece.name} scores"
        if not is_tensor(part) and not isinstance(part, np.ndarray):
            raise ScoresError(
                f"{what} must be a NumPy array or a tensor, not {type(part).__name__}"
            )
        if bool(tensors) != is_tensor(part):
            raise ScoresError(f"{_names(pieces)} scores must all be arrays or all be tensors")
        if part.ndim != piece.axes + has_batch_axis or len(set(part.shape[-piece.axes :])) != 1:
            sides = ", ".join(["N+1"] * piece.axes)
            shape = f"(B, {sides})" if has_batch_axis else f"({sides}) or (B, {sides})"
            raise ScoresError(f"{what} must have the shape {shape}, found {tuple(part.shape)}")
        if _float_type(part) is None:
            raise ScoresError(f"{what} must be float32 or float64, found {part.dtype}")
        parts.append(part if has_batch_axis else part[None])
    dtype = _float_type(parts[0])
    same = all(
        part.shape[:2] == parts[0].shape[:2] and _float_type(part) == dtype for part in parts
    )
    if not same or dtype is None:
        shapes = " and ".join(f"{tuple(part.shape)} {part.dtype}" for part in parts)
        raise ScoresError(f"{_names(pieces)} scores do not belong together: {shapes}")
    like = tensors[0] if tensors else None
    if any(tensor.device != tensors[0].device for tensor in tensors):
        raise ScoresError(f"{_names(pieces)} scores must be on one device")
    if backend is None:
        on_cpu = like is None or like.device.type == "cpu"
        backend = "kernels" if on_cpu else "batched"
    elif backend not in ("kernels", "batched"):
        raise ScoresError(f"no backend {backend!r}; expected 'kernels' or 'batched'")
    if backend == "kernels":
        parts = [_readable(part.detach().cpu().numpy() if tensors else part) for part in parts]
    else:
        import torch

        parts = [torch.as_tensor(part).detach() for part in parts]
    longest = parts[0].shape[1] - 1
    checked = _read_lengths(lengths, parts[0].shape[0], longest, has_batch_axis)
    return ScoreBatch(pieces, tuple(parts), checked, backend, has_batch_axis, like, dtype)


def _names(pieces: Sequence[Piece]) -> str:
    return " and ".join(piece.name for piece in pieces)


def _float_type(part: Any) -> np.dtype[Any] | None:
    """float32 or float64, in the machine's byte order; None for any other type."""
    if isinstance(part, np.ndarray):
        return _FLOATS.get(part.itemsize) if part.dtype.kind == "f" else None
    return _FLOATS.get(part.element_size()) if part.dtype.is_floating_point else None


def _readable(part: NDArray[Any]) -> NDArray[Any]:
    """The array itself, or a copy if the kernels cannot read it, or only slowly."""
    contiguous = part.itemsize in part.strides[-2:] or part.ndim == 3
    usable = part.flags.aligned and part.dtype.isnative
    if contiguous and usable:
        return part
    return np.array(part, dtype=part.dtype.newbyteorder("="), order="C", copy=True)


def _read_lengths(lengths: Any, size: int, longest: int, has_batch_axis: bool) -> NDArray[np.int64]:
    if longest < 1:
        raise ScoresError("the scores have no room for a word")
    if lengths is None:
        return np.full(size, longest, np.int64)
    numbers = np.asarray(lengths.cpu() if is_tensor(lengths) else lengths)
    expected = (size,) if has_batch_axis else ()
    if numbers.shape != expected or not np.issubdtype(numbers.dtype, np.integer):
        raise ScoresError(
            f"lengths must be integers of the shape {expected}, "
            f"found {numbers.dtype} {numbers.shape}"
        )
    checked = np.ascontiguousarray(numbers.reshape(size), np.int64)
    for b in np.flatnonzero((checked < 1) | (checked > longest)):
        raise ScoresError(f"length {checked[b]} of sentence {b} is not between 1 and {longest}")
    return checked


def read_heads(
    heads: Any, batch: ScoreBatch, what: str, *, projective: bool = True
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The heads and headed spans of given trees, (B, N) or (N,). N may be the longest length.

    projective: whether trees that are not are errors, too.
    """
    from headspan.inference.headed_spans import spans_of_trees

    trees = np.asarray(heads.cpu() if is_tensor(heads) else heads)
    if not batch.has_batch_axis:
        trees = trees[None]
    longest = int(batch.lengths.max(initial=0))
    good = trees.ndim == 2 and np.issubdtype(trees.dtype, np.integer)
    if not good or trees.shape[0] != batch.size or trees.shape[1] < longest:
        raise TreeError(
            f"{what} must be integers of the shape ({batch.size}, {longest}) or wider, "
            f"found {trees.dtype} {trees.shape}"
        )
    padded = np.full((batch.size, batch.longest), -1, np.int64)
    columns = min(trees.shape[1], batch.longest)
    padded[:, :columns] = trees[:, :columns]
    padded[np.arange(batch.longest) >= batch.lengths[:, None]] = -1
    spans, wrong = spans_of_trees(padded, batch.lengths, projective=projective)
    if wrong >= 0:
        tree = padded[wrong, : batch.lengths[wrong]].tolist()
        expected = "a projective tree" if projective else "a tree"
        raise TreeError(f"{what} of sentence {wrong} are not {expected} with a single root: {tree}")
    return padded, spans
