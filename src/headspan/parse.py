"""Parse: a sentence as the parser gives it back, with what it knows beside the tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from itertools import zip_longest
from typing import Any, SupportsIndex

from headspan.conllu import Sentence
from headspan.tree import Span


@dataclass(frozen=True, slots=True)
class Tree:
    """One of the best trees of a sentence."""

    heads: tuple[int, ...]
    deprels: tuple[str, ...]
    score: float


@dataclass(frozen=True)
class Parse(Sentence):
    """A Sentence whose tree was predicted.

    Non-projective arcs are restored in `heads` and `deprels`; `spans` and `score` are those of the
    projective tree that the parser found.
    """

    spans: tuple[Span, ...] = field(default=(), compare=False)
    """The headed span of every word."""
    score: float = field(default=0.0, compare=False)
    """The tree's score, a sum over its headed spans or arcs."""
    confidences: tuple[float, ...] = field(default=(), compare=False)
    """The probability of every word's arc, if it was asked for and the sentence is not too long."""
    alternatives: tuple[Tree, ...] = field(default=(), compare=False)
    """The k best trees, if they were asked for; the first is this one."""

    @classmethod
    def of(cls, sentence: Sentence, **found: Any) -> Parse:
        """A sentence with what was found for it."""
        columns = {f.name: getattr(sentence, f.name) for f in fields(Sentence)}
        return cls(**columns, **found)

    def plain(self) -> Sentence:
        """The sentence alone."""
        return Sentence(**{f.name: getattr(self, f.name) for f in fields(Sentence)})

    def annotated(self) -> Sentence:
        """The sentence alone, with the probability of every arc as `Confidence=` in MISC."""
        misc = []
        for kept, chance in zip_longest(self.misc, self.confidences):
            others = [part for part in kept.split("|") if not part.startswith(("_", "Confidence="))]
            if chance is not None:
                others.append(f"Confidence={chance:.4f}")
            misc.append("|".join(others) or "_")
        return replace(self.plain(), misc=tuple(misc))

    def with_parse(self, heads: Iterable[SupportsIndex], deprels: Iterable[str]) -> Sentence:
        """The sentence with another tree: what was known about this one is gone."""
        return self.plain().with_parse(heads, deprels)
