"""Segmenter: raw text to sentences of words."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from torch import Tensor

from headspan.conllu import Sentence
from headspan.plumbing.errors import HeadspanError, naming, shown
from headspan.plumbing.meta_device import without_memory
from headspan.plumbing.tensors import check_fit
from headspan.text.assembly import Piece, sentence, writable
from headspan.text.boundary_tagger import MULTIWORD, Network, Sizes
from headspan.text.characters import CATEGORIES, Characters
from headspan.text.decisions import Decider
from headspan.text.multiwords import Multiwords
from headspan.text.stream import Window, line_windows, windows
from headspan.vocabulary import Vocabulary

_LONGEST_TOKEN = 1 << 16
_LONGEST_SENTENCE = 1000
"""In tokens. The two bound memory where a text never ends a token or a sentence."""


class Segmenter:
    """Finds sentences, tokens and the words of multiword tokens in raw text.

    Every character that is not white space is in one token, in order. A blank line ends a sentence,
    white space a token; a single line end is white space like any other. `TokenRange` in MISC says
    where a token stands in the text: of a NUL or half a surrogate pair, which no file can hold, the
    form has U+FFFD. It works on the CPU.
    """

    def __init__(self, decider: Decider, multiwords: Multiwords, sizes: Sizes) -> None:
        self.decider = decider
        self.multiwords = multiwords
        self.sizes = sizes

    def segment(self, text: str) -> Iterator[Sentence]:
        """The sentences of a text."""
        return self.segment_stream((text,))

    def segment_stream(self, pieces: Iterable[str]) -> Iterator[Sentence]:
        """The sentences of a text that arrives in pieces, in constant memory.

        How the text is cut into pieces changes nothing. Sentences come out once up to 64 paragraphs
        or some fifty thousand characters have gone in, and at the end.
        """
        return self._sentences(windows(pieces), split=True)

    def segment_lines(self, lines: Iterable[str]) -> Iterator[Sentence]:
        """Sentences that are lines already; only their tokens are found.

        lines: as a file gives them; one without its line end counts as though it had one. A
            paragraph begins after a blank line.
        """
        return self._sentences(line_windows(lines), split=False)

    def _sentences(self, source: Iterable[Window], *, split: bool) -> Iterator[Sentence]:
        pieces: list[Piece] = []
        number, begins = 0, False
        rest, token_start = "", 0  # of a token that began in an earlier window
        for window, classes, sentence_ends in self.decider.decide(source, split=split):
            begins |= window.begins
            text, start = window.text, window.start
            ends = np.flatnonzero(classes).tolist()
            if len(rest) > _LONGEST_TOKEN and not ends:
                ends = [window.stop - 1 - (text[window.stop - 1] == " ")]
            for end in ends:
                form = rest + text[start : end + 1] if rest else text[start : end + 1].lstrip(" ")
                if not rest:
                    token_start = int(window.offsets[end + 1 - len(form)])
                space_after = text[end + 1] == " " if end + 1 < len(text) else window.space_after
                form = writable(form)
                words = self.multiwords.words(form) if classes[end] == MULTIWORD else (form,)
                token_end = int(window.offsets[end]) + 1
                pieces.append(Piece(form, token_start, token_end, words, space_after))
                rest, start = "", end + 1
                if sentence_ends[end] or len(pieces) >= _LONGEST_SENTENCE:
                    number += 1
                    yield sentence(pieces, number=number, begins_paragraph=begins)
                    pieces, begins = [], False
            left = text[start : window.stop]
            left = left if rest else left.lstrip(" ")
            if left and not rest:
                token_start = int(window.offsets[window.stop - len(left)])
            rest += left

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """The weights, and what else a segmenter is made of as JSON."""
        return dict(self.decider.network.state_dict()), {
            "sizes": dataclasses.asdict(self.sizes),
            "characters": self.decider.characters.vocabulary.to_json(),
            "words": self.decider.words.to_json(),
            "spaced": [list(pair) for pair in self.decider.spaced],
            "multiwords": self.multiwords.to_json(),
        }

    @classmethod
    def from_state(cls, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> Segmenter:
        """A segmenter from what `state` gave. Raises HeadspanError for anything else."""
        names = {"sizes", "characters", "words", "spaced", "multiwords"}
        if not isinstance(about, Mapping) or set(about) != names:
            raise HeadspanError(f"a segmenter is described by {', '.join(sorted(names))}")
        sizes = _sizes(about["sizes"])
        characters = Characters(Vocabulary.from_json(about["characters"], "characters"))
        words = Vocabulary.from_json(about["words"], "units of the text")
        with without_memory():  # no memory before the weights are seen to fit
            network = Network(len(characters.vocabulary), len(words), sizes)
        with naming("the segmenter"):
            check_fit(network, tensors)
        network.load_state_dict(dict(tensors), assign=True)
        decider = Decider(network, characters, words, _pairs(about["spaced"]))
        return cls(decider, Multiwords.from_json(about["multiwords"]), sizes)


def _sizes(data: Any) -> Sizes:
    names = [field.name for field in dataclasses.fields(Sizes)]
    good = (
        isinstance(data, dict)
        and sorted(data) == sorted(names)
        and all(type(size) is int and 0 < size <= 4096 for size in data.values())
        and data["width"] % 2
    )
    if not good:
        raise HeadspanError(f"the segmenter's sizes are {shown(data)}; expected {', '.join(names)}")
    return Sizes(**data)


def _pairs(data: Any) -> list[tuple[str, str]]:
    good = isinstance(data, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(side in CATEGORIES for side in pair)
        for pair in data
    )
    if not good:
        raise HeadspanError("the segmenter's characters around spaces are not pairs of categories")
    return [(left, right) for left, right in data]
