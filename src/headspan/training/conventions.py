"""One convention per word, where treebanks that are learned together disagree.

Treebanks of a language may follow different rules: the lemma of *people* is *people* in one and
*person* in another. A parser that learned both would choose by the kind of text. So where two
treebanks are each sure of a word's lemma, that of the first one is learned. A treebank is a file
here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from headspan.conllu import Sentence
from headspan.lemmas import NO_LEMMA

_Word: TypeAlias = tuple[str, str]
"""UPOS, and the form in lower case."""

_LEAST = 10  # occurrences of a word in a treebank for it to be sure of the lemma
_SURE = 0.95  # share of them that have the same lemma


def with_lemmas_of_first(treebanks: Sequence[Sequence[Sentence]]) -> list[list[Sentence]]:
    """The treebanks with the lemmas of the first that is sure of a word."""
    conventions = dict[_Word, str]()
    changed = []
    for treebank in treebanks:
        own = _sure_lemmas(treebank)
        other = {
            word: (lemma, conventions[word])
            for word, lemma in own.items()
            if conventions.get(word, lemma) != lemma
        }
        changed.append([_changed(s, other) for s in treebank] if other else list(treebank))
        conventions = own | conventions
    return changed


def _sure_lemmas(treebank: Sequence[Sentence]) -> dict[_Word, str]:
    """The lemmas of the words that nearly always have the same one."""
    counts: dict[_Word, Counter[str]] = defaultdict(Counter)
    for sentence in treebank:
        for word, lemma in zip(_words(sentence), sentence.lemmas, strict=True):
            counts[word][lemma] += 1
    lemmas = dict[_Word, str]()
    for word, found in counts.items():
        lemma, count = found.most_common(1)[0]
        if lemma != NO_LEMMA and found.total() >= _LEAST and count >= _SURE * found.total():
            lemmas[word] = lemma
    return lemmas


def _changed(sentence: Sentence, other: Mapping[_Word, tuple[str, str]]) -> Sentence:
    """The sentence with the second lemma of each word that has the first one."""
    lemmas = list(sentence.lemmas)
    for k, word in enumerate(_words(sentence)):
        if word in other and lemmas[k] == other[word][0]:
            lemmas[k] = other[word][1]
    return sentence if lemmas == list(sentence.lemmas) else replace(sentence, lemmas=tuple(lemmas))


def _words(sentence: Sentence) -> list[_Word]:
    return [(tag, form.lower()) for tag, form in zip(sentence.upos, sentence.forms, strict=True)]
