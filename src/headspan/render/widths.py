"""How wide a text is, without asking a terminal or a browser."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

_JOINER, _EMOJI_STYLE = "\u200d", "\ufe0f"

# Widths in ems, at least those of DejaVu Sans and Verdana, which are wide; others leave some room.
_EMS = {
    **dict.fromkeys(".,:;'|!ijlI·‘’", 0.33),
    **dict.fromkeys('frtJ()[]{}/\\-"`*°“”', 0.47),
    **dict.fromkeys("w&ωжшю", 0.85),
    **dict.fromkeys("mMW@%—…æÆœŒщШЩЮЖМ", 1.05),
    " ": 0.35,
}
_LETTER, _CAPITAL, _OTHER, _WIDE, _EMOJI = 0.66, 0.79, 0.9, 1.04, 1.4


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(_columns(cluster) for cluster in clusters(text))


def ems(text: str, *, bold: bool = False) -> float:
    """About how wide a text is in a proportional font, in ems: rather too much than too little."""
    return sum(map(_ems, clusters(text))) * (1.15 if bold else 1.0)


def clusters(text: str) -> Iterator[str]:
    """The characters of a text, each with what has no width of its own after it.

    That is combining marks, emoji behind a joiner, skin tones, and the vowels and final consonants
    of a Hangul syllable that is spelled out. At the start of a text such a thing stands alone.
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
    """A text without what would move a terminal's cursor, and what XML forbids."""
    return "".join("�" if _is_hidden(c) else c for c in text)


def _is_hidden(character: str) -> bool:
    category = unicodedata.category(character)
    return category in ("Cc", "Cs", "Zl", "Zp") or character in "\ufffe\uffff"


def _joins(character: str) -> bool:
    return (
        unicodedata.category(character) in ("Mn", "Me", "Cf")
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\u1160" <= character <= "\u11ff"
        or "\ud7b0" <= character <= "\ud7ff"
    )


def _are_joined(cluster: str, character: str) -> bool:
    """Whether both are parts of one emoji, such as a family."""
    symbols = unicodedata.category(cluster[0]) == unicodedata.category(character) == "So"
    return cluster[-1] == _JOINER and symbols


def _columns(cluster: str) -> int:
    first = cluster[0]
    if unicodedata.category(first) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if _EMOJI_STYLE in cluster or unicodedata.east_asian_width(first) in "WF" else 1


def _ems(cluster: str) -> float:
    first = cluster[0]
    if not _columns(cluster):
        return 0.0
    if "\U0001f1e6" <= first <= "\U0001f1ff":
        return _EMOJI / 2  # two make a flag
    if _EMOJI_STYLE in cluster or "\U0001f000" <= first < "\U00020000":
        return _EMOJI
    base = unicodedata.normalize("NFD", first)[0]
    if base in _EMS:
        return _EMS[base]
    if unicodedata.east_asian_width(first) in "WF":
        return _WIDE
    if base >= "\u0600":
        return _OTHER
    return _CAPITAL if base.isupper() else _LETTER
