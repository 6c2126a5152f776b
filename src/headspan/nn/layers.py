"""Small parts of the network."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class SharedDropout(nn.Module):
    """Dropout whose mask is drawn once per sentence and shared by all its positions."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def mask(self, sentences: int, size: int, like: Tensor) -> Tensor | None:
        """One mask per sentence, (B, size), to multiply with; None when nothing is dropped."""
        if not self.training or not self.rate:
            return None
        keep = 1 - self.rate
        return like.new_empty(sentences, size).bernoulli_(keep).div_(keep)

    def forward(self, x: Tensor) -> Tensor:
        """x: (B, N, D)."""
        mask = self.mask(x.shape[0], x.shape[2], x)
        return x if mask is None else x * mask[:, None]


class Projection(nn.Module):
    """One layer of a multi-layer perceptron: linear, LeakyReLU; initialised orthogonally."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        nn.init.orthogonal_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        return activation(self.linear(x))


def activation(x: Tensor) -> Tensor:
    """LeakyReLU with slope 0.1, as in deep biaffine parsers."""
    return nn.functional.leaky_relu(x, 0.1)


def with_one(x: Tensor) -> Tensor:
    """[x; 1] along the last axis."""
    return torch.cat([x, x.new_ones(*x.shape[:-1], 1)], -1)


class BiLSTM(nn.Module):
    """Bidirectional LSTM layers, torch's fused ones, with shared dropout after each."""

    def __init__(self, inputs: int, size: int, layers: int, dropout: float) -> None:
        super().__init__()
        sizes = [inputs] + [2 * size] * (layers - 1)
        self.ahead, self.back = (
            nn.ModuleList(nn.LSTM(width, size, batch_first=True) for width in sizes[:layers])
            for _ in range(2)
        )
        for name, parameter in self.named_parameters():
            if "weight" in name:
                nn.init.orthogonal_(parameter)
            else:
                nn.init.zeros_(parameter)
        self.dropout = SharedDropout(dropout)

    def forward(self, x: Tensor, lengths: Tensor) -> list[Tensor]:
        """The input and the outputs of each layer, (B, N, 2·size), forward half first.

        x: (B, N, D), lengths: (B,).
        """
        states = [x]
        for ahead, back in zip(self.ahead, self.back, strict=True):
            states.append(self.dropout(both_directions(ahead, back, states[-1], lengths)))
        return states


def both_directions(ahead: nn.Module, back: nn.Module, x: Tensor, lengths: Tensor) -> Tensor:
    """The outputs of two LSTMs, (B, N, 2·size), the second of which reads sequences backwards.

    x: (B, N, D), padded; lengths: (B,). Each sequence is reversed in its place: on a CPU, training
    is twice as fast as with torch's packed sequences.
    """
    n = lengths.to(x.device)[:, None]
    position = torch.arange(x.shape[1], device=x.device)
    reversed_position = torch.where(position < n, n - 1 - position, position)
    row = torch.arange(len(n), device=x.device)[:, None]
    backwards = back(x[row, reversed_position])[0][row, reversed_position]
    return torch.cat([ahead(x)[0], backwards], -1)


class CharacterEncoder(nn.Module):
    """A word's vector from its characters: embeddings, a convolution, the maximum over them."""

    WIDTH = 3

    def __init__(self, characters: int, size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, 32, padding_idx=0)
        self.convolution = nn.Conv1d(32, size, self.WIDTH, padding=self.WIDTH // 2)

    def forward(self, characters: Tensor) -> Tensor:
        """characters: (words, longest), 0 for padding. Returns (words, size)."""
        present = characters.ne(0)
        x = self.convolution(self.embedding(characters).transpose(1, 2))
        x = x.masked_fill(~present[:, None], torch.finfo(x.dtype).min)
        return activation(x.amax(2))
