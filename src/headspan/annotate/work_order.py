"""The order in which sentences are worked through, and which of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from headspan.annotate.confirmations import is_confirmed
from headspan.conllu import Sentence
from headspan.plumbing.errors import check_choice
from headspan.treebank_conventions import base_relation

Order: TypeAlias = Literal["file", "confidence", "entropy"]
"""That of the file; the sentence with the least certain arc first; the highest entropy first."""


@dataclass(slots=True)
class Entry:
    """A sentence of the file, and how certain the parser is of it."""

    sentence: Sentence
    """As it is in the file."""
    shown: Sentence | None = None
    """With the parser's tree if it has none in the file; None until it was looked at."""
    lowest: float | None = None
    """The confidence of its least certain arc that is not confirmed; 1 if all are."""
    weakest: int = 0
    """The word of that arc."""
    entropy: float | None = None

    @property
    def best_known(self) -> Sentence:
        """The sentence as it is shown, as far as that is known."""
        return self.shown or self.sentence


@dataclass(frozen=True, slots=True)
class Filters:
    """The sentences to work on: those that have all of this; an empty string is no filter."""

    relation: str = ""
    """A word has this relation; without a subtype, it may have any."""
    tag: str = ""
    """A word has this UPOS or XPOS."""
    word: str = ""
    """A word has this form or lemma, whatever its case."""
    unconfirmed: bool = False
    """Nobody has confirmed the sentence yet."""

    def allow(self, sentence: Sentence) -> bool:
        """Whether a sentence is one of them."""
        if self.unconfirmed and is_confirmed(sentence):
            return False
        relation, tag, word = self.relation.strip(), self.tag.strip(), self.word.strip().lower()
        by_base = ":" not in relation
        return (
            (
                not relation
                or any(
                    relation == (base_relation(name) if by_base else name)
                    for name in sentence.deprels
                )
            )
            and (not tag or tag in sentence.upos or tag in sentence.xpos)
            and (
                not word
                or any(
                    word in (form.lower(), lemma.lower())
                    for form, lemma in zip(sentence.forms, sentence.lemmas, strict=True)
                )
            )
        )


def numbers(entries: Sequence[Entry], order: Order, filters: Filters) -> list[int]:
    """The numbers of sentences, from 1, in an order; of those with words, as filters allow.

    A sentence that was not looked at yet comes last in an order by certainty.
    """
    check_choice("order", order, Order)
    chosen = [
        k
        for k, entry in enumerate(entries, 1)
        if len(entry.sentence) and filters.allow(entry.best_known)
    ]
    keys: dict[str, Callable[[Entry], float]] = {
        "confidence": lambda e: 2.0 if e.lowest is None else e.lowest,
        "entropy": lambda e: math.inf if e.entropy is None else -e.entropy,
    }
    if order == "file":
        return chosen
    return sorted(chosen, key=lambda k: keys[order](entries[k - 1]))
