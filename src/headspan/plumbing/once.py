"""Results that an immutable object computes when they are first asked for, and then keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

_Owner = TypeVar("_Owner", bound="Remembering")
_Result = TypeVar("_Result")


class Remembering:
    """A base class with a place for the results of `once`.

    The place is a slot and no field of a dataclass. It takes no time to make, and results are
    neither compared nor copied nor pickled.
    """

    __slots__ = ("_results",)
    _results: dict[Callable[..., Any], Any]


def once(owner: _Owner, compute: Callable[[_Owner], _Result]) -> _Result:
    """Return `compute(owner)`, computed only the first time.

    compute: a function or a class of a module, which lives as long as the owner.
    """
    try:
        results = owner._results
    except AttributeError:
        results = {}
        object.__setattr__(owner, "_results", results)  # the owner is frozen
    if compute not in results:
        results[compute] = compute(owner)
    return cast(_Result, results[compute])
