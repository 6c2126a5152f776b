"""A text that arrives in pieces, cut into windows of bounded size that do not depend on the pieces.

Every run of white space becomes one space, or one line end if it contains one, and a run with a
blank line ends a paragraph. A paragraph is cut into windows, at white space where there is some,
and so that a long address is in one window. Around its core, a window has a margin: the boundary
tagger sees it, but finds boundaries only in the core.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from headspan.text.assembly import split_lines
from headspan.text.characters import Numbers

CORE, MARGIN = 768, 128
_BEFORE_STOP = 256
"""A core ends at the last white space in this many characters, if there is one."""
LINE_END, WRAPPED = "\n", "\v"
"""A line end where the next word would have fitted on the line, and one where it would not."""
_NARROWEST = 40
_LONGEST_PIECE = 1 << 16
_RUNS = re.compile(r"\s+|\S+")
_LINE_END = re.compile("\r\n|[\n\r\x85\u2028]")


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of a paragraph with white space normalised, and where its characters came from."""

    text: str
    offsets: Numbers
    """The position of each character in the whole text."""
    start: int
    """The core is text[start:stop]; the rest is margin."""
    stop: int
    begins: bool
    """Whether the core begins a paragraph."""
    ends: bool
    """Whether the core ends a paragraph, or a line that is a sentence."""
    space_after: bool
    """Whether white space follows the core, if the core ends a paragraph."""


def mark_line_ends(text: str) -> str:
    """Tell the two kinds of line ends apart.

    The width of lines is the length of the longest; prose is hardly ever wrapped at less than 40.
    """
    if LINE_END not in text:
        return text
    lines = text.split(LINE_END)
    width = max(_NARROWEST, *map(len, lines))
    marked = [lines[0]]
    for line, following in pairwise(lines):
        needed = len(line) + 1 + len(following.partition(" ")[0])
        marked += (LINE_END if needed <= width else WRAPPED), following
    return "".join(marked)


def windows(pieces: Iterable[str], *, line_ends: bool) -> Iterator[Window]:
    """The windows of a text that arrives in pieces of any size.

    line_ends: whether single line ends can be seen; otherwise, they are spaces.
    """
    paragraph, space, offset = _ParagraphBuffer(begins=True), _WhiteSpace(), 0
    for piece in pieces:
        for start in range(0, len(piece), _LONGEST_PIECE):
            part = piece[start : start + _LONGEST_PIECE]
            for match in _RUNS.finditer(part):
                run = match[0]
                if run[0].isspace():
                    space.add(run)
                    continue
                if space.line_ends > 1 and paragraph:
                    yield from paragraph.windows(complete=True, space_after=True)
                    paragraph = _ParagraphBuffer(begins=True)
                between = LINE_END if line_ends and space.line_ends else " "
                paragraph.add(run, offset + match.start(), between if space else "")
                space = _WhiteSpace()
            offset += len(part)
            yield from paragraph.windows()
    if paragraph:
        yield from paragraph.windows(complete=True, space_after=bool(space))


def line_windows(lines: Iterable[str]) -> Iterator[Window]:
    """The windows of lines, none of which spans two lines.

    A window begins a paragraph only after a blank line. A line without a line end counts as if it
    had one.
    """
    for words, begins_paragraph in split_lines(lines):
        line = _ParagraphBuffer(begins=begins_paragraph)
        for word, start in words:
            line.add(word, start, " ")
        yield from line.windows(complete=True, space_after=True)


class _WhiteSpace:
    """The white space between two runs of other characters; it may arrive in several pieces."""

    __slots__ = ("_empty", "_ends_with_return", "line_ends")

    def __init__(self) -> None:
        self.line_ends = 0
        self._empty = True
        self._ends_with_return = False

    def __bool__(self) -> bool:
        return not self._empty

    def add(self, run: str) -> None:
        self._empty = False
        if run == " ":
            self._ends_with_return = False
            return
        self.line_ends += len(_LINE_END.findall(run)) + 2 * run.count("\u2029")
        self.line_ends -= self._ends_with_return and run[0] == "\n"  # \r\n arrived in two pieces
        self._ends_with_return = run[-1] == "\r"


class _ParagraphBuffer:
    """The characters of a paragraph that have arrived and have not been in a window's core yet."""

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

    def add(self, run: str, offset: int, between: str) -> None:
        """Add a run of characters. between: what is before it, a space, a line end or nothing."""
        if between and self:
            run, offset = between + run, offset - 1
        self._runs.append(run)
        self._shifts.append(offset - self._arrived)
        self._arrived += len(run)

    def windows(self, *, complete: bool = False, space_after: bool = False) -> Iterator[Window]:
        """The windows whose margin has arrived; if the paragraph is complete, all that remain."""
        lengths = np.array([len(run) for run in self._runs], np.int64)
        shifts = np.repeat(np.array(self._shifts, np.int64), lengths)
        positions = np.arange(self._arrived - len(shifts), self._arrived)
        self._text += "".join(self._runs)
        self._offsets = np.concatenate([self._offsets, positions + shifts])
        self._runs, self._shifts = [], []
        while len(self._text) > self._start + CORE + (0 if complete else MARGIN):
            stop = self._stop()
            yield self._window(stop)
            drop = stop - MARGIN
            self._text, self._offsets = self._text[drop:], self._offsets[drop:]
            self._start, self._begins = MARGIN, False
        if complete:
            yield self._window(len(self._text), ends=True, space_after=space_after)

    def _stop(self) -> int:
        """The end of the next core."""
        most = self._start + CORE
        for stop in range(most, most - _BEFORE_STOP, -1):
            if self._text[stop - 1].isspace():
                return stop
        return most

    def _window(self, stop: int, *, ends: bool = False, space_after: bool = False) -> Window:
        text, offsets = self._text[: stop + MARGIN], self._offsets[: stop + MARGIN]
        marked = mark_line_ends(text)
        return Window(marked, offsets, self._start, stop, self._begins, ends, space_after)
