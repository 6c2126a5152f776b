"""Trees as headed spans and arcs."""

from typing import Any

import numpy as np

from headspan.inference.structure import Gold, Structure


class _Joint(Structure):
    kinds = ("span", "arc")
    kernels = "joint"
    batched = "joint"
    power = 4

    def gold_arguments(self, gold: Gold | None, dtype: Any) -> tuple[Any, ...]:
        if gold is None:
            none = np.zeros((0, 0, 0), np.int64), np.zeros((0, 0), np.int64)
            return (*none, dtype(0), dtype(0))
        return gold.spans, gold.heads, dtype(gold.costs[0]), dtype(gold.costs[1])


_JOINT = _Joint()
