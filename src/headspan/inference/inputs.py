"""From what a caller hands over to arrays with a batch axis, and back."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from headspan.inference.errors import ScoresError, TreeError

Backend = Literal["kernels", "batched"]
Kind = Literal["span", "arc"]

_AXES: dict[Kind, tuple[int, str]] = {"span": (3, "(N+1, N+1, N+1)"), "arc": (2, "(N+1, N+1)")}


def is_tensor(x: Any) -> bool:
    """Whether x is a torch tensor. If torch was never imported, nothing is."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


_FLOATS: dict[int, np.dtype[Any]] = {4: np.dtype(np.float32), 8: np.dtype(np.float64)}


@dataclass(frozen=True, slots=True)
class Batch:
    """Scores with a batch axis, where they are to be worked on, and how to give results back."""

    parts: tuple[Any, ...]
    lengths: NDArray[np.int64]
    backend: Backend
    has_batch_axis: bool
    like: Any  # a tensor that says where results belong, or None for NumPy
    dtype: np.dtype[Any]  # float32 or float64

    @property
    def size(self) -> int:
        """The number of sentences."""
        return len(self.lengths)

    @property
    def longest(self) -> int:
        """N: the number of words that the scores have room for."""
        return int(self.parts[0].shape[1]) - 1

    def give(self, result: Any) -> Any:
        """An array with a batch axis, as the caller should see it."""
        if self.like is not None:
            torch = sys.modules["torch"]
            result = torch.as_tensor(result, device=self.like.device)
        return result if self.has_batch_axis else result[0]

    def give_lengths(self) -> Any:
        """The lengths as results carry them."""
        return self.lengths if self.has_batch_axis else self.lengths[0]


def read_scores(
    kinds: Sequence[Kind], scores: Sequence[Any], lengths: Any, backend: Backend | None
) -> Batch:
    """Check shapes and types, add the batch axis, choose the backend."""
    axes, shape = _AXES[kinds[0]]
    has_batch_axis = getattr(scores[0], "ndim", -1) == axes + 1
    tensors = [x for x in scores if is_tensor(x)]
    parts = []
    for kind, part in zip(kinds, scores, strict=True):
        axes, shape = _AXES[kind]
        what = f"{kind} scores"
        if not is_tensor(part) and not isinstance(part, np.ndarray):
            raise ScoresError(
                f"{what} must be a NumPy array or a tensor, not {type(part).__name__}"
            )
        if bool(tensors) != is_tensor(part):
            raise ScoresError("span and arc scores must both be arrays or both be tensors")
        if part.ndim != axes + has_batch_axis or len(set(part.shape[-axes:])) != 1:
            batch = "(B, " + shape[1:] if has_batch_axis else f"{shape} or (B, {shape[1:]}"
            raise ScoresError(f"{what} must have the shape {batch}, found {tuple(part.shape)}")
        if _float_type(part) is None:
            raise ScoresError(f"{what} must be float32 or float64, found {part.dtype}")
        parts.append(part if has_batch_axis else part[None])
    dtype = _float_type(parts[0])
    same = all(
        part.shape[:2] == parts[0].shape[:2] and _float_type(part) == dtype for part in parts
    )
    if not same or dtype is None:
        found = " and ".join(f"{tuple(part.shape)} {part.dtype}" for part in parts)
        raise ScoresError(f"span and arc scores do not belong together: {found}")
    like = tensors[0] if tensors else None
    if len(tensors) > 1 and tensors[0].device != tensors[1].device:
        raise ScoresError("span and arc scores must be on one device")
    if backend is None:
        on_cpu = like is None or like.device.type == "cpu"
        backend = "kernels" if on_cpu else "batched"
    elif backend not in ("kernels", "batched"):
        raise ScoresError(f"no backend {backend!r}; there are 'kernels' and 'batched'")
    if backend == "kernels":
        parts = [_aligned(part.detach().cpu().numpy() if tensors else part) for part in parts]
    else:
        import torch

        parts = [torch.as_tensor(part).detach() for part in parts]
    longest = parts[0].shape[1] - 1
    checked = _read_lengths(lengths, parts[0].shape[0], longest, has_batch_axis)
    return Batch(tuple(parts), checked, backend, has_batch_axis, like, dtype)


def _float_type(part: Any) -> np.dtype[Any] | None:
    """float32 or float64, in the machine's byte order; None for any other type."""
    if isinstance(part, np.ndarray):
        return _FLOATS.get(part.itemsize) if part.dtype.kind == "f" else None
    return _FLOATS.get(part.element_size()) if part.dtype.is_floating_point else None


def _aligned(part: NDArray[Any]) -> NDArray[Any]:
    """The array itself, or a copy if it is one that the kernels cannot read quickly or at all."""
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
    found = np.asarray(lengths.cpu() if is_tensor(lengths) else lengths)
    expected = (size,) if has_batch_axis else ()
    if found.shape != expected or not np.issubdtype(found.dtype, np.integer):
        raise ScoresError(
            f"lengths must be integers of the shape {expected}, found {found.dtype} {found.shape}"
        )
    checked = np.ascontiguousarray(found.reshape(size), np.int64)
    for b in np.flatnonzero((checked < 1) | (checked > longest)):
        raise ScoresError(f"length {checked[b]} of sentence {b} is not between 1 and {longest}")
    return checked


def read_heads(heads: Any, batch: Batch, what: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Given trees, (B, N) or (N,), as heads and headed spans; N may be the longest length only."""
    from headspan.inference.kernels.trees import spans_of_heads

    found = np.asarray(heads.cpu() if is_tensor(heads) else heads)
    if not batch.has_batch_axis:
        found = found[None]
    longest = int(batch.lengths.max(initial=0))
    good = found.ndim == 2 and np.issubdtype(found.dtype, np.integer)
    if not good or found.shape[0] != batch.size or found.shape[1] < longest:
        raise TreeError(
            f"{what} must be integers of the shape ({batch.size}, {longest}) or wider, "
            f"found {found.dtype} {found.shape}"
        )
    padded = np.full((batch.size, batch.longest), -1, np.int64)
    columns = min(found.shape[1], batch.longest)
    padded[:, :columns] = found[:, :columns]
    padded[np.arange(batch.longest) >= batch.lengths[:, None]] = -1
    spans = np.full((batch.size, batch.longest, 2), -1, np.int64)
    wrong = spans_of_heads[np.float64](padded, batch.lengths, spans)
    if wrong >= 0:
        tree = padded[wrong, : batch.lengths[wrong]].tolist()
        raise TreeError(
            f"{what} of sentence {wrong} are no projective tree with a single root: {tree}"
        )
    return padded, spans


def check_scores(kinds: Sequence[Kind], batch: Batch, b: int) -> None:
    """Raise the error that names the first NaN or +inf among the scores of sentence b."""
    n = int(batch.lengths[b])
    for kind, part in zip(kinds, batch.parts, strict=True):
        sentence = part[b].cpu().numpy() if is_tensor(part) else part[b]
        for cell in np.argwhere(~(sentence < np.inf)):
            if kind == "span":
                i, j, k = cell
                legal, name = i < k <= j <= n, f"span ({i}, {j}) with head {k}"
            else:
                h, d = cell
                legal, name = h <= n and 1 <= d <= n and h != d, f"arc from {h} to {d}"
            if legal:
                value = sentence[tuple(cell)]
                raise ScoresError(f"the score of the {name} in sentence {b} is {value}")
