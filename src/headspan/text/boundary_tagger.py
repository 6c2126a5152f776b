"""The segmenter's network: characters to scores of token and sentence ends.

Convolutions over characters see a word and its surroundings; a BiLSTM over units (runs of letters
and digits, single other characters) sees the paragraph. There are several characters to a unit, so
the recurrent part, which is the slow one, is short, and reaches far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from headspan.nn.layers import both_directions
from headspan.text.characters import CATEGORIES, Marks, Numbers

INSIDE, END, MULTIWORD = range(3)
"""Classes of a character: none, a token's last one, a multiword token's last one."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of the network."""

    characters: int = 32
    """Of a character's embedding."""
    convolution: int = 64
    width: int = 5
    """Characters that each of the two convolutions sees, an odd number."""
    words: int = 32
    """Of the embedding of a unit that training saw often."""
    lstm: int = 64
    """Of each direction."""


class Encoded(NamedTuple):
    """A text in numbers: of each character, and of each unit."""

    characters: Numbers
    categories: Numbers
    first: Numbers
    last: Numbers
    words: Numbers
    inseparable: Marks
    """Characters that are one with the next."""


class Batch(NamedTuple):
    """Texts in numbers, padded: (texts, characters) and (texts, units)."""

    characters: Tensor
    categories: Tensor
    unit_of: Tensor
    """The unit of each character; of a space, the one before."""
    first: Tensor
    last: Tensor
    words: Tensor
    units: Tensor
    """The number of units of each text."""


class Network(nn.Module):
    """Scores of the classes of each character, and of a sentence end at each unit."""

    def __init__(self, characters: int, words: int, sizes: Sizes, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, sizes.characters, padding_idx=0)
        self.category = nn.Embedding(len(CATEGORIES) + 1, sizes.characters, padding_idx=0)
        self.word = nn.Embedding(words, sizes.words, padding_idx=0)
        middle = sizes.width // 2
        size = sizes.convolution
        self.near = nn.Conv1d(sizes.characters, size, sizes.width, padding=middle)
        self.wider = nn.Conv1d(size, size, sizes.width, padding=middle)
        self.ahead = nn.LSTM(2 * size + sizes.words, sizes.lstm, batch_first=True)
        self.back = nn.LSTM(2 * size + sizes.words, sizes.lstm, batch_first=True)
        self.from_units = nn.Linear(2 * sizes.lstm, size)
        self.token = nn.Linear(size, 3)
        self.hidden = nn.Linear(2 * sizes.lstm, size)
        self.sentence = nn.Linear(size, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Gives (texts, characters, 3) and (texts, units)."""
        there = batch.characters.ne(0)[:, None]
        x = self.embedding(batch.characters) + self.category(batch.categories)
        x = x.transpose(1, 2)
        x = torch.relu(self.near(x)) * there  # or padding would show in the next convolution
        x = (x + torch.relu(self.wider(x)) * there).transpose(1, 2)

        row = torch.arange(len(x))[:, None]
        word = self.word(batch.words)
        units = self._dropped(torch.cat([x[row, batch.first], x[row, batch.last], word], -1))
        units = self._dropped(both_directions(self.ahead, self.back, units, batch.units))

        scores = torch.relu(self._dropped(x) + self.from_units(units)[row, batch.unit_of])
        tokens: Tensor = self.token(scores)
        sentences: Tensor = self.sentence(torch.relu(self.hidden(units)))
        return tokens, sentences.squeeze(-1)

    def _dropped(self, x: Tensor) -> Tensor:
        """Dropout with one mask a text, which is quick to draw."""
        dropped: Tensor = x * self.dropout(x.new_ones(len(x), 1, x.shape[2]))
        return dropped if self.training else x


def padded(texts: Sequence[Encoded]) -> Batch:
    """Texts of one batch, each of at least one unit, as tensors.

    There may be more rows and columns than needed: oneDNN keeps a program and its memory for each
    shape that it has met, so there should be few.
    """
    rows = 1 << (len(texts) - 1).bit_length()
    longest = _rounded(max(len(text.characters) for text in texts))
    most = _rounded(max(len(text.first) for text in texts))
    wide = torch.zeros(3, rows, longest, dtype=torch.long)
    units = torch.zeros(3, rows, most, dtype=torch.long)
    counts = torch.zeros(rows, dtype=torch.long)
    for row, text in enumerate(texts):
        n, m = len(text.characters), len(text.first)
        wide[0, row, :n] = torch.from_numpy(text.characters)
        wide[1, row, :n] = torch.from_numpy(text.categories)
        wide[2, row].index_fill_(0, torch.from_numpy(text.first[1:]), 1)
        units[0, row, :m] = torch.from_numpy(text.first)
        units[1, row, :m] = torch.from_numpy(text.last)
        units[2, row, :m] = torch.from_numpy(text.words)
        counts[row] = m
    return Batch(wide[0], wide[1], wide[2].cumsum(1), units[0], units[1], units[2], counts)


def _rounded(length: int) -> int:
    """The length or somewhat more, of four lengths for each power of two."""
    step = 1 << max(3, (length - 1).bit_length() - 3)
    return -(-length // step) * step
