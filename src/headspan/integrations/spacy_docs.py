"""What stands on spaCy's tokens: sentences taken from a Doc, trees and tags put on it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from spacy.attrs import DEP, HEAD, MORPH, POS, SENT_START, TAG
from spacy.parts_of_speech import IDS
from spacy.tokens import Doc, Token

from headspan.conllu import Sentence

if TYPE_CHECKING:
    from headspan.model.parse_result import Parse
    from headspan.model.parser import Parser

CONFIDENCE = "head_confidence"
"""The extension of Token that holds the probability of its arc."""
_BETWEEN = "\n\n"  # between documents that are segmented together: no sentence goes over it
_RANGE = re.compile(r"TokenRange=(\d+):")

Flags: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
Words: TypeAlias = list[int]
"""The tokens of a sentence that are words, by their index in the document."""


def label(relation: str) -> str:
    """A relation as spaCy writes it: its own code looks for the root in capitals."""
    return "ROOT" if relation == "root" else relation


def decided_starts(doc: Doc) -> tuple[Flags, Flags]:
    """For each token whether it is known to begin a sentence, and whether that is still open."""
    known = doc.to_array([SENT_START]).astype(np.int64).reshape(-1)
    known[:1] = 1
    return known > 0, known == 0


def found_starts(docs: Sequence[Doc], parser: Parser) -> Iterator[Flags]:
    """For each token of each document whether the parser's segmenter lets a sentence begin there.

    A sentence that begins inside of a token begins with the next one; white space before a
    sentence belongs to the one before.
    """
    sentences = parser.sentences(doc.text + _BETWEEN for doc in docs)
    matches = (_RANGE.search(sentence.tokens[0].misc) for sentence in sentences)
    places = np.array([int(match[1]) for match in matches if match], dtype=np.int64)
    offset = 0
    for doc in docs:
        starts = np.zeros(len(doc), dtype=np.bool_)
        words = np.array([token.i for token in doc if not token.is_space], dtype=np.int64)
        end = offset + len(doc.text) + len(_BETWEEN)
        inside = places[(places >= offset) & (places < end)] - offset
        first = np.searchsorted([doc[k].idx for k in words.tolist()], inside)
        starts[words[first[(first > 0) & (first < len(words))]]] = True  # the first is no question
        yield starts
        offset = end


def words_of_sentences(doc: Doc, starts: Flags) -> list[Words]:
    """The words of each sentence; there are none in one of white space."""
    bounds = [*np.flatnonzero(starts).tolist(), len(doc)]
    return [[k for k in range(*pair) if not doc[k].is_space] for pair in pairwise(bounds)]


def sentence(doc: Doc, words: Words, columns: Sequence[str]) -> Sentence:
    """Words with those of their tags that a model reads, as far as the document has them."""
    tokens = [doc[k] for k in words]
    tags = {column: [_tag(token, column) or "_" for token in tokens] for column in columns}
    return Sentence.from_words([token.text for token in tokens]).with_tags(**tags)


def _tag(token: Token, column: str) -> str:
    tags = {"upos": token.pos_, "xpos": token.tag_, "feats": token.morph}
    return str(tags[column])


def write_trees(doc: Doc, starts: Flags, parses: Sequence[tuple[Words, Parse]]) -> None:
    """Put the trees of a document's sentences on its tokens, and confidences if there are any.

    White space is no word: it hangs on the token before it or, where a sentence begins with it, on
    the first word, as in the data that spaCy's own parsers learn from.
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
        for k, chance in zip(words, parse.confidences, strict=False):
            doc[k]._.set(CONFIDENCE, chance)
    doc.from_array([HEAD, DEP], np.stack([(heads - here).view(np.uint64), deps], axis=1))
    # spaCy has now derived sentences from the trees, which goes wrong where arcs cross a lot
    doc.from_array([SENT_START], np.where(starts, 1, -1).view(np.uint64))


def write_tags(doc: Doc, parses: Sequence[tuple[Words, Parse]], columns: Sequence[str]) -> None:
    """Put predicted tags on a document's tokens; white space gets spaCy's own for it."""
    strings, morphology = doc.vocab.strings, doc.vocab.morphology
    known: dict[str, tuple[Any, Any, str]] = {
        "upos": (POS, lambda tag: IDS.get(tag, 0), "SPACE"),
        "xpos": (TAG, lambda tag: strings.add(tag) if tag != "_" else 0, "_SP"),
        "feats": (MORPH, morphology.add, "_"),
    }
    for column in columns:
        attribute, number, blank = known[column]
        values = np.full(len(doc), number(blank), dtype=np.uint64)
        for words, parse in parses:
            values[words] = [number(tag) for tag in getattr(parse, column)]
        doc.from_array([attribute], values)
