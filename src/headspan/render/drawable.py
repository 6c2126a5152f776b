"""The parts of a sentence that drawings need: its columns, whatever object they come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

View: TypeAlias = Literal["arcs", "spans", "both"]
"""The contents of a drawing: the arcs of a tree, its headed spans, or both."""


class DrawableToken(Protocol):
    """A multiword token: its first and last word, and its form."""

    @property
    def first(self) -> int: ...
    @property
    def last(self) -> int: ...
    @property
    def form(self) -> str: ...


class Drawable(Protocol):
    """A sentence to draw. Index k−1 of a column belongs to word k; `_` means no value."""

    @property
    def sent_id(self) -> str | None: ...
    @property
    def text(self) -> str: ...
    @property
    def forms(self) -> tuple[str, ...]: ...
    @property
    def upos(self) -> tuple[str, ...]: ...
    @property
    def heads(self) -> tuple[int, ...]: ...
    @property
    def deprels(self) -> tuple[str, ...]: ...
    @property
    def misc(self) -> tuple[str, ...]: ...
    @property
    def multiwords(self) -> Sequence[DrawableToken]: ...


CONFIDENCES = {
    "Confidence": "confidences",
    "HeadConfidence": "head_confidences",
    "RelationConfidence": "relation_confidences",
}
"""The names of confidences in MISC, and of the same in a Parse."""


def confidences(sentence: Drawable, name: str = "Confidence") -> list[float | None]:
    """Return the confidence of each word's arc, from a Parse or from MISC, or None.

    name: that of the confidence in MISC.
    """
    of_parse: tuple[float, ...] | None = getattr(sentence, CONFIDENCES[name], None)
    if of_parse is None:
        return [_confidence(misc, name) for misc in sentence.misc]
    return list(of_parse) or [None] * len(sentence.forms)


def _confidence(misc: str, wanted: str) -> float | None:
    for entry in misc.split("|"):
        name, _, value = entry.partition("=")
        if name == wanted:
            try:
                confidence = float(value)
            except ValueError:
                return None
            return confidence if 0 <= confidence <= 1 else None
    return None
