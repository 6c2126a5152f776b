"""A batch of sentences as numbers: what a network takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headspan.config import ModelConfig
from headspan.plumbing.errors import HeadspanError

_MOST_LAYERS, _MOST_REFINEMENTS = 100, 10
Numbers = NDArray[np.int64]


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
class Subwords:
    """The subwords of a batch of sentences, in windows, and the words that they belong to."""

    ids: Numbers
    """(windows, longest), padded."""
    lengths: Numbers
    """(windows,)"""
    pieces: Numbers
    """The positions, in the flattened ids, of the subwords of all words."""
    owners: Numbers
    """For each of them the position of its word in a flattened (B, N+2), where a sentence has <bos>
    at 0 and <eos> at n+1."""

    def sentences(self, rows: Numbers, width: int, new_width: int) -> Subwords:
        """Those of some sentences of the batch. width: N + 2, and what it will be."""
        place = np.full(int(self.owners.max()) // width + 1, -1)
        place[rows] = np.arange(len(rows))
        b, word = np.divmod(self.owners, width)
        kept = place[b] >= 0
        window, position = np.divmod(self.pieces[kept], self.ids.shape[1])
        windows, row = np.unique(window, return_inverse=True)
        lengths = self.lengths[windows]
        longest = int(lengths.max())
        return Subwords(
            self.ids[windows, :longest],
            lengths,
            row * longest + position,
            place[b[kept]] * new_width + word[kept],
        )


@dataclass(frozen=True, slots=True)
class Inputs:
    """A batch of B sentences as numbers, in a grid of width N + 2; 0 is padding."""

    lengths: Numbers
    """Words of each sentence, (B,)."""
    subwords: Subwords | None
    words: Numbers | None
    """Numbers of words in the grid, (B, N+2)."""
    characters: Numbers | None
    """Characters of the distinct words of the batch, (words, longest)."""
    spelled: Numbers | None
    """The row of `characters` that each word is, (B, N+2); 0 is none."""
    tags: Numbers | None
    """Numbers of tags, (columns, B, N+2)."""

    @property
    def width(self) -> int:
        """N + 2."""
        return int(self.lengths.max()) + 2

    def sentences(self, rows: Numbers) -> Inputs:
        """Some sentences of the batch, in a grid of their own width."""
        lengths = self.lengths[rows]
        width = int(lengths.max()) + 2
        return Inputs(
            lengths,
            None if self.subwords is None else self.subwords.sentences(rows, self.width, width),
            None if self.words is None else self.words[rows, :width],
            self.characters,
            None if self.spelled is None else self.spelled[rows, :width],
            None if self.tags is None else self.tags[:, rows, :width],
        )


def check_model(model: ModelConfig, sizes: VocabularySizes, has_encoder: bool) -> None:
    """Raise HeadspanError if the parts of a network contradict each other."""
    e = model.embeddings
    for name, vectors, known in (
        ("words", e.words, sizes.words),
        ("characters", e.characters, sizes.characters),
    ):
        if vectors and known <= sizes.reserved:
            raise HeadspanError(f"the model has embeddings of {name}, but its vocabulary is empty")
    if model.refinements:
        _check_refinements(model, has_encoder)
    if not (has_encoder or e.words or e.characters or (e.tags and sizes.columns)):
        raise HeadspanError("the model has no inputs: give it an encoder or embeddings")
    for column in set(model.tagger.columns) & set(e.columns):
        raise HeadspanError(f"the column {column} is either read or predicted, not both")
    if model.tagger.columns and not 0 <= model.tagger.layer <= model.lstm_layers:
        raise HeadspanError(
            f"model.tagger.layer is {model.tagger.layer}; expected 0 to {model.lstm_layers}, the "
            "number of layers"
        )
    if model.tagger.layer and model.tagger.as_input:
        raise HeadspanError("the parser can see predicted tags only if model.tagger.layer is 0")
    if model.lstm_layers > _MOST_LAYERS:
        raise HeadspanError(
            f"model.lstm_layers is {model.lstm_layers}; expected {_MOST_LAYERS} at most"
        )


def _check_refinements(model: ModelConfig, has_encoder: bool) -> None:
    """Raise HeadspanError if there is nothing that could read trees, or learn to."""
    said = f"model.refinements is {model.refinements}"
    if not has_encoder:
        raise HeadspanError(f"{said}, but the model has no encoder, which would read the trees")
    if model.encoder.fine_tuned == "none":
        raise HeadspanError(
            f"{said}, but model.encoder.fine_tuned is 'none', so the encoder would never learn to "
            "read trees; expected all or layers"
        )
    if model.refinements > _MOST_REFINEMENTS:
        raise HeadspanError(f"{said}; expected {_MOST_REFINEMENTS} at most")


def check_subwords(subwords: Subwords, known: int) -> None:
    """Raise HeadspanError if a subword is not among those that the encoder knows."""
    highest = int(subwords.ids.max())
    if highest >= known:
        raise HeadspanError(
            f"the tokenizer has the subword number {highest}; the encoder has {known} subwords"
        )
