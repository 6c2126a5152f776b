"""What a drawing has to know of a sentence: its columns, wherever they come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Token(Protocol):
    """A token of several words, and how it is spelled."""

    @property
    def first(self) -> int: ...
    @property
    def last(self) -> int: ...
    @property
    def form(self) -> str: ...


class Drawable(Protocol):
    """A sentence, seen from here: index k−1 of a column belongs to word k, `_` means nothing."""

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
    def multiwords(self) -> Sequence[Token]: ...


def confidences(sentence: Drawable) -> list[float | None]:
    """How probable each word's arc is, or None: what a Parse knows, else `Confidence=` in MISC."""
    known: tuple[float, ...] | None = getattr(sentence, "confidences", None)
    if known is None:
        return [_confidence(misc) for misc in sentence.misc]
    return list(known) or [None] * len(sentence.forms)


def _confidence(misc: str) -> float | None:
    for part in misc.split("|"):
        name, _, value = part.partition("=")
        if name == "Confidence":
            try:
                chance = float(value)
            except ValueError:
                return None
            return chance if 0 <= chance <= 1 else None
    return None
