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

    def with_parse(self, heads: Iterable[SupportsIndex], deprels: Iterable[str]) -> Sentence:
        """The sentence with another tree: what was known about this one is gone."""
        return self.plain().with_parse(heads, deprels)

    def with_confidences(self) -> Sentence:
        """The sentence alone, with the probability of every arc as `Confidence=` in MISC."""
        misc = []
        for kept, chance in zip_longest(without_confidences(self.misc), self.confidences):
            if chance is not None:
                kept = "" if kept == "_" else f"{kept}|"
                kept += f"Confidence={chance:.4f}"
            misc.append(kept)
        return replace(self.plain(), misc=tuple(misc))

    def as_json(self) -> dict[str, Any]:
        """What is known about the sentence, as it stands in JSON."""
        columns = {"upos": self.upos, "xpos": self.xpos, "feats": self.feats}
        found: dict[str, Any] = {
            "id": self.sent_id,
            "text": self.text,
            "words": self.forms,
            **{name: tags for name, tags in columns.items() if set(tags) != {"_"}},
            "heads": self.heads,
            "relations": self.deprels,
            "spans": [(span.left, span.right) for span in self.spans],
            "score": self.score,
        }
        if self.confidences:
            found["confidences"] = [round(chance, 4) for chance in self.confidences]
        if self.alternatives:
            found["best"] = [
                {"heads": tree.heads, "relations": tree.deprels, "score": tree.score}
                for tree in self.alternatives
            ]
        return found


def without_confidences(misc: Iterable[str]) -> tuple[str, ...]:
    """The MISC column without `Confidence=`: what was said there of another tree."""
    return tuple(
        "|".join(part for part in kept.split("|") if not part.startswith("Confidence=")) or "_"
        if "Confidence=" in kept
        else kept
        for kept in misc
    )
