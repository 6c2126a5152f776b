"""Parse: a sentence with its predicted tree, and more that the parser knows about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from operator import mul
from typing import Any, SupportsIndex

from headspan.conllu import Sentence
from headspan.render.drawable import CONFIDENCES
from headspan.tree import Span


@dataclass(frozen=True, slots=True)
class Tree:
    """One of the best trees of a sentence."""

    heads: tuple[int, ...]
    deprels: tuple[str, ...]
    score: float
    probability: float
    """Its share of all trees of the sentence, as far as heads are concerned."""


@dataclass(frozen=True, repr=False)
class Parse(Sentence):
    """A Sentence whose tree was predicted.

    Non-projective arcs are restored in `heads` and `deprels`; `spans` and `score` are those of the
    predicted tree. That is projective unless the structure is `mst`, or one that learned crossing
    arcs; then a span is what lies between the ends of a word's subtree.
    """

    spans: tuple[Span, ...] = field(default=(), compare=False)
    """The headed span of every word."""
    score: float = field(default=0.0, compare=False)
    """The tree's score, a sum over its headed spans or arcs."""
    head_confidences: tuple[float, ...] = field(default=(), compare=False)
    """The probability that each word's head is right, among all trees, whatever the constraints.

    Given if requested, and if the sentence is not too long. The head of a non-projective arc is
    restored from another arc and its label, and is right if both are."""
    relation_confidences: tuple[float, ...] = field(default=(), compare=False)
    """The probability that each word's relation is right, if its head is."""
    alternatives: tuple[Tree, ...] = field(default=(), compare=False)
    """The k best trees, if requested; the first is this one, unless the model minimises risk."""

    @property
    def confidences(self) -> tuple[float, ...]:
        """The probability that each word's arc is right: its head and its relation."""
        if not self.relation_confidences:
            return self.head_confidences
        return tuple(map(mul, self.head_confidences, self.relation_confidences))

    @classmethod
    def of(cls, sentence: Sentence, **results: Any) -> Parse:
        """A sentence with the results of parsing it."""
        columns = {f.name: getattr(sentence, f.name) for f in fields(Sentence)}
        return cls(**columns, **results)

    def plain(self) -> Sentence:
        """The sentence alone."""
        return Sentence(**{f.name: getattr(self, f.name) for f in fields(Sentence)})

    def with_parse(self, heads: Iterable[SupportsIndex], deprels: Iterable[str]) -> Sentence:
        """The sentence with another tree, without the results for this one."""
        return self.plain().with_parse(heads, deprels)

    def with_confidences(self) -> Sentence:
        """The sentence alone, with the probabilities of every arc in MISC.

        `Confidence=` is that of the arc, the product of `HeadConfidence=` and
        `RelationConfidence=`.
        """
        cells = [[] if cell == "_" else [cell] for cell in without_confidences(self.misc)]
        for name, attribute in CONFIDENCES.items():
            for cell, confidence in zip(cells, getattr(self, attribute), strict=False):
                cell.append(f"{name}={confidence:.4f}")
        return replace(self.plain(), misc=tuple("|".join(cell) or "_" for cell in cells))

    def _as_written(self) -> Sentence:
        return self.with_confidences() if self.head_confidences else self

    def as_json(self) -> dict[str, Any]:
        """The sentence and its parse, for JSON."""
        table = {
            **super().as_json(),
            "spans": [(span.left, span.right) for span in self.spans],
            "score": self.score,
        }
        for name in CONFIDENCES.values():
            if values := getattr(self, name):
                table[name] = [round(confidence, 4) for confidence in values]
        if self.alternatives:
            table["best"] = [
                {
                    "heads": tree.heads,
                    "relations": tree.deprels,
                    "score": tree.score,
                    "probability": round(tree.probability, 6),
                }
                for tree in self.alternatives
            ]
        return table


def without_confidences(misc: Iterable[str]) -> tuple[str, ...]:
    """The MISC column without the confidences of another tree."""
    return tuple(
        "|".join(part for part in cell.split("|") if part.partition("=")[0] not in CONFIDENCES)
        or "_"
        if "Confidence=" in cell
        else cell
        for cell in misc
    )
