"""Tags from the vectors of words, and back into vectors for the parser."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from headspan.nn.layers import Projection, SharedDropout


class Tagger(nn.Module):
    """Scores of the tags of several columns; with an embedding size, also vectors of the tags.

    The parser sees a word's tags as the mean of their embeddings, weighted by their
    probabilities: it learns from doubt as well, and gradients reach the tagger.

    tags: the size of each column's vocabulary.
    """

    def __init__(
        self,
        inputs: int,
        size: int,
        tags: Sequence[int],
        *,
        embedding: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.layer = Projection(inputs, size)
        self.scores = nn.ModuleList(nn.Linear(size, count) for count in tags)
        self.embeddings = nn.ModuleList(
            nn.Linear(count, embedding, bias=False) for count in tags if embedding
        )
        for parameter in self.embeddings.parameters():
            nn.init.normal_(parameter)  # as nn.Embedding does: the tags are one-hot, nearly
        self.size = embedding * len(self.embeddings)
        self.dropout = SharedDropout(dropout)

    def forward(self, x: Tensor) -> list[Tensor]:
        """x: (B, N+2, inputs). Returns the scores of each column, (B, N+2, numbers)."""
        hidden = self.dropout(self.layer(x))
        return [score(hidden) for score in self.scores]

    def embed(self, scores: Sequence[Tensor]) -> Tensor:
        """The tags as vectors, (B, N+2, self.size)."""
        parts = [
            table(column.softmax(-1)) for table, column in zip(self.embeddings, scores, strict=True)
        ]
        dropped: Tensor = self.dropout(torch.cat(parts, -1))
        return dropped


def tag_loss(scores: Sequence[Tensor], gold: Sequence[Tensor]) -> Tensor:
    """Cross-entropy, summed over words and columns. gold: (B, N) per column, −1 behind the ends."""
    losses = [
        functional.cross_entropy(
            column[:, 1:-1].transpose(1, 2),
            tags.to(column.device),
            ignore_index=-1,
            reduction="sum",
        )
        for column, tags in zip(scores, gold, strict=True)
    ]
    return torch.stack(losses).sum()
