"""Vectors of words from an encoder, embeddings, characters and tags: the first layer."""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from headspan.config import ModelConfig
from headspan.nn.layers import CharacterEncoder, SharedDropout
from headspan.nn.pretrained import PretrainedEncoder
from headspan.nn.refinement import PriorTrees
from headspan.plumbing.errors import HeadspanError
from headspan.runtime.inputs import Inputs, VocabularySizes

_T = TypeVar("_T")


class WordVectors(nn.Module):
    """The embedding layer: e_0 … e_{n+1} of every sentence, with shared dropout."""

    def __init__(
        self, model: ModelConfig, sizes: VocabularySizes, encoder: PretrainedEncoder | None
    ) -> None:
        super().__init__()
        e = model.embeddings
        self.encoder = encoder
        self.words = self.characters = None
        size = encoder.size if encoder else 0
        if e.words:
            self.words = nn.Embedding(sizes.words, e.words, padding_idx=0)
            size += e.words
        if e.characters:
            self.characters = CharacterEncoder(sizes.characters, e.characters)
            size += e.characters
        self.tags = nn.ModuleList(
            nn.Embedding(tags, e.tags, padding_idx=0) for tags in sizes.columns
        )
        size += e.tags * len(self.tags)
        self.size = size
        self.ends = nn.Parameter(torch.zeros(2, size - (encoder.size if encoder else 0)))
        nn.init.normal_(self.ends, std=0.1)
        self.dropout = SharedDropout(model.dropout)

    def forward(self, inputs: Inputs, prior: PriorTrees | None = None) -> Tensor:
        """Vectors in the grid, (B, N+2, size). prior: trees that the encoder reads, if it does."""
        device = self.ends.device

        def tensor(numbers: NDArray[Any] | None) -> Tensor:
            return torch.from_numpy(_present(numbers)).to(device)

        sentences = len(inputs.lengths)
        learned = []
        if self.words is not None:
            learned.append(self.words(tensor(inputs.words)))
        if self.characters is not None:
            vectors = self.characters(tensor(inputs.characters))
            learned.append(functional.embedding(tensor(inputs.spelled), vectors))
        if self.tags:
            learned.extend(
                layer(numbers)
                for layer, numbers in zip(self.tags, tensor(inputs.tags), strict=True)
            )
        parts = []
        if self.encoder is not None:
            parts.append(self.encoder(_present(inputs.subwords), sentences, inputs.width, prior))
        if learned:
            grid = torch.cat(learned, -1)
            rows = torch.arange(sentences, device=device)
            grid[:, 0] = self.ends[0]
            grid[rows, tensor(inputs.lengths) + 1] = self.ends[1]
            parts.append(grid)
        dropped: Tensor = self.dropout(torch.cat(parts, -1))
        return dropped


def _present(value: _T | None) -> _T:
    """An input that must be there because the model needs it."""
    if value is None:
        raise HeadspanError("the batch was prepared for another model")
    return value
