"""Where tokens and sentences end: what the network says, within what the text allows.

White space ends a token, except between characters that training saw around a space inside one
(`1 000`). The end of a paragraph ends a sentence. An accent or a joined emoji stays with what it
belongs to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from headspan.text.boundary_tagger import END, INSIDE, MULTIWORD, Encoded, Network, padded
from headspan.text.characters import CATEGORIES, Characters, Marks, Numbers
from headspan.text.stream import Window
from headspan.vocabulary import Vocabulary

Scores: TypeAlias = npt.NDArray[np.float32]

_TOGETHER = 64
"""Windows that are sorted by length, so that a batch has little padding."""
_BATCH = 1 << 14
"""Characters of a batch."""
_SPACE = CATEGORIES.index("Zs") + 1


class Ends(NamedTuple):
    """A window, the class of each of its characters, and whether a sentence ends there.

    Outside the core nothing ends.
    """

    window: Window
    classes: Numbers
    sentences: Marks


class Decider:
    """The network with what it needs to read a text.

    spaced: the categories of the characters before and after a space inside a token.
    """

    def __init__(
        self,
        network: Network,
        characters: Characters,
        words: Vocabulary,
        spaced: Sequence[tuple[str, str]],
    ) -> None:
        self.network = network.eval()
        self.characters = characters
        self.words = words
        self.spaced = tuple(spaced)
        self._crossed = np.zeros((len(CATEGORIES) + 1,) * 2, np.bool_)
        for left, right in spaced:
            self._crossed[CATEGORIES.index(left) + 1, CATEGORIES.index(right) + 1] = True

    def encode(self, text: str) -> Encoded:
        """A text, whose only white space is single spaces, in numbers."""
        points = self.characters.points(text)
        first, last = self.characters.units(points)
        low = text.lower()
        low = low if len(low) == len(text) else text
        units = [low[a : b + 1] for a, b in zip(first.tolist(), last.tolist(), strict=True)]
        return Encoded(
            self.characters.numbers(points),
            self.characters.categories(points),
            first,
            last,
            np.array(self.words.numbers(units), np.int64),
            self.characters.inseparable(points),
        )

    def decide(self, windows: Iterable[Window], *, split: bool) -> Iterator[Ends]:
        """The ends in each window. split: whether sentences may end inside a paragraph."""
        waiting: list[Window] = []
        for window in windows:
            waiting.append(window)
            if len(waiting) == _TOGETHER:
                yield from self._decide(waiting, split=split)
                waiting = []
        yield from self._decide(waiting, split=split)

    def _decide(self, windows: list[Window], *, split: bool) -> Iterator[Ends]:
        texts = [self.encode(window.text) for window in windows]
        scores: dict[int, tuple[Scores, Marks]] = {}
        order = sorted(range(len(texts)), key=lambda k: -len(texts[k].characters))
        while order:
            rows = 1 << (_BATCH // len(texts[order[0]].characters)).bit_length() - 1
            batch, order = order[:rows], order[rows:]
            with torch.inference_mode():
                tokens, sentences = self.network(padded([texts[k] for k in batch]))
            for k, token, end in zip(batch, tokens.numpy(), (sentences > 0).numpy(), strict=False):
                scores[k] = token[: len(texts[k].characters)], end[: len(texts[k].first)]
        for k, (window, text) in enumerate(zip(windows, texts, strict=True)):
            yield self._allowed(window, text, *scores[k], split=split)

    def _allowed(
        self, window: Window, text: Encoded, scores: Scores, ends: Marks, *, split: bool
    ) -> Ends:
        classes = scores.argmax(1)
        at_end = np.where(scores[:, MULTIWORD] > scores[:, END], MULTIWORD, END)
        sentences = np.zeros(len(classes), np.bool_)
        if split:
            sentences[text.last[ends]] = True
        spaces = text.categories == _SPACE
        before_space = np.zeros_like(spaces)
        before_space[:-1] = spaces[1:]
        crossing = np.zeros_like(spaces)
        crossing[:-2] = self._crossed[text.categories[:-2], text.categories[2:]]
        must = sentences | (before_space & ~crossing)
        classes = np.where(must & (classes == INSIDE), at_end, classes)
        never = spaces | text.inseparable
        classes[never] = INSIDE
        sentences &= ~never
        if window.ends:
            classes[window.stop - 1] = at_end[window.stop - 1]
            sentences[window.stop - 1] = True
        for marks in (classes, sentences):
            marks[: window.start] = 0
            marks[window.stop :] = 0
        return Ends(window, classes, sentences)
