"""Eisner's recurrence as a hypergraph: ("root", 1, n), ("R"|"L"|"r"|"l", i, j)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headspan.inference.hypergraph import Hypergraph, Item
from headspan.inference.structures.arc.recurrence import ArcCharts


class ArcItems(Hypergraph):
    """The items of one sentence; the letters are those of recurrence.py."""

    def __init__(self, charts: ArcCharts, n: int, arcs: NDArray[np.float64]) -> None:
        self.goal: Item = ("root", 1, n)
        self.arcs = arcs[0]
        self.right, self.left = charts.right[0], charts.left[0]
        self.right_arc, self.left_arc = charts.right_arc[0], charts.left_arc[0]

    def values(self, item: Any) -> NDArray[np.float64]:
        name, i, j = item
        values: NDArray[np.float64]
        if name == "root":
            halves = self.left[1, 1 : j + 1] + self.right[1 : j + 1, j]
            values = halves + self.arcs[0, 1 : j + 1]
        elif i == j:
            values = np.zeros(1)
        elif name == "R":
            values = self.right_arc[i, i + 1 : j + 1] + self.right[i + 1 : j + 1, j]
        elif name == "L":
            values = self.left[i, i:j] + self.left_arc[i:j, j]
        else:
            values = (self.right[i, i:j] + self.left[i + 1 : j + 1, j]) + self.score(item, 0)
        return values

    def children(self, item: Any, alternative: int) -> Sequence[Item]:
        name, i, j = item
        k = i + alternative
        if name == "root":
            return (("L", 1, k), ("R", k, j))
        if i == j:
            return ()
        if name == "R":
            return (("r", i, k + 1), ("R", k + 1, j))
        if name == "L":
            return (("L", i, k), ("l", k, j))
        return (("R", i, k), ("L", k + 1, j))

    def score(self, item: Any, alternative: int) -> float:
        head, dependent, _ = self.arc(item, alternative, 0)
        return float(self.arcs[head, dependent]) if dependent else 0.0

    def arc(self, item: Any, alternative: int, head: int) -> tuple[int, int, int]:
        name, i, j = item
        if name == "root":
            return 0, 1 + alternative, 0
        if name == "r":
            return i, j, 0
        return (j, i, 0) if name == "l" else (0, 0, 0)
