"""What goes into the network: vectors of words from an encoder, embeddings and tags."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from headspan.config import Model
from headspan.conllu import Sentence
from headspan.model.vocabulary import UNKNOWN, Vocabulary
from headspan.nn.layers import CharacterEncoder, SharedDropout
from headspan.nn.pretrained import PretrainedEncoder
from headspan.nn.subwords import Subwords, SubwordTokenizer
from headspan.plumbing.errors import HeadspanError, shown

_T = TypeVar("_T")
_UNWRITABLE = re.compile("[\\t\\n\\0\\ud800-\\udfff]")
_LONGEST_WORD = 40  # characters; of a longer word the first and last count


@dataclass(frozen=True)
class Vocabularies:
    """Names that the network has numbers for."""

    labels: Vocabulary
    words: Vocabulary
    characters: Vocabulary
    columns: dict[str, Vocabulary]
    """Of the tags that go in, by column."""
    tags: dict[str, Vocabulary]
    """Of the tags that are predicted, by column."""

    @classmethod
    def count(cls, sentences: Sequence[Sentence], model: Model) -> Vocabularies:
        """Those of a treebank that the model asks for."""
        e = model.embeddings
        forms = [form for sentence in sentences for form in sentence.forms]
        return cls(
            labels=Vocabulary.count(r for s in sentences for r in s.deprels),
            words=Vocabulary.count(forms if e.words else [], min_count=e.min_count),
            characters=Vocabulary.count(
                c for form in (forms if e.characters else []) for c in form
            ),
            columns=_tags(sentences, e.columns),
            tags=_tags(sentences, model.tagger.columns),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "labels": self.labels.to_json(),
            "words": self.words.to_json(),
            "characters": self.characters.to_json(),
            "columns": {name: v.to_json() for name, v in self.columns.items()},
            "tags": {name: v.to_json() for name, v in self.tags.items()},
        }

    @classmethod
    def from_json(cls, data: Any) -> Vocabularies:
        try:
            return cls(
                labels=Vocabulary.from_json(data["labels"], "labels"),
                words=Vocabulary.from_json(data["words"], "words"),
                characters=Vocabulary.from_json(data["characters"], "characters"),
                columns={n: Vocabulary.from_json(v, n) for n, v in data["columns"].items()},
                tags={n: Vocabulary.from_json(v, n) for n, v in data.get("tags", {}).items()},
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise HeadspanError(f"the vocabularies are not complete: {error!r}") from error

    def check(self, model: Model) -> None:
        """Raise HeadspanError unless these are the vocabularies that the model asks for."""
        e = model.embeddings
        for what, found, wanted in (
            ("read", self.columns, e.columns),
            ("predicted", self.tags, model.tagger.columns),
        ):
            if tuple(found) != wanted:
                names, others = ", ".join(found) or "none", ", ".join(wanted) or "none"
                raise HeadspanError(
                    f"the vocabularies of columns that are {what} are {shown(names)}; "
                    f"expected {others}"
                )
        for what, written in (("labels", self.labels), *self.tags.items()):
            if not written.names:
                raise HeadspanError(f"the vocabulary of {what} is empty")
            for name in written.names:
                if _UNWRITABLE.search(name):
                    raise HeadspanError(f"{what} has {shown(name)}, which no file can hold")


def _tags(sentences: Sequence[Sentence], columns: Sequence[str]) -> dict[str, Vocabulary]:
    return {
        column: Vocabulary.count(tag for s in sentences for tag in getattr(s, column))
        for column in columns
    }


@dataclass(frozen=True, slots=True)
class Inputs:
    """A batch of B sentences, ready for the network, in a grid of width N + 2."""

    lengths: Tensor
    """Words of each sentence, (B,), on the CPU."""
    subwords: Subwords | None
    words: Tensor | None
    """Numbers of words in the grid, (B, N+2)."""
    characters: Tensor | None
    """Characters of the distinct words of the batch, (words, longest)."""
    spelled: Tensor | None
    """Which of these each word is, (B, N+2); 0 is none."""
    tags: Tensor | None
    """Numbers of tags, (columns, B, N+2)."""


def prepare(
    sentences: Sequence[Sentence],
    vocabularies: Vocabularies,
    tokenizer: SubwordTokenizer | None,
    *,
    hide: float = 0.0,
) -> Inputs:
    """Turn sentences into numbers; hide so large a share of the words, for training."""
    width = max(len(s) for s in sentences) + 2
    hidden = torch.rand(len(sentences), width) < hide if hide else None
    words = characters = spelled = tags = None
    if vocabularies.words.names:
        words = _grid([vocabularies.words.numbers(s.forms) for s in sentences], width)
        if hidden is not None:
            words[hidden & words.ne(0)] = UNKNOWN
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
        tokenizer.encode([s.forms for s in sentences], width, hidden) if tokenizer else None,
        words,
        characters,
        spelled,
        tags,
    )


def _grid(rows: list[list[int]], width: int) -> Tensor:
    return _padded([[0, *row] for row in rows], width)


def _characters(forms: list[str], vocabulary: Vocabulary) -> Tensor:
    half = _LONGEST_WORD // 2
    short = [f if len(f) <= _LONGEST_WORD else f[:half] + f[-half:] for f in forms]
    longest = max(max(map(len, short)), 1)
    grid = _padded([vocabulary.numbers(form) for form in short], longest)
    grid[:, 0].clamp_(min=1)  # a word without characters has an unknown one
    return grid


def _padded(rows: list[list[int]], width: int) -> Tensor:
    """Rows of numbers as one tensor, 0 behind their ends."""
    return torch.tensor([row + [0] * (width - len(row)) for row in rows])


class WordInputs(nn.Module):
    """The embedding layer: e_0 … e_{n+1} of every sentence, with shared dropout."""

    def __init__(
        self, model: Model, vocabularies: Vocabularies, encoder: PretrainedEncoder | None
    ) -> None:
        super().__init__()
        e = model.embeddings
        self.encoder = encoder
        self.words = self.characters = None
        size = encoder.size if encoder else 0
        for name, vectors, vocabulary in (
            ("words", e.words, vocabularies.words),
            ("characters", e.characters, vocabularies.characters),
        ):
            if vectors and not vocabulary.names:
                raise HeadspanError(f"the model learns vectors of {name}, but knows none")
        if e.words:
            self.words = nn.Embedding(len(vocabularies.words), e.words, padding_idx=0)
            size += e.words
        if e.characters:
            self.characters = CharacterEncoder(len(vocabularies.characters), e.characters)
            size += e.characters
        self.tags = nn.ModuleList(
            nn.Embedding(len(v), e.tags, padding_idx=0) for v in vocabularies.columns.values()
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
            learned.append(functional.embedding(_there(inputs.spelled).to(device), vectors))
        if inputs.tags is not None:
            learned.extend(
                layer(numbers.to(device))
                for layer, numbers in zip(self.tags, inputs.tags, strict=True)
            )
        parts = []
        if self.encoder is not None:
            parts.append(self.encoder(_there(inputs.subwords), sentences, width))
        if learned:
            grid = torch.cat(learned, -1)
            rows = torch.arange(sentences, device=device)
            grid[:, 0] = self.ends[0]
            grid[rows, inputs.lengths.to(device) + 1] = self.ends[1]
            parts.append(grid)
        dropped: Tensor = self.dropout(torch.cat(parts, -1))
        return dropped


def _there(value: _T | None) -> _T:
    """What `prepare` has put in because the model asks for it."""
    if value is None:
        raise HeadspanError("the batch was prepared for another model")
    return value
