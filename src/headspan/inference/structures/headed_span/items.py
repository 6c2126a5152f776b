"""The recurrence over headed spans as a hypergraph: items ("γ", i, j) and ("α", i, j)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headspan.inference.hypergraph import Hypergraph, Item
from headspan.inference.structures.headed_span.recurrence import HeadedSpanCharts


class HeadedSpanItems(Hypergraph):
    """The items of one sentence; the letters are those of recurrence.py."""

    def __init__(self, charts: HeadedSpanCharts, n: int, spans: NDArray[np.float64]) -> None:
        self.goal: Item = ("γ", 0, n)
        self.alpha, self.gamma, self.spans = charts.alpha[0], charts.gamma[0], spans[0]

    def values(self, item: Any) -> NDArray[np.float64]:
        name, i, j = item
        if i == j:
            return np.zeros(1)
        values: NDArray[np.float64]
        if name == "γ":
            inner = self.alpha[i, i:j] + self.alpha[i + 1 : j + 1, j]
            values = inner + self.spans[i, j, i + 1 : j + 1]
        else:
            values = self.alpha[i, i:j] + self.gamma[i:j, j]
        return values

    def children(self, item: Any, alternative: int) -> Sequence[Item]:
        name, i, j = item
        if i == j:
            return ()
        k = i + alternative
        return (("α", i, k), ("α", k + 1, j)) if name == "γ" else (("α", i, k), ("γ", k, j))

    def score(self, item: Any, alternative: int) -> float:
        name, i, j = item
        return float(self.spans[i, j, i + 1 + alternative]) if name == "γ" else 0.0

    def arc(self, item: Any, alternative: int, head: int) -> tuple[int, int, int]:
        name, i, _ = item
        word = i + 1 + alternative
        return (head, word, word) if name == "γ" else (0, 0, head)
