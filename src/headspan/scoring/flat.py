"""A treebank with its words laid end to end, so that two of them can be held side by side."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

from headspan.conllu import NO_HEAD, Sentence
from headspan.plumbing.errors import HeadspanError
from headspan.tree import TreeError, depths, subtree_spans

ROOT = -1
"""The head of a root word, as a position."""


class ScoringError(HeadspanError):
    """Two treebanks that cannot be compared; the message says where they part."""


@dataclass(slots=True)
class Flat:
    """The words of a treebank, numbered 0, 1, 2, … through all its sentences.

    Characters are those of the tokens, white space left out, also numbered through.
    """

    name: str
    characters: str = ""
    sentences: list[Sentence] = field(default_factory=list)
    sentence_ranges: list[tuple[int, int]] = field(default_factory=list)
    """From which to which character each sentence goes."""
    token_ranges: list[tuple[int, int]] = field(default_factory=list)
    first_word: list[int] = field(default_factory=list)
    """The first word of each sentence."""
    ranges: list[tuple[int, int]] = field(default_factory=list)
    """The characters of each word; for a word of a multiword token, those of the token."""
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
    """Arcs between each word and its root."""
    spans: list[tuple[int, int]] = field(default_factory=list)
    """The first and last word below each word, itself included, as positions."""

    def __len__(self) -> int:
        """The number of words."""
        return len(self.heads)

    def place(self, sentence: int) -> str:
        """How a message names a sentence."""
        name = self.sentences[sentence].sent_id
        return f"{self.name}, sentence {sentence + 1}" + (f" ({name})" if name else "")


def flatten(sentences: Iterable[Sentence], name: str) -> Flat:
    """Lay a treebank's words end to end. Raises ScoringError for a sentence that is no tree."""
    flat = Flat(name)
    pieces: list[str] = []
    position = 0
    for sentence in sentences:
        if not len(sentence):
            continue
        start = position
        flat.first_word.append(len(flat))
        flat.sentences.append(sentence)
        for token in sentence.tokens:
            visible = without_spaces(token.form)
            if not visible:
                place = flat.place(len(flat.sentences) - 1)
                raise ScoringError(f"{place}: word {token.first} has no characters to align it by")
            token_range = (position, position + len(visible))
            pieces.append(visible)
            position += len(visible)
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
    flat.forms += sentence.forms
    flat.lemmas += sentence.lemmas
    flat.upos += sentence.upos
    flat.xpos += sentence.xpos
    flat.feats += sentence.feats
    flat.deprels += sentence.deprels


def without_spaces(form: str) -> str:
    """A form without its spaces, which do not count when texts are compared."""
    if form.isascii():
        return form.replace(" ", "")
    return "".join(c for c in form if unicodedata.category(c) != "Zs")
