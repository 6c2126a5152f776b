"""A text that arrives in pieces, as windows of bounded size that do not depend on the pieces.

Runs of white space become one space, and a run with a blank line ends a paragraph. A paragraph is
cut into windows at fixed distances from its start; around its core a window has a margin that the
network sees and whose ends it does not decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from headspan.text.characters import Numbers

CORE, MARGIN = 768, 128
_PIECE = 1 << 16
_RUNS = re.compile(r"\s+|\S+")
_LINE_END = re.compile("\r\n|[\n\r\x85\u2028]")


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of a paragraph, white space normalised, and where its characters stood."""

    text: str
    offsets: Numbers
    """Of each character in the whole text."""
    start: int
    """The core is start … stop, the rest is margin."""
    stop: int
    begins: bool
    """Whether the core begins a paragraph."""
    ends: bool
    """Whether the core ends a paragraph, or a line that is a sentence."""
    space_after: bool
    """Whether white space follows the core, if that is the end of a paragraph."""


def windows(pieces: Iterable[str]) -> Iterator[Window]:
    """The windows of a text that arrives in pieces of any size."""
    paragraph, gap, offset = _Paragraph(begins=True), _Gap(), 0
    for piece in pieces:
        for start in range(0, len(piece), _PIECE):
            part = piece[start : start + _PIECE]
            for match in _RUNS.finditer(part):
                run = match[0]
                if run[0].isspace():
                    gap.add(run)
                    continue
                if gap.lines > 1 and paragraph:
                    yield from paragraph.windows(complete=True, space_after=True)
                    paragraph = _Paragraph(begins=True)
                paragraph.add(run, offset + match.start(), space_before=gap.wide)
                gap = _Gap()
            offset += len(part)
            yield from paragraph.windows()
    if paragraph:
        yield from paragraph.windows(complete=True, space_after=gap.wide)


def line_windows(lines: Iterable[str]) -> Iterator[Window]:
    """The windows of lines, each a paragraph; a paragraph begins after a blank line only.

    A line without its line end counts as though it had one.
    """
    offset, begins = 0, True
    for line in lines:
        paragraph = _Paragraph(begins=begins)
        for match in re.finditer(r"\S+", line):
            paragraph.add(match[0], offset + match.start(), space_before=True)
        begins = not paragraph
        if paragraph:
            yield from paragraph.windows(complete=True, space_after=True)
        offset += len(line) + (not line.endswith(("\n", "\r")))


class _Gap:
    """White space between two runs of characters, which may have arrived in pieces itself."""

    __slots__ = ("_returned", "lines", "wide")

    def __init__(self) -> None:
        self.wide = False
        self.lines = 0
        """How many line ends it has."""
        self._returned = False

    def add(self, run: str) -> None:
        self.wide = True
        if run == " ":
            self._returned = False
            return
        self.lines += len(_LINE_END.findall(run)) + 2 * run.count("\u2029")
        self.lines -= self._returned and run[0] == "\n"  # a line end whose halves came apart
        self._returned = run[-1] == "\r"


class _Paragraph:
    """What has arrived of a paragraph and was not yet in the core of a window."""

    def __init__(self, *, begins: bool) -> None:
        self._begins = begins
        self._text = ""
        self._offsets = np.zeros(0, np.int64)
        self._start = 0
        self._runs: list[str] = []
        self._shifts: list[int] = []
        self._arrived = 0

    def __bool__(self) -> bool:
        return bool(self._text or self._runs)

    def add(self, run: str, offset: int, *, space_before: bool) -> None:
        if space_before and self:
            run, offset = " " + run, offset - 1
        self._runs.append(run)
        self._shifts.append(offset - self._arrived)
        self._arrived += len(run)

    def windows(self, *, complete: bool = False, space_after: bool = False) -> Iterator[Window]:
        """The windows whose margin has arrived, or all that remain of a complete paragraph."""
        lengths = np.array([len(run) for run in self._runs], np.int64)
        shifts = np.repeat(np.array(self._shifts, np.int64), lengths)
        places = np.arange(self._arrived - len(shifts), self._arrived)
        self._text += "".join(self._runs)
        self._offsets = np.concatenate([self._offsets, places + shifts])
        self._runs, self._shifts = [], []
        while len(self._text) > (stop := self._start + CORE) + (0 if complete else MARGIN):
            yield self._window(stop)
            drop = stop - MARGIN
            self._text, self._offsets = self._text[drop:], self._offsets[drop:]
            self._start, self._begins = MARGIN, False
        if complete:
            yield self._window(len(self._text), ends=True, space_after=space_after)

    def _window(self, stop: int, *, ends: bool = False, space_after: bool = False) -> Window:
        text, offsets = self._text[: stop + MARGIN], self._offsets[: stop + MARGIN]
        return Window(text, offsets, self._start, stop, self._begins, ends, space_after)
