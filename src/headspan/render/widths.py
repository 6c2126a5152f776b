"""Measure the width of text, in columns of a terminal and in a proportional font."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from rich.cells import get_character_cell_size

_JOINER, _EMOJI_STYLE = "\u200d", "\ufe0f"
_WITHOUT_WIDTH = ("Mn", "Me", "Cf")

# Widths in ems, not less than in DejaVu Sans and Verdana, which are wide; most fonts need less.
_EMS = {
    **dict.fromkeys(".,:;'|!ijlI·‘’", 0.33),
    **dict.fromkeys('frtJ()[]{}/\\-"`*°“”', 0.47),
    **dict.fromkeys("w&ωжшю", 0.85),
    **dict.fromkeys("mMW@%—…æÆœŒщШЩЮЖМ", 1.05),
    " ": 0.35,
}
_LETTER, _CAPITAL, _OTHER, _WIDE, _EMOJI = 0.66, 0.79, 0.9, 1.04, 1.4


def columns(text: str) -> int:
    """Return the number of terminal columns that a text takes."""
    return sum(_columns(cluster) for cluster in clusters(text))


def ems(text: str, *, bold: bool = False) -> float:
    """Estimate the width of a text in a proportional font, in ems; err on the wide side."""
    return sum(map(_ems, clusters(text))) * (1.15 if bold else 1.0)


def clusters(text: str) -> Iterator[str]:
    """Yield the characters of a text, each with the characters that combine with it.

    These are combining marks, emoji after a joiner, skin tones, and the vowels and final consonants
    of a decomposed Hangul syllable. At the start of a text, such a character is on its own.
    """
    cluster = ""
    for character in text:
        if cluster and (_joins(character) or _are_joined(cluster, character)):
            cluster += character
        else:
            if cluster:
                yield cluster
            cluster = character
    if cluster:
        yield cluster


def visible(text: str) -> str:
    """Replace control characters, which would move a terminal's cursor, and what XML forbids."""
    return "".join("�" if _is_hidden(c) else c for c in text)


def _is_hidden(character: str) -> bool:
    category = unicodedata.category(character)
    return category in ("Cc", "Cs", "Zl", "Zp") or character in "\ufffe\uffff"


def _joins(character: str) -> bool:
    return (
        unicodedata.category(character) in _WITHOUT_WIDTH
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\u1160" <= character <= "\u11ff"
        or "\ud7b0" <= character <= "\ud7ff"
    )


def _are_joined(cluster: str, character: str) -> bool:
    """Tell whether both are parts of one emoji, such as a family."""
    symbols = unicodedata.category(cluster[0]) == unicodedata.category(character) == "So"
    return cluster[-1] == _JOINER and symbols


def _columns(cluster: str) -> int:
    return 2 if _EMOJI_STYLE in cluster else get_character_cell_size(cluster[0])


def _ems(cluster: str) -> float:
    first = cluster[0]
    if unicodedata.category(first) in _WITHOUT_WIDTH:
        return 0.0
    if "\U0001f1e6" <= first <= "\U0001f1ff":
        return _EMOJI / 2  # two make a flag
    if _EMOJI_STYLE in cluster or "\U0001f000" <= first < "\U00020000":
        return _EMOJI
    base = unicodedata.normalize("NFD", first)[0]
    if base in _EMS:
        return _EMS[base]
    if _columns(cluster) == 2:
        return _WIDE
    if base >= "\u0600":
        return _OTHER
    return _CAPITAL if base.isupper() else _LETTER
