"""Parse: a sentence with its predicted tree, and more that the parser knows about it."""

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


@dataclass(frozen=True, repr=False)
class Parse(Sentence):
    """A Sentence whose tree was predicted.

    Non-projective arcs are restored in `heads` and `deprels`; `spans` and `score` are those of the
    predicted tree. That is projective unless the structure is `mst`; then a span is what lies
    between the ends of a word's subtree.
    """

    spans: tuple[Span, ...] = field(default=(), compare=False)
    """The headed span of every word."""
    score: float = field(default=0.0, compare=False)
    """The tree's score, a sum over its headed spans or arcs."""
    confidences: tuple[float, ...] = field(default=(), compare=False)
    """The probability of every word's arc, if requested and if the sentence is not too long."""
    alternatives: tuple[Tree, ...] = field(default=(), compare=False)
    """The k best trees, if requested; the first is this one, unless the model minimises risk."""

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
        """The sentence alone, with the probability of every arc as `Confidence=` in MISC."""
        misc = []
        for cell, confidence in zip_longest(without_confidences(self.misc), self.confidences):
            if confidence is not None:
                cell = "" if cell == "_" else f"{cell}|"
                cell += f"Confidence={confidence:.4f}"
            misc.append(cell)
        return replace(self.plain(), misc=tuple(misc))

    def _as_written(self) -> Sentence:
        return self.with_confidences() if self.confidences else self

    def as_json(self) -> dict[str, Any]:
        """The sentence and its parse, for JSON."""
        table = {
            **super().as_json(),
            "spans": [(span.left, span.right) for span in self.spans],
            "score": self.score,
        }
        if self.confidences:
            table["confidences"] = [round(confidence, 4) for confidence in self.confidences]
        if self.alternatives:
            table["best"] = [
                {"heads": tree.heads, "relations": tree.deprels, "score": tree.score}
                for tree in self.alternatives
            ]
        return table


def without_confidences(misc: Iterable[str]) -> tuple[str, ...]:
    """The MISC column without the `Confidence=` of another tree."""
    return tuple(
        "|".join(part for part in cell.split("|") if not part.startswith("Confidence=")) or "_"
        if "Confidence=" in cell
        else cell
        for cell in misc
    )
