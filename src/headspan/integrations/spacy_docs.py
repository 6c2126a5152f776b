"""Annotations on spaCy's tokens: sentences read from a Doc, trees and tags written to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from spacy.attrs import DEP, HEAD, LEMMA, MORPH, ORTH, POS, SENT_START, TAG
from spacy.parts_of_speech import IDS
from spacy.tokens import Doc, Token

from headspan.conllu import Sentence
from headspan.conllu.places import token_range

if TYPE_CHECKING:
    from headspan.model.parse_result import Parse
    from headspan.model.parser import Parser

CONFIDENCES = {
    "confidence": "confidences",
    "head_confidence": "head_confidences",
    "relation_confidence": "relation_confidences",
}
"""The extensions of Token for confidences, and the attributes of a Parse that they hold."""
_SEPARATOR = "\n\n"
"""Separates documents that are segmented together; no sentence extends across it."""

Flags: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
WordIndices: TypeAlias = list[int]
"""The tokens of a sentence that are words, as indices in the document."""


def label(relation: str) -> str:
    """A relation in spaCy's spelling: its own code expects the root in capitals."""
    return "ROOT" if relation == "root" else relation


def decided_starts(doc: Doc) -> tuple[Flags, Flags]:
    """Mark the tokens that are known to begin a sentence, and those that nobody has decided on."""
    known = doc.to_array([SENT_START]).astype(np.int64).reshape(-1)
    known[:1] = 1
    return known > 0, known == 0


def segmented_starts(docs: Sequence[Doc], parser: Parser) -> Iterator[Flags]:
    """Mark the tokens of each document where the parser's segmenter begins a sentence.

    A sentence that begins inside a token begins with the next one; white space before a sentence
    belongs to the sentence before.
    """
    sentences = parser.sentences(doc.text + _SEPARATOR for doc in docs)
    ranges = (token_range(sentence.surface_tokens[0].misc) for sentence in sentences)
    positions = np.array([start for start, _ in filter(None, ranges)], dtype=np.int64)
    offset = 0
    for doc in docs:
        starts = np.zeros(len(doc), dtype=np.bool_)
        words = np.array([token.i for token in doc if not token.is_space], dtype=np.int64)
        end = offset + len(doc.text) + len(_SEPARATOR)
        inside = positions[(positions >= offset) & (positions < end)] - offset
        first = np.searchsorted([doc[k].idx for k in words.tolist()], inside)
        starts[words[first[(first > 0) & (first < len(words))]]] = True  # the first one is known
        yield starts
        offset = end


def words_of_sentences(doc: Doc, starts: Flags) -> list[WordIndices]:
    """The words of each sentence; one of white space has none."""
    bounds = [*np.flatnonzero(starts).tolist(), len(doc)]
    return [[k for k in range(*pair) if not doc[k].is_space] for pair in pairwise(bounds)]


def sentence(doc: Doc, words: WordIndices, columns: Sequence[str]) -> Sentence:
    """The words of a sentence, with the tags that a model reads if the document has them."""
    tokens = [doc[k] for k in words]
    tags = {column: [_tag(token, column) or "_" for token in tokens] for column in columns}
    return Sentence.from_words([token.text for token in tokens]).with_tags(**tags)


def _tag(token: Token, column: str) -> str:
    tags = {"upos": token.pos_, "xpos": token.tag_, "feats": token.morph}
    return str(tags[column])


def write_trees(doc: Doc, starts: Flags, parses: Sequence[tuple[WordIndices, Parse]]) -> None:
    """Write the trees of a document's sentences to its tokens, and confidences if there are any.

    White space is not a word: its head is the token before it or, at the start of a sentence, the
    first word, as in the data on which spaCy's own parsers are trained.
    """
    here = np.arange(len(doc))
    add = doc.vocab.strings.add
    heads = np.where(starts, here, here - 1)
    deps = np.where(starts, np.uint64(add("ROOT")), np.uint64(add("dep")))
    for begin, (words, parse) in zip(np.flatnonzero(starts).tolist(), parses, strict=True):
        if words:
            heads[begin : words[0]] = words[0]
            deps[begin : words[0]] = add("dep")
            heads[words] = [
                words[head - 1] if head else k for k, head in zip(words, parse.heads, strict=True)
            ]
            deps[words] = [add(label(relation)) for relation in parse.deprels]
        for extension, attribute in CONFIDENCES.items():
            for k, confidence in zip(words, getattr(parse, attribute), strict=False):
                doc[k]._.set(extension, confidence)
    doc.from_array([HEAD, DEP], np.stack([(heads - here).view(np.uint64), deps], axis=1))
    # spaCy has now derived sentences from the trees, which fails where many arcs cross
    doc.from_array([SENT_START], np.where(starts, 1, -1).view(np.uint64))


def write_tags(
    doc: Doc, parses: Sequence[tuple[WordIndices, Parse]], columns: Sequence[str]
) -> None:
    """Write predicted tags and lemmas to a document's tokens.

    White space gets spaCy's own tag for it, and itself as its lemma.
    """
    strings, morphology = doc.vocab.strings, doc.vocab.morphology
    attributes: dict[str, tuple[Any, Any, str]] = {
        "upos": (POS, lambda tag: IDS.get(tag, 0), "SPACE"),
        "xpos": (TAG, lambda tag: strings.add(tag) if tag != "_" else 0, "_SP"),
        "feats": (MORPH, morphology.add, "_"),
        "lemmas": (LEMMA, strings.add, ""),
    }
    for column in columns:
        attribute, number, blank = attributes[column]
        values = np.full(len(doc), number(blank), dtype=np.uint64)
        if column == "lemmas":
            values = doc.to_array([ORTH]).astype(np.uint64).reshape(-1)
        for words, parse in parses:
            values[words] = [number(tag) for tag in getattr(parse, column)]
        doc.from_array([attribute], values)
