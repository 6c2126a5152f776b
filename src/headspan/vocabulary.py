"""Names and their numbers: labels, tags, words, characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from headspan.plumbing.errors import HeadspanError

PAD, UNKNOWN = 0, 1
RESERVED = 2
"""How many numbers, from 0, stand for no name."""


class Vocabulary:
    """Names in a fixed order. Number 0 is padding, 1 stands for every name that is not here."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._number = {name: k for k, name in enumerate(self.names, RESERVED)}
        if len(self._number) != len(self.names):
            raise HeadspanError("a vocabulary has a name twice")

    @classmethod
    def count(cls, names: Iterable[str], *, min_count: int = 1) -> Vocabulary:
        """The names that occur often enough, the most frequent first."""
        counts = Counter(names)
        frequent = [name for name, count in counts.items() if count >= min_count]
        return cls(sorted(frequent, key=lambda name: (-counts[name], name)))

    @classmethod
    def from_json(cls, data: Any, what: str) -> Vocabulary:
        """A vocabulary from the output of `to_json`. Raises HeadspanError for anything else."""
        if not isinstance(data, list) or not all(isinstance(name, str) for name in data):
            raise HeadspanError(f"the vocabulary of {what} is not a list of names")
        return cls(data)

    def to_json(self) -> list[str]:
        return list(self.names)

    def __len__(self) -> int:
        """The number of numbers, the reserved ones included."""
        return len(self.names) + RESERVED

    def __contains__(self, name: str) -> bool:
        return name in self._number

    def number(self, name: str) -> int:
        return self._number.get(name, UNKNOWN)

    def numbers(self, names: Iterable[str]) -> list[int]:
        return [self._number.get(name, UNKNOWN) for name in names]

    def names_of(self, numbers: Iterable[int]) -> list[str]:
        """The names of numbers, none of which is reserved."""
        return [self.names[number - RESERVED] for number in numbers]
