"""The recurrence over arcs, siblings and ends as a hypergraph.

Items are ("root", 0, n) and, with the letters of recurrence.py, ("FL", i, h), ("FR", h, j),
("S", b, c), ("IL", c, h) and ("IR", h, c).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headspan.inference.hypergraph import Hypergraph, Item
from headspan.inference.structures.sibling.recurrence import SiblingCharts


class SiblingItems(Hypergraph):
    """The items of one sentence."""

    def __init__(
        self,
        charts: SiblingCharts,
        n: int,
        arcs: NDArray[np.float64],
        siblings: NDArray[np.float64],
        left_ends: NDArray[np.float64] | None = None,
        right_ends: NDArray[np.float64] | None = None,
    ) -> None:
        self.goal: Item = ("root", 0, n)
        self.arcs, self.siblings = arcs[0], siblings[0]
        self.left_ends = np.zeros_like(arcs[0]) if left_ends is None else left_ends[0]
        self.right_ends = np.zeros_like(arcs[0]) if right_ends is None else right_ends[0]
        self.left, self.right, self.between = charts.left[0], charts.right[0], charts.between[0]
        self.left_arc, self.right_arc = charts.left_arc[0], charts.right_arc[0]

    def values(self, item: Any) -> NDArray[np.float64]:
        name, a, b = item
        values: NDArray[np.float64]
        inner = slice(a + 1, b)
        if name == "root":
            roots = self.arcs[0, 1 : b + 1] + self.siblings[0, 0, 1 : b + 1]
            values = (self.left[0, 1 : b + 1] + self.right[1 : b + 1, b]) + roots
        elif name == "S":
            values = self.right[a, a:b] + self.left[a:b, b]
        elif name == "IR":
            without = self.left[a, b] + self.siblings[a, a, b]
            pairs = self.right_arc[a, inner] + self.between[inner, b]
            several = pairs + self.siblings[a, inner, b]
            values = np.concatenate([[without], several]) + self.arcs[a, b]
        elif name == "IL":
            without = self.right[a, b - 1] + self.siblings[b, b, a]
            pairs = self.between[a, inner] + self.left_arc[inner, b]
            several = pairs + self.siblings[b, inner, a]
            values = np.concatenate([several, [without]]) + self.arcs[b, a]
        elif _is_leaf(item):
            values = np.full(1, self._end(item))
        elif name == "FR":
            values = self.right_arc[a, a + 1 : b + 1] + self.right[a + 1 : b + 1, b]
            values = values + self._end(item)
        else:
            values = (self.left[a, inner] + self.left_arc[inner, b]) + self._end(item)
        return values

    def children(self, item: Any, alternative: int) -> Sequence[Item]:
        name, a, b = item
        if name == "root":
            return (("FL", 0, 1 + alternative), ("FR", 1 + alternative, b))
        if _is_leaf(item):
            return ()
        if name == "S":
            return (("FR", a, a + alternative), ("FL", a + alternative, b))
        if name == "IR":
            k = a + alternative
            return (("IR", a, k), ("S", k, b)) if alternative else (("FL", a, b),)
        k = a + 1 + alternative
        if name == "IL":
            return (("S", a, k), ("IL", k, b)) if k < b else (("FR", a, b - 1),)
        return (("IR", a, k), ("FR", k, b)) if name == "FR" else (("FL", a, k), ("IL", k, b))

    def score(self, item: Any, alternative: int) -> float:
        name, a, _ = item
        if name in ("FL", "FR"):
            return self._end(item)
        head, dependent, _ = self.arc(item, alternative, 0)
        if not dependent:
            return 0.0
        inner = head
        if name == "IR":
            inner = a + alternative
        elif name == "IL":
            inner = a + 1 + alternative
        return float(self.siblings[head, inner, dependent] + self.arcs[head, dependent])

    def arc(self, item: Any, alternative: int, head: int) -> tuple[int, int, int]:
        name, a, b = item
        if name == "root":
            return 0, 1 + alternative, 0
        if name == "IR":
            return a, b, 0
        return (b, a, 0) if name == "IL" else (0, 0, 0)

    def _end(self, item: Any) -> float:
        """The score of the end of a half."""
        name, a, b = item
        return float(self.left_ends[a, b] if name == "FL" else self.right_ends[b, a])


def _is_leaf(item: Any) -> bool:
    """Whether a half has no dependents."""
    name, a, b = item
    return bool((name == "FL" and a == b - 1) or (name == "FR" and a == b))
