"""Building modules without memory and without numbers, for weights that exist already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

_DRAWING = {Tensor.normal_, Tensor.uniform_}


@contextmanager
def without_memory() -> Iterator[None]:
    """Build modules on the device `meta`: they have shapes, and take the weights they are given."""
    with torch.device("meta"), _WithoutRandomNumbers():
        yield


class _WithoutRandomNumbers(TorchFunctionMode):
    """Skips random initialisation: drawing numbers that are replaced took longer than the rest."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        options = kwargs or {}
        if func in _DRAWING or getattr(func, "__module__", None) == "torch.nn.init":
            return args[0] if args else options["tensor"]
        return func(*args, **options)
