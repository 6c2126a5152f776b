"""All names that a model knows: labels, tags, words and characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headspan.config import ModelConfig
from headspan.conllu import Sentence
from headspan.lemmas import Lemmatizer
from headspan.plumbing.errors import HeadspanError, shown
from headspan.pseudoprojective import relation
from headspan.runtime.inputs import VocabularySizes
from headspan.treebank_conventions import is_root_relation
from headspan.vocabulary import RESERVED, Vocabulary

LEMMAS = "lemmas"
"""The column whose tags are not its values but scripts that make them."""
_SILVER_COUNT = 5  # of a word in silver sentences, from which its embedding is learned
_UNWRITABLE = re.compile("[\\t\\n\\0\\ud800-\\udfff]")


@dataclass(frozen=True)
class Vocabularies:
    """The names for which a network has numbers."""

    labels: Vocabulary
    words: Vocabulary
    characters: Vocabulary
    columns: dict[str, Vocabulary]
    """Tags that the network reads, by column."""
    tags: dict[str, Vocabulary]
    """Tags that the network predicts, by column; of lemmas, their scripts."""
    lemmatizer: Lemmatizer | None = None
    """From scripts to lemmas, if the network predicts them."""

    @classmethod
    def count(
        cls, sentences: Sequence[Sentence], model: ModelConfig, *, silver: Sequence[Sentence] = ()
    ) -> Vocabularies:
        """The vocabularies of a treebank that a model needs.

        silver: sentences whose frequent words are known as well.
        """
        e = model.embeddings
        forms = [form for sentence in sentences for form in sentence.forms]
        tags = _tags(sentences, [c for c in model.tagger.columns if c != LEMMAS])
        lemmatizer = None
        if LEMMAS in model.tagger.columns:
            tagged = "upos" in {*model.tagger.columns, *e.columns}
            scripts, lemmatizer = Lemmatizer.learn(_words(sentences, tagged=tagged))
            tags[LEMMAS] = Vocabulary(scripts)
        return cls(
            labels=Vocabulary.count(r for s in sentences for r in s.deprels),
            words=_known_words(forms, silver, e.min_count) if e.words else Vocabulary(()),
            characters=Vocabulary.count(
                c for form in (forms if e.characters else []) for c in form
            ),
            columns=_tags(sentences, e.columns),
            tags={column: tags[column] for column in model.tagger.columns},
            lemmatizer=lemmatizer,
        )

    def gold_tags(self, column: str, sentence: Sentence) -> list[int]:
        """The numbers of a sentence's tags to learn; −1 for a lemma that no script makes."""
        if column != LEMMAS or self.lemmatizer is None:
            return self.tags[column].numbers(getattr(sentence, column))
        ranks = map(self.lemmatizer.rank, sentence.forms, sentence.lemmas)
        return [-1 if rank < 0 else rank + RESERVED for rank in ranks]

    def predicted(
        self, sentence: Sentence, numbers: Mapping[str, Iterable[int]]
    ) -> dict[str, list[str]]:
        """The columns of a sentence for which numbers of tags were predicted."""
        columns = {name: self.tags[name].names_of(found) for name, found in numbers.items()}
        if LEMMAS in columns and self.lemmatizer is not None:
            upos = columns.get("upos", sentence.upos)
            columns[LEMMAS] = self.lemmatizer.lemmas(sentence.forms, upos, columns[LEMMAS])
        return columns

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations of trees; labels can encode crossing arcs besides."""
        return tuple(dict.fromkeys(map(relation, self.labels.names)))

    def sizes(self) -> VocabularySizes:
        """The numbers that a network is built from."""
        return VocabularySizes(
            labels=len(self.labels),
            words=len(self.words),
            characters=len(self.characters),
            columns=tuple(map(len, self.columns.values())),
            tags=tuple(map(len, self.tags.values())),
            reserved=RESERVED,
            root_labels=tuple(
                self.labels.number(name)
                for name in self.labels.names
                if is_root_relation(relation(name))
            ),
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
    def from_json(cls, data: Any, model: ModelConfig, lemmas: Any = None) -> Vocabularies:
        """Vocabularies from the output of `to_json`, and that of the lemmatizer if there is one.

        Raises HeadspanError unless they are the ones that the model needs.
        """
        try:
            vocabularies = cls(
                labels=Vocabulary.from_json(data["labels"], "labels"),
                words=Vocabulary.from_json(data["words"], "words"),
                characters=Vocabulary.from_json(data["characters"], "characters"),
                columns={n: Vocabulary.from_json(v, n) for n, v in data["columns"].items()},
                tags={n: Vocabulary.from_json(v, n) for n, v in data.get("tags", {}).items()},
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise HeadspanError(f"the vocabularies are not complete: {error!r}") from error
        vocabularies._check(model)
        if LEMMAS not in model.tagger.columns:
            return vocabularies
        scripts = vocabularies.tags[LEMMAS].names
        return replace(vocabularies, lemmatizer=Lemmatizer.from_json(lemmas, scripts))

    def _check(self, model: ModelConfig) -> None:
        for what, columns, expected in (
            ("read", self.columns, model.embeddings.columns),
            ("predicted", self.tags, model.tagger.columns),
        ):
            if tuple(columns) != expected:
                raise HeadspanError(
                    f"the vocabularies of columns that are {what} are "
                    f"{shown(', '.join(columns) or 'none')}; "
                    f"expected {', '.join(expected) or 'none'}"
                )
        for what, vocabulary in (("labels", self.labels), *self.tags.items()):
            if not vocabulary.names:
                raise HeadspanError(f"the vocabulary of {what} is empty")
            for name in vocabulary.names:
                if _UNWRITABLE.search(name):
                    raise HeadspanError(f"{what} has {shown(name)}, which no file can hold")


def _known_words(forms: list[str], silver: Sequence[Sentence], min_count: int) -> Vocabulary:
    """The words of a treebank, and those that are frequent in silver sentences."""
    words = Vocabulary.count(forms, min_count=min_count)
    more = Vocabulary.count((form for s in silver for form in s.forms), min_count=_SILVER_COUNT)
    return Vocabulary((*words.names, *(name for name in more.names if name not in words)))


def _tags(sentences: Sequence[Sentence], columns: Sequence[str]) -> dict[str, Vocabulary]:
    return {
        column: Vocabulary.count(tag for s in sentences for tag in getattr(s, column))
        for column in columns
    }


def _words(sentences: Sequence[Sentence], *, tagged: bool) -> Iterator[tuple[str, str, str]]:
    """The words as form, lemma and UPOS, or `_` instead of it."""
    for sentence in sentences:
        upos = sentence.upos if tagged else ["_"] * len(sentence)
        yield from zip(sentence.forms, sentence.lemmas, upos, strict=True)
