"""The recurrences as hypergraphs over one sentence, for the k best trees."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headspan.inference.kbest import Item

_ROWS_AT_A_TIME = 16


class SpanRecurrence:
    """Headed spans; items are ("γ", i, j) and ("α", i, j). See kernels/span.py."""

    def __init__(self, cube: NDArray[Any], n: int) -> None:
        from headspan.inference.kernels.span import chart_width, fill_rows, new_charts

        self.cube = cube
        self.goal: Item = ("γ", 0, n)
        alpha, gamma, buffer = new_charts(n, np.float64)
        width = chart_width(n)
        no_gold = np.zeros((0, 0, 0), np.int64)
        for first in range((n - 1) // _ROWS_AT_A_TIME * _ROWS_AT_A_TIME, -1, -_ROWS_AT_A_TIME):
            rows = cube[None, first : min(first + _ROWS_AT_A_TIME, n)].astype(np.float64)
            fill_rows[np.float64](rows, first, n, no_gold, 0.0, alpha, gamma, buffer)
        self.alpha: NDArray[np.float64] = alpha[: (n + 1) * width].reshape(n + 1, width)
        self.gamma: NDArray[np.float64] = gamma[: (n + 1) * width].reshape(n + 1, width)

    def values(self, item: Any) -> NDArray[np.float64]:
        """The best values of the alternatives, by chart."""
        name, i, j = item
        if i == j:
            return np.zeros(1)
        if name == "γ":
            scores = self.cube[i, j, i + 1 : j + 1].astype(np.float64)
            return (self.alpha[i, i:j] + self.alpha[i + 1 : j + 1, j]) + scores
        return self.alpha[i, i:j] + self.gamma[i:j, j]

    def children(self, item: Any, alternative: int) -> Sequence[Item]:
        """What an alternative is made of."""
        name, i, j = item
        if i == j:
            return ()
        k = i + alternative
        return (("α", i, k), ("α", k + 1, j)) if name == "γ" else (("α", i, k), ("γ", k, j))

    def combine(self, item: Any, alternative: int, values: Sequence[float]) -> float:
        """The value of an alternative."""
        name, i, j = item
        total = values[0] + values[1]
        return total + float(self.cube[i, j, i + 1 + alternative]) if name == "γ" else total

    def arc(self, item: Any, alternative: int, head: int) -> tuple[int, int, int]:
        """The arc that an alternative adds."""
        name, i, _ = item
        word = i + 1 + alternative
        return (head, word, word) if name == "γ" else (0, 0, head)


class ArcRecurrence:
    """Eisner's items: ("root",), ("R", i, j), ("L", i, j), ("r", i, j), ("l", i, j).

    See kernels/arc.py.
    """

    def __init__(self, matrix: NDArray[Any], n: int) -> None:
        from headspan.inference.kernels.arc import charts
        from headspan.inference.kernels.span import chart_width

        width = chart_width(n)
        self.n = n
        self.goal: Item = ("root", 1, n)
        arcs = np.zeros((n + 2, width))
        arcs[: n + 1, : n + 1] = matrix[: n + 1, : n + 1]
        filled = np.empty((4, (n + 2) * width))
        charts[np.float64](arcs.reshape(-1), n, width, filled)
        self.right, self.left, self.left_arc, self.base = filled.reshape(4, n + 2, width)
        self.right_arc = self.base + arcs
        self.arcs = arcs

    def values(self, item: Any) -> NDArray[np.float64]:
        """The best values of the alternatives, by chart."""
        name, i, j = item
        if name == "root":
            return (self.left[1, 1 : j + 1] + self.right[1 : j + 1, j]) + self.arcs[0, 1 : j + 1]
        if i == j:
            return np.zeros(1)
        if name == "R":
            return self.right_arc[i, i + 1 : j + 1] + self.right[i + 1 : j + 1, j]
        if name == "L":
            return self.left[i, i:j] + self.left_arc[i:j, j]
        return (self.right[i, i:j] + self.left[i + 1 : j + 1, j]) + self._score(item)

    def children(self, item: Any, alternative: int) -> Sequence[Item]:
        """What an alternative is made of."""
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

    def combine(self, item: Any, alternative: int, values: Sequence[float]) -> float:
        """The value of an alternative."""
        total = values[0] + values[1]
        if item[0] == "root":
            return total + float(self.arcs[0, 1 + alternative])
        return total + self._score(item) if item[0] in "rl" else total

    def arc(self, item: Any, alternative: int, head: int) -> tuple[int, int, int]:
        """The arc that an alternative adds."""
        name, i, j = item
        if name == "root":
            return 0, 1 + alternative, 0
        if name == "r":
            return i, j, 0
        return (j, i, 0) if name == "l" else (0, 0, 0)

    def _score(self, item: Any) -> float:
        name, i, j = item
        return float(self.arcs[i, j] if name == "r" else self.arcs[j, i])


class JointRecurrence:
    """Spans and arcs: ("γ", p, q, h), ("L", i, h) and ("R", j, h). See kernels/joint.py."""

    def __init__(self, cube: NDArray[Any], matrix: NDArray[Any], n: int) -> None:
        self.goal: Item = ("γ", 0, n, 0)
        self.spans = cube[: n + 1, : n + 1, : n + 1].astype(np.float64)
        self.heads_of = matrix[: n + 1, : n + 1].T.astype(np.float64)
        np.fill_diagonal(self.heads_of, -np.inf)
        self.left = np.full((n + 1, n + 1), -np.inf)
        self.right = np.full((n + 1, n + 1), -np.inf)
        self.gamma = np.full((n + 1, n + 1, n + 1), -np.inf)
        words = np.arange(1, n + 1)
        self.left[words - 1, words] = self.right[words, words] = 0.0
        for i in range(n - 1, -1, -1):
            for q in range(i + 1, n + 1):
                beta = self._beta(i, q)
                self.gamma[i, q] = (beta[:, None] + self.heads_of[i + 1 : q + 1]).max(0)
                above = slice(q + 1, n + 1)
                longer = self.gamma[i, q, above] + self.left[q, above]
                self.left[i, above] = np.maximum(self.left[i, above], longer)
            for j in range(i + 1, n + 1) if i else ():
                self.right[j, i] = (self.right[i:j, i] + self.gamma[i:j, j, i]).max()

    def values(self, item: Any) -> NDArray[np.float64]:
        """The best values of the alternatives, by chart."""
        if item[0] == "γ":
            _, p, q, h = item
            return self._beta(p, q) + self.heads_of[p + 1 : q + 1, h]
        name, i, h = item
        if self._is_leaf(item):
            return np.zeros(1)
        found: NDArray[np.float64] = (
            self.gamma[i, i + 1 : h, h] + self.left[i + 1 : h, h]
            if name == "L"
            else self.right[h:i, h] + self.gamma[h:i, i, h]
        )
        return found

    def children(self, item: Any, alternative: int) -> Sequence[Item]:
        """What an alternative is made of."""
        if item[0] == "γ":
            _, p, q, _ = item
            c = p + 1 + alternative
            return (("L", p, c), ("R", q, c))
        name, i, h = item
        if self._is_leaf(item):
            return ()
        if name == "L":
            q = i + 1 + alternative
            return (("γ", i, q, h), ("L", q, h))
        p = h + alternative
        return (("R", p, h), ("γ", p, i, h))

    def combine(self, item: Any, alternative: int, values: Sequence[float]) -> float:
        """The value of an alternative."""
        total = values[0] + values[1]
        if item[0] != "γ":
            return total
        _, p, q, h = item
        c = p + 1 + alternative
        return total + float(self.spans[p, q, c]) + float(self.heads_of[c, h])

    def arc(self, item: Any, alternative: int, head: int) -> tuple[int, int, int]:
        """The arc that an alternative adds."""
        return (item[3], item[1] + 1 + alternative, 0) if item[0] == "γ" else (0, 0, 0)

    def _beta(self, p: int, q: int) -> NDArray[np.float64]:
        """β(p, q, c) for c = p+1 … q."""
        c = slice(p + 1, q + 1)
        beta: NDArray[np.float64] = (self.left[p, c] + self.right[q, c]) + self.spans[p, q, c]
        return beta

    @staticmethod
    def _is_leaf(item: Any) -> bool:
        name, i, h = item
        return bool(i == h - 1 if name == "L" else i == h)
