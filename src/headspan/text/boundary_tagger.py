"""The boundary tagger: a network from characters to scores of token and sentence ends.

Convolutions over characters see a word and its surroundings; a BiLSTM over units (runs of letters
and digits, other characters one by one) sees the paragraph. A unit has several characters, so the
recurrent part, which is the slow one, takes few steps and still reaches far.
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
    """Encoded texts, padded: (texts, characters) and (texts, units)."""

    characters: Tensor
    categories: Tensor
    unit_of: Tensor
    """The unit of each character; for a space, the unit before it."""
    first: Tensor
    last: Tensor
    words: Tensor
    units: Tensor
    """The number of units of each text."""


class BoundaryTagger(nn.Module):
    """Scores of the classes of each character, and of a sentence end at each unit."""

    def __init__(
        self, characters: int, words: int, sizes: SegmenterSizes, *, dropout: float = 0.0
    ) -> None:
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

    def forward(self, batch: CharacterBatch) -> tuple[Tensor, Tensor]:
        """The scores, of shapes (texts, characters, 3) and (texts, units)."""
        present = batch.characters.ne(0)[:, None]
        x = self.embedding(batch.characters) + self.category(batch.categories)
        x = x.transpose(1, 2)
        x = torch.relu(self.near(x)) * present  # keeps padding out of the next convolution
        x = (x + torch.relu(self.wider(x)) * present).transpose(1, 2)

        row = torch.arange(len(x))[:, None]
        word = self.word(batch.words)
        units = self._dropped(torch.cat([x[row, batch.first], x[row, batch.last], word], -1))
        units = self._dropped(both_directions(self.ahead, self.back, units, batch.units))

        scores = torch.relu(self._dropped(x) + self.from_units(units)[row, batch.unit_of])
        tokens: Tensor = self.token(scores)
        sentences: Tensor = self.sentence(torch.relu(self.hidden(units)))
        return tokens, sentences.squeeze(-1)

    def _dropped(self, x: Tensor) -> Tensor:
        """Dropout with one mask per text, which is quick to draw."""
        dropped: Tensor = x * self.dropout(x.new_ones(len(x), 1, x.shape[2]))
        return dropped if self.training else x


def padded(texts: Sequence[EncodedText]) -> CharacterBatch:
    """The tensors of a batch of texts, each of which has at least one unit.

    There may be more rows and columns than the texts need: oneDNN keeps a program and its memory
    for every shape it has seen, so shapes should be few.
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
    return CharacterBatch(wide[0], wide[1], wide[2].cumsum(1), units[0], units[1], units[2], counts)


def _rounded(length: int) -> int:
    """Round a length up to one of four lengths per power of two."""
    step = 1 << max(3, (length - 1).bit_length() - 3)
    return -(-length // step) * step
