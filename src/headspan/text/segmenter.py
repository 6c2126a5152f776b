"""The Segmenter: from raw text to sentences of words."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from headspan.conllu import Sentence
from headspan.plumbing.errors import HeadspanError, naming, shown
from headspan.runtime.packing import Array
from headspan.text.assembly import PlacedToken, make_sentence, writable
from headspan.text.boundaries import BoundaryFinder
from headspan.text.boundary_graph import GraphTagger
from headspan.text.characters import CATEGORIES, Characters
from headspan.text.encoded_text import MULTIWORD, SegmenterSizes
from headspan.text.multiwords import Multiwords
from headspan.text.patterns import check_names
from headspan.text.stream import Window, line_windows, windows
from headspan.vocabulary import Vocabulary

_LONGEST_TOKEN = 1 << 16
"""In characters."""
_LONGEST_SENTENCE = 1000
"""In tokens. The two limits bound memory where a token or a sentence never ends."""
_AHEAD = 1 << 13
"""Characters that `steps` read ahead: a compromise between short steps and full batches."""


class Step(NamedTuple):
    """A step of segmenting: one window of the text, which takes a bounded time."""

    sentences: list[Sentence]
    """The sentences that end in the window; often there is none."""
    characters: int
    """The size of the window."""


class Segmenter:
    """Finds sentences, tokens and the words of multiword tokens in raw text.

    Every character that is not white space is in exactly one token, in order. A blank line ends a
    sentence and white space ends a token; whether a single line end ends a sentence depends on the
    text. `TokenRange` in MISC is the token's position in the text. Forms have U+FFFD for NUL and
    for half a surrogate pair, which no file can hold. A segmenter runs on the CPU.
    """

    def __init__(
        self, finder: BoundaryFinder, multiwords: Multiwords, sizes: SegmenterSizes
    ) -> None:
        self.finder = finder
        self.multiwords = multiwords
        self.sizes = sizes

    def segment(self, text: str, *, wrapped: bool = False) -> Iterator[Sentence]:
        """The sentences of a text. wrapped: single line ends mean nothing."""
        return self.segment_stream((text,), wrapped=wrapped)

    def segment_stream(self, pieces: Iterable[str], *, wrapped: bool = False) -> Iterator[Sentence]:
        """The sentences of a text that arrives in pieces, in constant memory.

        wrapped: single line ends mean nothing. The result does not depend on how the text is cut
        into pieces. The first sentences come out after at most 64 paragraphs or about fifty
        thousand characters.
        """
        return _sentences_of(self.steps(pieces, wrapped=wrapped, ahead=math.inf))

    def segment_lines(self, lines: Iterable[str]) -> Iterator[Sentence]:
        """The sentences of a text that has one per line: only their tokens have to be found.

        lines: as a file yields them; one without a line end counts as if it had one. A paragraph
            begins after a blank line.
        """
        return _sentences_of(self.line_steps(lines, ahead=math.inf))

    def steps(
        self, pieces: Iterable[str], *, wrapped: bool = False, ahead: float = _AHEAD
    ) -> Iterator[Step]:
        """`segment_stream` in steps, between which the caller can do something else.

        However long a sentence or a token is, a step takes a bounded time. ahead: the characters
        that are read ahead; the first step that needs them takes the time for all of them. With
        more, the whole text takes less time.
        """
        line_ends = self.finder.sees_line_ends and not wrapped
        return self._steps(windows(pieces, line_ends=line_ends), split=True, ahead=ahead)

    def line_steps(self, lines: Iterable[str], *, ahead: float = _AHEAD) -> Iterator[Step]:
        """`segment_lines` in steps, as `steps`; but each line is read whole."""
        return self._steps(line_windows(lines), split=False, ahead=ahead)

    def _steps(self, source: Iterable[Window], *, split: bool, ahead: float) -> Iterator[Step]:
        tokens: list[PlacedToken] = []
        number, begins = 0, False
        rest, token_start = "", 0  # the start of a token that goes on in the next window
        for window, classes, sentence_ends in self.finder.find(source, split=split, ahead=ahead):
            sentences: list[Sentence] = []
            begins |= window.begins
            text, start = window.text, window.start
            ends = np.flatnonzero(classes).tolist()
            if len(rest) > _LONGEST_TOKEN and not ends:
                ends = [window.stop - 1 - text[window.stop - 1].isspace()]
            for end in ends:
                form = rest + text[start : end + 1] if rest else text[start : end + 1].lstrip()
                if not rest:
                    token_start = int(window.offsets[end + 1 - len(form)])
                space_after = window.space_after
                if end + 1 < len(text):
                    space_after = text[end + 1].isspace()
                form = writable(form)
                words = self.multiwords.words(form) if classes[end] == MULTIWORD else (form,)
                token_end = int(window.offsets[end]) + 1
                tokens.append(PlacedToken(form, token_start, token_end, words, space_after))
                rest, start = "", end + 1
                if sentence_ends[end] or len(tokens) >= _LONGEST_SENTENCE:
                    number += 1
                    sentences.append(make_sentence(tokens, number=number, begins_paragraph=begins))
                    tokens, begins = [], False
            left = text[start : window.stop]
            left = left if rest else left.lstrip()
            if left and not rest:
                token_start = int(window.offsets[window.stop - len(left)])
            rest += left
            yield Step(sentences, len(text))

    def state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """The weights, and everything else that a segmenter consists of, as JSON."""
        return dict(self.finder.tagger.tensors()), {
            "sizes": dataclasses.asdict(self.sizes),
            "characters": self.finder.characters.vocabulary.to_json(),
            "words": self.finder.words.to_json(),
            "spaced": [list(pair) for pair in self.finder.spaced],
            "patterns": list(self.finder.patterns),
            "multiwords": self.multiwords.to_json(),
        }

    @classmethod
    def from_state(cls, tensors: Mapping[str, Array], about: Mapping[str, Any]) -> Segmenter:
        """Make a segmenter from the result of `state`. Raises HeadspanError for anything else."""
        names = {"sizes", "characters", "words", "spaced", "multiwords"}
        if not isinstance(about, Mapping) or set(about) - {"patterns"} != names:
            raise HeadspanError(f"a segmenter must have the keys {', '.join(sorted(names))}")
        sizes = _sizes(about["sizes"])
        characters = Characters(Vocabulary.from_json(about["characters"], "characters"))
        words = Vocabulary.from_json(about["words"], "units of the text")
        with naming("the segmenter"):
            tagger = GraphTagger(len(characters.vocabulary), len(words), sizes, tensors)
        patterns = check_names(about.get("patterns", []))  # format 2 had none at first
        finder = BoundaryFinder(tagger, characters, words, _pairs(about["spaced"]), patterns)
        return cls(finder, Multiwords.from_json(about["multiwords"]), sizes)


def _sentences_of(steps: Iterable[Step]) -> Iterator[Sentence]:
    return (sentence for step in steps for sentence in step.sentences)


def _sizes(data: Any) -> SegmenterSizes:
    names = [field.name for field in dataclasses.fields(SegmenterSizes)]
    good = (
        isinstance(data, dict)
        and sorted(data) == sorted(names)
        and all(type(size) is int and 0 < size <= 4096 for size in data.values())
        and data["width"] % 2
    )
    if not good:
        raise HeadspanError(f"the segmenter's sizes are {shown(data)}; expected {', '.join(names)}")
    return SegmenterSizes(**data)


def _pairs(data: Any) -> list[tuple[str, str]]:
    good = isinstance(data, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(side in CATEGORIES for side in pair)
        for pair in data
    )
    if not good:
        raise HeadspanError(f"the segmenter's `spaced` is {shown(data)}; expected category pairs")
    return [(left, right) for left, right in data]
