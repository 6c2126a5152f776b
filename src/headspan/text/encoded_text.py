"""Texts as the numbers that a boundary tagger takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from headspan.text.characters import Marks, Numbers

CLASSES = 3
INSIDE, END, MULTIWORD = range(CLASSES)
"""Classes of a character: inside a token, a token's last one, a multiword token's last one."""


@dataclass(frozen=True)
class SegmenterSizes:
    """The sizes of a segmenter's boundary tagger."""

    characters: int = 32
    """Size of a character's embedding."""
    convolution: int = 64
    """Channels of each of the two convolutions."""
    width: int = 5
    """Characters that each convolution sees, an odd number."""
    words: int = 48
    """Size of the embedding of a unit that training saw often."""
    lstm: int = 96
    """Size of the BiLSTM in each direction."""


class EncodedText(NamedTuple):
    """The numbers of a text's characters and units."""

    characters: Numbers
    categories: Numbers
    first: Numbers
    """The first character of each unit."""
    last: Numbers
    """The last character of each unit."""
    words: Numbers
    """The vocabulary number of each unit."""
    inseparable: Marks
    """Whether each character belongs with the next."""
    spaces: Marks
    """Whether each character is white space."""


class CharacterBatch(NamedTuple):
    """Encoded texts, padded: (texts, characters) and (texts, units). Arrays or tensors."""

    characters: Any
    categories: Any
    unit_of: Any
    """The unit of each character; for a space, the unit before it."""
    first: Any
    last: Any
    words: Any
    units: Any
    """The number of units of each text."""


class Tagger(Protocol):
    """A network over characters: with torch (`boundary_tagger`) or without (`boundary_graph`)."""

    def scores(self, batch: CharacterBatch) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Scores of the classes of each character, (texts, characters, 3), and of a sentence end
        at each unit, (texts, units).
        """
        ...

    def tensors(self) -> Mapping[str, NDArray[Any]]:
        """Its weights by their names."""
        ...


def padded(texts: Sequence[EncodedText]) -> CharacterBatch:
    """The arrays of a batch of texts, each of which has at least one unit.

    There may be more rows and columns than the texts need: torch keeps a program and its memory
    for every shape it has seen, so shapes should be few.
    """
    rows = 1 << (len(texts) - 1).bit_length()
    longest = _rounded(max(len(text.characters) for text in texts))
    most = _rounded(max(len(text.first) for text in texts))
    wide = np.zeros((3, rows, longest), np.int64)
    units = np.zeros((3, rows, most), np.int64)
    counts = np.zeros(rows, np.int64)
    for row, text in enumerate(texts):
        n, m = len(text.characters), len(text.first)
        wide[0, row, :n] = text.characters
        wide[1, row, :n] = text.categories
        wide[2, row, text.first[1:]] = 1
        units[0, row, :m] = text.first
        units[1, row, :m] = text.last
        units[2, row, :m] = text.words
        counts[row] = m
    return CharacterBatch(wide[0], wide[1], wide[2].cumsum(1), units[0], units[1], units[2], counts)


def _rounded(length: int) -> int:
    """Round a length up to one of four lengths per power of two."""
    step = 1 << max(3, (length - 1).bit_length() - 3)
    return -(-length // step) * step
