"""Cutting a text of any length at the best place there is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from headspan.corpus.chunks import Text

_PARAGRAPH_END = re.compile("\n[^\\S\n]*\n|\u2029")


class Cutter:
    """A document that arrives in pieces and leaves as Texts of at most `most` characters.

    It is cut after a blank line if there is one, else after a line end, else after white space,
    else anywhere; where depends on the text, not on how it arrived.
    """

    def __init__(self, document: str, file: str, *, line: int = 1, most: int) -> None:
        self.document = document
        self.file = file
        self.most = most
        self.line = line
        """Of what comes next out, in the file."""
        self._pieces: list[str] = []
        self._waiting = 0
        self._offset = 0
        self._first = self._begins = True

    def add(self, piece: str) -> Iterator[Text]:
        """Take a piece of the document; gives what is now sure to be a part of its own."""
        self._pieces.append(piece)
        self._waiting += len(piece)
        if self._waiting <= self.most:
            return
        text = "".join(self._pieces)
        start = 0
        while len(text) - start > self.most:
            end, paragraph = _end(text, start, start + self.most)
            yield from self._leave(text[start:end], paragraph)
            start = end
        self._pieces, self._waiting = [text[start:]], len(text) - start

    def skip(self, piece: str) -> Iterator[Text]:
        """Leave a piece out: its characters count, but are in no part. Gives what was before it."""
        yield from self.rest()
        self._offset += len(piece)
        self.line += piece.count("\n")

    def rest(self) -> Iterator[Text]:
        """What has arrived and has not left."""
        text = "".join(self._pieces)
        self._pieces, self._waiting = [], 0
        yield from self._leave(text, paragraph=False)

    def _leave(self, text: str, paragraph: bool) -> Iterator[Text]:
        """A part, unless it is blank. paragraph: whether it ends one."""
        if text and not text.isspace():
            yield Text(
                self.document, text, self.file, self.line, self._offset, self._first, self._begins
            )
            self._first, self._begins = False, paragraph
        self._offset += len(text)
        self.line += text.count("\n")


def _end(text: str, start: int, stop: int) -> tuple[int, bool]:
    """Where to cut text[start:stop], and whether a paragraph ends there."""
    end = 0
    for match in _PARAGRAPH_END.finditer(text, start, stop):
        end = match.end()
    if end:
        return end, True
    if end := text.rfind("\n", start, stop) + 1:
        return end, False
    head = text[start:stop]
    if not head[-1].isspace() and len(words := head.rsplit(None, 1)) == 2:
        return stop - len(words[1]), False
    return stop, False
