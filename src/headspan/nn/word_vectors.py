"""Vectors of words from an encoder, embeddings, characters and tags: the first layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from headspan.config import ModelConfig
from headspan.nn.layers import CharacterEncoder, SharedDropout
from headspan.nn.pretrained import PretrainedEncoder
from headspan.nn.subwords import Subwords
from headspan.plumbing.errors import HeadspanError

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class VocabularySizes:
    """The sizes of a model's vocabularies, each with its reserved numbers."""

    labels: int
    words: int
    characters: int
    columns: tuple[int, ...]
    """Tags of each column that is read."""
    tags: tuple[int, ...]
    """Tags of each column that is predicted."""
    reserved: int
    """The count of numbers at the start of each vocabulary that are not predicted."""
    root_labels: tuple[int, ...] = ()
    """The numbers of the labels that only the root has; if there are any, it has no others."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """A batch of B sentences as numbers, in a grid of width N + 2; 0 is padding."""

    lengths: Tensor
    """Words of each sentence, (B,), on the CPU."""
    subwords: Subwords | None
    words: Tensor | None
    """Numbers of words in the grid, (B, N+2)."""
    characters: Tensor | None
    """Characters of the distinct words of the batch, (words, longest)."""
    spelled: Tensor | None
    """The row of `characters` that each word is, (B, N+2); 0 is none."""
    tags: Tensor | None
    """Numbers of tags, (columns, B, N+2)."""


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
        for name, vectors, known in (
            ("words", e.words, sizes.words),
            ("characters", e.characters, sizes.characters),
        ):
            if vectors and known <= sizes.reserved:
                raise HeadspanError(
                    f"the model has embeddings of {name}, but its vocabulary is empty"
                )
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
        if not size:
            raise HeadspanError("the model has no inputs: give it an encoder or embeddings")
        self.size = size
        self.ends = nn.Parameter(torch.zeros(2, size - (encoder.size if encoder else 0)))
        nn.init.normal_(self.ends, std=0.1)
        self.dropout = SharedDropout(model.dropout)

    def forward(self, inputs: Inputs) -> Tensor:
        """Vectors in the grid, (B, N+2, size)."""
        device = self.ends.device
        sentences, width = len(inputs.lengths), int(inputs.lengths.max()) + 2
        learned = []
        if self.words is not None and inputs.words is not None:
            learned.append(self.words(inputs.words.to(device)))
        if self.characters is not None and inputs.characters is not None:
            vectors = self.characters(inputs.characters.to(device))
            learned.append(functional.embedding(_present(inputs.spelled).to(device), vectors))
        if inputs.tags is not None:
            learned.extend(
                layer(numbers.to(device))
                for layer, numbers in zip(self.tags, inputs.tags, strict=True)
            )
        parts = []
        if self.encoder is not None:
            parts.append(self.encoder(_present(inputs.subwords), sentences, width))
        if learned:
            grid = torch.cat(learned, -1)
            rows = torch.arange(sentences, device=device)
            grid[:, 0] = self.ends[0]
            grid[rows, inputs.lengths.to(device) + 1] = self.ends[1]
            parts.append(grid)
        dropped: Tensor = self.dropout(torch.cat(parts, -1))
        return dropped


def _present(value: _T | None) -> _T:
    """An input that must be there because the model needs it."""
    if value is None:
        raise HeadspanError("the batch was prepared for another model")
    return value
