"""The boundary tagger: a network from characters to scores of token and sentence ends.

Convolutions over characters see a word and its surroundings; a BiLSTM over units (runs of letters
and digits, other characters one by one) sees the paragraph. A unit has several characters, so the
recurrent part, which is the slow one, takes few steps and still reaches far.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from headspan.nn.layers import both_directions
from headspan.text.characters import CATEGORIES
from headspan.text.encoded_text import CLASSES, CharacterBatch, SegmenterSizes


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
        self.token = nn.Linear(size, CLASSES)
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

    @torch.inference_mode()
    def scores(self, batch: CharacterBatch) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The same, from arrays to arrays."""
        self.eval()
        tokens, sentences = self(as_tensors(batch))
        return tokens.numpy(), sentences.numpy()

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Its weights by their names."""
        return {name: tensor.numpy() for name, tensor in self.state_dict().items()}

    def _dropped(self, x: Tensor) -> Tensor:
        """Dropout with one mask per text, which is quick to draw."""
        dropped: Tensor = x * self.dropout(x.new_ones(len(x), 1, x.shape[2]))
        return dropped if self.training else x


def as_tensors(batch: CharacterBatch) -> CharacterBatch:
    """A batch of arrays as one of tensors."""
    return CharacterBatch(*map(torch.from_numpy, batch))
