"""The two sums that a recurrence runs over, a maximum or log-sum-exp, on arrays or on tensors.

A recurrence is written once, for anything that has these four operations.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

NEVER = float("-inf")


class Algebra(Protocol):
    """Charts that start at −inf, index ranges, and a sum over the last axis."""

    def chart(self, *shape: int) -> Any:
        """A chart of that shape, filled with −inf."""
        ...

    def range(self, start: int, stop: int) -> Any:
        """The numbers start … stop−1, to index charts with."""
        ...

    def index(self, numbers: NDArray[np.int64]) -> Any:
        """These numbers, as indices of charts."""
        ...

    def sum(self, terms: Any) -> Any:
        """The maximum or the log-sum-exp of terms along their last axis."""
        ...


class ArrayAlgebra:
    """Charts as NumPy arrays, of float64 by default."""

    def __init__(
        self,
        sum_: Callable[[NDArray[Any]], NDArray[Any]],
        dtype: Any = np.float64,
    ) -> None:
        self.sum = sum_
        self.dtype = dtype

    def chart(self, *shape: int) -> NDArray[Any]:
        """A chart of that shape, filled with −inf."""
        return np.full(shape, NEVER, self.dtype)

    def range(self, start: int, stop: int) -> NDArray[np.int64]:
        """The numbers start … stop−1."""
        return np.arange(start, stop)

    def index(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers themselves."""
        return numbers


def largest(terms: NDArray[Any]) -> NDArray[Any]:
    """The maximum of terms along their last axis."""
    values: NDArray[Any] = terms.max(-1)
    return values


def _log_sum(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    most = largest(terms)
    safe = np.where(most > NEVER, most, 0.0)
    with np.errstate(divide="ignore"):
        total: NDArray[np.float64] = safe + np.log(np.exp(terms - safe[..., None]).sum(-1))
    return total


MAXIMUM = ArrayAlgebra(largest)
LOG_SUM = ArrayAlgebra(_log_sum)
