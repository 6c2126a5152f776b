"""Spans and arcs together as a hypergraph: ("γ", p, q, h), ("L", i, h) and ("R", j, h)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headspan.inference.hypergraph import Hypergraph, Item
from headspan.inference.structures.joint.recurrence import JointCharts


class JointItems(Hypergraph):
    """The items of one sentence; the letters are those of recurrence.py."""

    def __init__(
        self,
        charts: JointCharts,
        n: int,
        spans: NDArray[np.float64],
        arcs: NDArray[np.float64],
    ) -> None:
        self.goal: Item = ("γ", 0, n, 0)
        self.spans, self.arcs = spans[0], arcs[0]
        self.left, self.right, self.hooks = charts.left[0], charts.right[0], charts.hooks[0]

    def values(self, item: Any) -> NDArray[np.float64]:
        values: NDArray[np.float64]
        if item[0] == "γ":
            _, p, q, h = item
            c = slice(p + 1, q + 1)
            beta = (self.left[c, p] + self.right[c, q]) + self.spans[p, q, c]
            return beta + self.arcs[h, c]  # type: ignore[no-any-return]
        name, i, h = item
        if _is_leaf(item):
            values = np.zeros(1)
        elif name == "L":
            values = self.hooks[i, i + 1 : h, h] + self.left[h, i + 1 : h]
        else:
            values = self.right[h, h:i] + self.hooks[h:i, i, h]
        return values

    def children(self, item: Any, alternative: int) -> Sequence[Item]:
        if item[0] == "γ":
            _, p, q, _ = item
            c = p + 1 + alternative
            return (("L", p, c), ("R", q, c))
        name, i, h = item
        if _is_leaf(item):
            return ()
        if name == "L":
            q = i + 1 + alternative
            return (("γ", i, q, h), ("L", q, h))
        p = h + alternative
        return (("R", p, h), ("γ", p, i, h))

    def score(self, item: Any, alternative: int) -> float:
        if item[0] != "γ":
            return 0.0
        _, p, q, h = item
        c = p + 1 + alternative
        return float(self.spans[p, q, c] + self.arcs[h, c])

    def arc(self, item: Any, alternative: int, head: int) -> tuple[int, int, int]:
        return (item[3], item[1] + 1 + alternative, 0) if item[0] == "γ" else (0, 0, 0)


def _is_leaf(item: Any) -> bool:
    """Whether a sequence of children is empty."""
    name, i, h = item
    return bool(i == h - 1 if name == "L" else i == h)
