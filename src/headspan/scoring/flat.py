"""A treebank as one sequence of words, so that two of them can be compared."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

from headspan.conllu import NO_HEAD, Sentence
from headspan.plumbing.errors import HeadspanError
from headspan.tree import TreeError, depths, subtree_spans

ROOT = -1
"""The position of the head of a root word."""


class ScoringError(HeadspanError):
    """Two treebanks that cannot be compared; the message says where they differ."""


@dataclass(slots=True)
class Flat:
    """The words of a treebank, numbered 0, 1, 2, … across all its sentences.

    The characters are those of the tokens without white space, numbered the same way.
    """

    name: str
    characters: str = ""
    sentences: list[Sentence] = field(default_factory=list)
    sentence_ranges: list[tuple[int, int]] = field(default_factory=list)
    """The characters of each sentence, as (start, end)."""
    token_ranges: list[tuple[int, int]] = field(default_factory=list)
    first_word: list[int] = field(default_factory=list)
    """The first word of each sentence."""
    ranges: list[tuple[int, int]] = field(default_factory=list)
    """The characters of each word; for words of a multiword token, those of the token."""
    in_multiword: list[bool] = field(default_factory=list)
    sentence_of: list[int] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    """The position of each word's head, ROOT for a root."""
    forms: list[str] = field(default_factory=list)
    lemmas: list[str] = field(default_factory=list)
    upos: list[str] = field(default_factory=list)
    xpos: list[str] = field(default_factory=list)
    feats: list[str] = field(default_factory=list)
    deprels: list[str] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    """The number of arcs between each word and its root word."""
    spans: list[tuple[int, int]] = field(default_factory=list)
    """The positions of the first and last word of each subtree."""

    def __len__(self) -> int:
        """The number of words."""
        return len(self.heads)

    def place(self, sentence: int) -> str:
        """Return the name of a sentence in messages."""
        name = self.sentences[sentence].sent_id
        return f"{self.name}, sentence {sentence + 1}" + (f" ({name})" if name else "")


def flatten(sentences: Iterable[Sentence], name: str) -> Flat:
    """Number a treebank's words. Raises ScoringError if a sentence is not a tree."""
    flat = Flat(name)
    pieces: list[str] = []
    position = 0
    for sentence in sentences:
        if not len(sentence):
            continue
        start = position
        flat.first_word.append(len(flat))
        flat.sentences.append(sentence)
        for token in sentence.surface_tokens:
            characters = without_spaces(token.form)
            if not characters:
                place = flat.place(len(flat.sentences) - 1)
                raise ScoringError(
                    f"{place}: word {token.first} has only spaces; expected characters"
                )
            token_range = (position, position + len(characters))
            pieces.append(characters)
            position += len(characters)
            flat.token_ranges.append(token_range)
            words = token.last - token.first + 1
            flat.ranges += [token_range] * words
        multiword = [False] * len(sentence)
        for first, last, _ in sentence.multiwords:
            multiword[first - 1 : last] = [True] * (last - first + 1)
        flat.in_multiword += multiword
        _append_annotation(flat, sentence)
        flat.sentence_ranges.append((start, position))
    flat.characters = "".join(pieces)
    return flat


def _append_annotation(flat: Flat, sentence: Sentence) -> None:
    index, offset = len(flat.sentences) - 1, len(flat)
    if NO_HEAD in sentence.heads:
        word = sentence.heads.index(NO_HEAD) + 1
        raise ScoringError(f"{flat.place(index)}: word {word} has no head")
    try:
        flat.depths += depths(sentence.heads)
        spans = subtree_spans(sentence.heads)
    except TreeError as error:
        raise ScoringError(f"{flat.place(index)}: {error}") from error
    flat.spans += [(offset + span.left, offset + span.right - 1) for span in spans]
    flat.sentence_of += [index] * len(sentence)
    flat.heads += [offset + head - 1 if head else ROOT for head in sentence.heads]
    for column in ("forms", "lemmas", "upos", "xpos", "feats", "deprels"):
        getattr(flat, column).extend(getattr(sentence, column))


def without_spaces(form: str) -> str:
    """Return a form without its spaces, which do not count when texts are compared."""
    if form.isascii():
        return form.replace(" ", "")
    return "".join(c for c in form if unicodedata.category(c) != "Zs")
