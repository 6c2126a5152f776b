"""Sentences into the numbers that the network takes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from headspan.conllu import Sentence
from headspan.model.vocabularies import Vocabularies
from headspan.nn.subwords import SubwordTokenizer
from headspan.nn.word_vectors import Inputs
from headspan.vocabulary import PAD, UNKNOWN, Vocabulary

_LONGEST_WORD = 40  # characters; of a longer word, the first and the last ones count


def prepare(
    sentences: Sequence[Sentence],
    vocabularies: Vocabularies,
    tokenizer: SubwordTokenizer | None,
    *,
    word_dropout: float = 0.0,
) -> Inputs:
    """A batch of sentences as numbers.

    word_dropout: the share of words that are masked, for training.
    """
    width = max(len(s) for s in sentences) + 2
    masked = torch.rand(len(sentences), width) < word_dropout if word_dropout else None
    words = characters = spelled = tags = None
    if vocabularies.words.names:
        words = _grid([vocabularies.words.numbers(s.forms) for s in sentences], width)
        if masked is not None:
            words[masked & words.ne(PAD)] = UNKNOWN
    if vocabularies.characters.names:
        distinct: dict[str, int] = {}
        spelled = _grid(
            [[distinct.setdefault(f, len(distinct) + 1) for f in s.forms] for s in sentences], width
        )
        characters = _characters(["", *distinct], vocabularies.characters)
    if vocabularies.columns:
        tags = torch.stack([
            _grid([vocabulary.numbers(getattr(s, column)) for s in sentences], width)
            for column, vocabulary in vocabularies.columns.items()
        ])  # fmt: skip
    return Inputs(
        torch.tensor([len(s) for s in sentences]),
        tokenizer.encode([s.forms for s in sentences], width, masked) if tokenizer else None,
        words,
        characters,
        spelled,
        tags,
    )


def _grid(rows: list[list[int]], width: int) -> Tensor:
    """Numbers of words from column 1 on: column 0 is <bos>."""
    return _padded([[PAD, *row] for row in rows], width)


def _characters(forms: list[str], vocabulary: Vocabulary) -> Tensor:
    half = _LONGEST_WORD // 2
    short = [f if len(f) <= _LONGEST_WORD else f[:half] + f[-half:] for f in forms]
    longest = max(max(map(len, short)), 1)
    grid = _padded([vocabulary.numbers(form) for form in short], longest)
    grid[:, 0].clamp_(min=UNKNOWN)  # a word without characters has an unknown one
    return grid


def _padded(rows: list[list[int]], width: int) -> Tensor:
    return torch.tensor([row + [PAD] * (width - len(row)) for row in rows])
