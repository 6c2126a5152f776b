"""The ends of tokens and sentences: the tagger's scores, within the limits of the text.

White space ends a token, except between characters that training saw around a space inside one
(`1 000`). The end of a paragraph ends a sentence. An accent or a joined emoji is never separated
from the character it belongs to. What fits a pattern, such as an address, is one token.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from headspan.text.characters import CATEGORY_NUMBERS, Characters, Marks, Numbers
from headspan.text.encoded_text import END, INSIDE, MULTIWORD, EncodedText, Tagger, padded
from headspan.text.patterns import WITHIN_SENTENCES, one_of
from headspan.text.stream import LINE_END, Window
from headspan.vocabulary import Vocabulary

Scores: TypeAlias = npt.NDArray[np.float32]

_SORTED_WINDOWS = 64
"""Windows that are sorted by length together, so that batches have little padding."""
_BATCH_CHARACTERS = 1 << 14
_JOINT = re.compile(r"(?<=[^\W_])[-–/](?=[^\W_])")
"""A hyphen or slash inside a word, which is separated from both sides or from neither."""
_SPACE = CATEGORY_NUMBERS["Zs"]


class Boundaries(NamedTuple):
    """A window, the class of each of its characters, and whether a sentence ends there.

    Nothing ends outside the core of the window.
    """

    window: Window
    classes: Numbers
    sentence_ends: Marks


class BoundaryFinder:
    """The boundary tagger, with the vocabularies and rules it needs to read a text.

    spaced: the categories of the characters before and after a space inside a token. patterns: the
    names of patterns whose matches are tokens.
    """

    def __init__(
        self,
        tagger: Tagger,
        characters: Characters,
        words: Vocabulary,
        spaced: Sequence[tuple[str, str]],
        patterns: Sequence[str] = (),
    ) -> None:
        self.tagger = tagger
        self.characters = characters
        self.words = words
        self.spaced = tuple(spaced)
        self.patterns = tuple(patterns)
        self._pattern = one_of(self.patterns)
        self._may_cross = np.zeros((len(CATEGORY_NUMBERS) + 1,) * 2, np.bool_)
        for left, right in spaced:
            self._may_cross[CATEGORY_NUMBERS[left], CATEGORY_NUMBERS[right]] = True

    @property
    def sees_line_ends(self) -> bool:
        """Whether training had line ends inside paragraphs."""
        return LINE_END in self.characters.vocabulary

    def encode(self, text: str) -> EncodedText:
        """Encode a text whose only white space is single spaces and line ends."""
        points = self.characters.points(text)
        first, last = self.characters.units(points)
        lower = text.lower()
        lower = lower if len(lower) == len(text) else text
        units = [lower[a : b + 1] for a, b in zip(first.tolist(), last.tolist(), strict=True)]
        return EncodedText(
            self.characters.numbers(points),
            self.characters.categories(points),
            first,
            last,
            np.array(self.words.numbers(units), np.int64),
            self.characters.inseparable(points),
            self.characters.spaces(points),
        )

    def find(
        self, windows: Iterable[Window], *, split: bool, ahead: float = math.inf
    ) -> Iterator[Boundaries]:
        """The boundaries in each window. split: whether a sentence may end inside a paragraph.

        ahead: windows are read ahead until they have this many characters.
        """
        waiting: list[Window] = []
        characters = 0
        for window in windows:
            waiting.append(window)
            characters += len(window.text)
            if len(waiting) == _SORTED_WINDOWS or characters >= ahead:
                yield from self._find(waiting, split=split)
                waiting, characters = [], 0
        yield from self._find(waiting, split=split)

    def _find(self, windows: list[Window], *, split: bool) -> Iterator[Boundaries]:
        texts = [self.encode(window.text) for window in windows]
        scores: dict[int, tuple[Scores, Marks]] = {}
        order = sorted(range(len(texts)), key=lambda k: -len(texts[k].characters))
        while order:
            rows = 1 << (_BATCH_CHARACTERS // len(texts[order[0]].characters)).bit_length() - 1
            batch, order = order[:rows], order[rows:]
            tokens, sentences = self.tagger.scores(padded([texts[k] for k in batch]))
            for k, token, end in zip(batch, tokens, sentences > 0, strict=False):
                scores[k] = token[: len(texts[k].characters)], end[: len(texts[k].first)]
        for k, (window, text) in enumerate(zip(windows, texts, strict=True)):
            yield self._allowed(window, text, *scores[k], split=split)

    def _allowed(
        self, window: Window, text: EncodedText, scores: Scores, unit_ends: Marks, *, split: bool
    ) -> Boundaries:
        """The best boundaries that the text allows.

        scores: of each character's classes. unit_ends: whether a sentence ends with each unit.
        """
        classes = scores.argmax(1)
        class_at_end = np.where(scores[:, MULTIWORD] > scores[:, END], MULTIWORD, END)
        sentence_ends = np.zeros(len(classes), np.bool_)
        if split:
            sentence_ends[text.last[unit_ends]] = True
        spaces = text.spaces
        before_space = np.zeros_like(spaces)
        before_space[:-1] = spaces[1:]
        crossing = np.zeros_like(spaces)
        crossing[:-2] = self._may_cross[text.categories[:-2], text.categories[2:]]
        crossing[:-1] &= text.categories[1:] == _SPACE  # not a line end
        must_end = sentence_ends | (before_space & ~crossing)
        never_ends = spaces | text.inseparable
        for match in self._pattern.finditer(window.text):
            start, stop = match.span()
            never_ends[start : stop - 1] = True
            must_end[stop - 1] = True
            must_end[max(start - 1, 0)] |= start > 0
            if match.lastgroup in WITHIN_SENTENCES:
                sentence_ends[start:stop] = False
        for match in _JOINT.finditer(window.text):
            sides = slice(match.start() - 1, match.start() + 1)
            gain = scores[sides, END:].max(1) - scores[sides, INSIDE]
            if not never_ends[sides].any() and (must_end[sides].any() or gain.sum() > 0):
                must_end[sides] = True
            else:
                never_ends[sides] = True
        classes = np.where(must_end & (classes == INSIDE), class_at_end, classes)
        classes[never_ends] = INSIDE
        sentence_ends &= ~never_ends
        if window.ends:
            classes[window.stop - 1] = class_at_end[window.stop - 1]
            sentence_ends[window.stop - 1] = True
        for marks in (classes, sentence_ends):
            marks[: window.start] = 0
            marks[window.stop :] = 0
        return Boundaries(window, classes, sentence_ends)
