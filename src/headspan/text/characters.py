"""Characters as the boundary tagger sees them: a number, a Unicode category, and a unit.

A unit is a run of letters and digits, or a single character of any other kind. A sentence can only
end where a unit ends; a token can end anywhere.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from headspan.vocabulary import PAD, UNKNOWN, Vocabulary

Numbers: TypeAlias = npt.NDArray[np.int64]
Marks: TypeAlias = npt.NDArray[np.bool_]

CATEGORIES = (
    "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn"
).split()
CATEGORY_NUMBERS = {category: number for number, category in enumerate(CATEGORIES, 1)}
"""The number of each category; 0 is padding."""
_LONGEST_UNIT = 16
"""Longer runs are split into several units, so that scripts without spaces have units, too."""
_RUN, _ALONE, _SPACE = range(3)
_JOINER = "\u200d"
_PLAIN = {mark: plain for plain, marks in (("'", "’‘‛ʼ`´′"), ('"', "“”„‟«»″"), ("-", "–—−‐‑―"))
          for mark in marks}  # fmt: skip


class Units(NamedTuple):
    """The units of a text: the positions of their first and of their last characters."""

    first: Numbers
    last: Numbers


class Characters:
    """Numbers for the characters that training saw often, and stand-ins for those it did not.

    A rare character is treated as a known one if it is a typographic variant of it (’ of '), a wide
    form, or a letter with another accent. Of all others the tagger knows only the Unicode category.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._numbers = np.zeros(0x110000, np.int32)  # filled as characters appear
        self._categories = np.zeros(0x110000, np.uint8)
        self._kinds = np.zeros(0x110000, np.uint8)
        self._clinging = np.zeros(0x110000, np.bool_)

    @classmethod
    def count(cls, texts: Iterable[str], *, min_count: int) -> Characters:
        counts = Counter[str]()
        for text in texts:
            counts.update(text)
        frequent = (c for c, count in sorted(counts.items()) if count >= min_count)
        return cls(Vocabulary(tuple(frequent)))

    def points(self, text: str) -> Numbers:
        """The code points of a text. Adds those that are new to the tables."""
        raw = text.encode("utf-32-le", "surrogatepass")
        points = np.frombuffer(raw, np.uint32).astype(np.int64)
        for point in np.unique(points[self._numbers[points] == PAD]).tolist():
            self._add(point)
        return points

    def numbers(self, points: Numbers) -> Numbers:
        return self._numbers[points].astype(np.int64)

    def categories(self, points: Numbers) -> Numbers:
        return self._categories[points].astype(np.int64)

    def spaces(self, points: Numbers) -> Marks:
        spaces: Marks = self._kinds[points] == _SPACE
        return spaces

    def inseparable(self, points: Numbers) -> Marks:
        """Mark characters that belong with the next: before accents, and in joined emoji."""
        joined = np.zeros(len(points), np.bool_)
        joined[:-1] = self._clinging[points[1:]] | (points[:-1] == ord(_JOINER))
        joined[:-1] &= ~self.spaces(points)[1:]
        return joined

    def units(self, points: Numbers) -> Units:
        kinds = self._kinds[points]
        inside = np.zeros(len(points), np.bool_)
        inside[1:] = (kinds[1:] == _RUN) & (kinds[:-1] == _RUN)
        position = np.arange(len(points))
        start_of_run = np.maximum.accumulate(np.where(inside, 0, position))
        inside &= (position - start_of_run) % _LONGEST_UNIT != 0
        visible = kinds != _SPACE
        is_last = visible.copy()
        is_last[:-1] &= ~inside[1:]
        return Units(np.flatnonzero(visible & ~inside), np.flatnonzero(is_last))

    def _add(self, point: int) -> None:
        character = chr(point)
        category = unicodedata.category(character)
        number = self.vocabulary.number(character)
        if number == UNKNOWN:
            decomposed = unicodedata.normalize("NFKD", character)
            for other in (_PLAIN.get(character, ""), decomposed[:1]):
                if other in self.vocabulary:
                    number = self.vocabulary.number(other)
                    break
        self._numbers[point] = number
        self._categories[point] = CATEGORY_NUMBERS[category]
        self._clinging[point] = (
            category[0] == "M" or character == _JOINER or 0x1F3FB <= point <= 0x1F3FF
        )
        if character.isspace():
            self._kinds[point] = _SPACE
        else:
            wide = unicodedata.east_asian_width(character) == "W"
            self._kinds[point] = _RUN if category[0] in "LMN" and not wide else _ALONE
