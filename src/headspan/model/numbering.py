"""Sentences into the numbers that the network takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headspan.conllu import Sentence
from headspan.model.vocabularies import Vocabularies
from headspan.runtime.inputs import Inputs, Numbers
from headspan.runtime.subwords import SubwordTokenizer
from headspan.vocabulary import PAD, UNKNOWN, Vocabulary

_LONGEST_WORD = 40  # characters; of a longer word, the first and the last ones count


def prepare(
    sentences: Sequence[Sentence],
    vocabularies: Vocabularies,
    tokenizer: SubwordTokenizer | None,
    *,
    masked: NDArray[np.bool_] | None = None,
) -> Inputs:
    """A batch of sentences as numbers.

    masked: for training, whether each word is masked, (B, N+2).
    """
    width = max(len(s) for s in sentences) + 2
    words = characters = spelled = tags = None
    if vocabularies.words.names:
        words = _grid([vocabularies.words.numbers(s.forms) for s in sentences], width)
        if masked is not None:
            words[masked & (words != PAD)] = UNKNOWN
    if vocabularies.characters.names:
        distinct: dict[str, int] = {}
        spelled = _grid(
            [[distinct.setdefault(f, len(distinct) + 1) for f in s.forms] for s in sentences], width
        )
        characters = _characters(["", *distinct], vocabularies.characters)
    if vocabularies.columns:
        tags = np.stack([
            _grid([vocabulary.numbers(getattr(s, column)) for s in sentences], width)
            for column, vocabulary in vocabularies.columns.items()
        ])  # fmt: skip
    return Inputs(
        np.array([len(s) for s in sentences], np.int64),
        tokenizer.encode([s.forms for s in sentences], width, masked) if tokenizer else None,
        words,
        characters,
        spelled,
        tags,
    )


def _grid(rows: list[list[int]], width: int) -> Numbers:
    """Numbers of words from column 1 on: column 0 is <bos>."""
    return _padded([[PAD, *row] for row in rows], width)


def _characters(forms: list[str], vocabulary: Vocabulary) -> Numbers:
    half = _LONGEST_WORD // 2
    short = [f if len(f) <= _LONGEST_WORD else f[:half] + f[-half:] for f in forms]
    longest = max(max(map(len, short)), 1)
    grid = _padded([vocabulary.numbers(form) for form in short], longest)
    grid[:, 0].clip(min=UNKNOWN, out=grid[:, 0])  # a word without characters has an unknown one
    return grid


def _padded(rows: list[list[int]], width: int) -> Numbers:
    return np.array([row + [PAD] * (width - len(row)) for row in rows], np.int64)
