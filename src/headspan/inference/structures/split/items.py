"""The recurrence over arcs and ends as a hypergraph.

Items are ("root", 0, n) and, with the letters of recurrence.py, ("CL"|"FL", i, h),
("CR"|"FR", h, j), ("IL", c, h) and ("IR", h, c).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headspan.inference.hypergraph import Hypergraph, Item
from headspan.inference.structures.split.recurrence import SplitCharts


class SplitItems(Hypergraph):
    """The items of one sentence."""

    def __init__(
        self,
        charts: SplitCharts,
        n: int,
        arcs: NDArray[np.float64],
        left_ends: NDArray[np.float64],
        right_ends: NDArray[np.float64],
    ) -> None:
        self.goal: Item = ("root", 0, n)
        self.arcs, self.left_ends, self.right_ends = arcs[0], left_ends[0], right_ends[0]
        self.open_left, self.left = charts.open_left[0], charts.left[0]
        self.open_right, self.right = charts.open_right[0], charts.right[0]
        self.left_arc, self.right_arc = charts.left_arc[0], charts.right_arc[0]

    def values(self, item: Any) -> NDArray[np.float64]:
        name, a, b = item
        values: NDArray[np.float64]
        if name == "root":
            halves = self.left[0, 1 : b + 1] + self.right[1 : b + 1, b]
            values = halves + self.arcs[0, 1 : b + 1]
        elif name == "FL":
            values = self.left[a, b : b + 1]
        elif name == "FR":
            values = self.right[a, b : b + 1]
        elif _is_leaf(item):
            values = np.zeros(1)
        elif name == "IL":
            values = (self.right[a, a:b] + self.open_left[a:b, b]) + self.arcs[b, a]
        elif name == "IR":
            values = (self.open_right[a, a:b] + self.left[a:b, b]) + self.arcs[a, b]
        elif name == "CL":
            values = self.left[a, a + 1 : b] + self.left_arc[a + 1 : b, b]
        else:
            values = self.right_arc[a, a + 1 : b + 1] + self.right[a + 1 : b + 1, b]
        return values

    def children(self, item: Any, alternative: int) -> Sequence[Item]:
        name, a, b = item
        if name == "root":
            return (("FL", 0, 1 + alternative), ("FR", 1 + alternative, b))
        if name in ("FL", "FR"):
            return (("C" + name[1], a, b),)
        if _is_leaf(item):
            return ()
        m, c = a + alternative, a + 1 + alternative
        if name == "IL":
            return (("FR", a, m), ("CL", m, b))
        if name == "IR":
            return (("CR", a, m), ("FL", m, b))
        return (("FL", a, c), ("IL", c, b)) if name == "CL" else (("IR", a, c), ("FR", c, b))

    def score(self, item: Any, alternative: int) -> float:
        name, a, b = item
        if name == "FL":
            return float(self.left_ends[a, b])
        if name == "FR":
            return float(self.right_ends[b, a])
        head, dependent, _ = self.arc(item, alternative, 0)
        return float(self.arcs[head, dependent]) if dependent else 0.0

    def arc(self, item: Any, alternative: int, head: int) -> tuple[int, int, int]:
        name, a, b = item
        if name == "root":
            return 0, 1 + alternative, 0
        if name == "IR":
            return a, b, 0
        return (b, a, 0) if name == "IL" else (0, 0, 0)


def _is_leaf(item: Any) -> bool:
    """Whether a half has no dependents."""
    name, a, b = item
    return bool((name == "CL" and a == b - 1) or (name == "CR" and a == b))
