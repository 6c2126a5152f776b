"""Cutting a text of any length at the best places."""

from __future__ import annotations

import re
from collections.abc import Iterator

from headspan.corpus.chunks import TextPart

_PARAGRAPH_END = re.compile("\n[^\\S\n]*\n|\u2029")


class Cutter:
    """Cuts a document that arrives in pieces into parts of at most `max_size` characters.

    It is cut after a blank line if there is one, else after a line end, else after white space,
    else anywhere. Where it is cut depends on the text, not on how it arrived.
    """

    def __init__(self, document: str, file: str, *, line: int = 1, max_size: int) -> None:
        self.document = document
        self.file = file
        self.max_size = max_size
        self.line = line
        """The line of the file where the next part begins."""
        self._pieces: list[str] = []
        self._waiting = 0
        self._offset = 0
        self._first = self._begins_paragraph = True

    def add(self, piece: str) -> Iterator[TextPart]:
        """Take a piece of the document; yields the parts that are now complete."""
        self._pieces.append(piece)
        self._waiting += len(piece)
        if self._waiting <= self.max_size:
            return
        text = "".join(self._pieces)
        start = 0
        while len(text) - start > self.max_size:
            end, ends_paragraph = _end(text, start, start + self.max_size)
            yield from self._part(text[start:end], ends_paragraph)
            start = end
        self._pieces, self._waiting = [text[start:]], len(text) - start

    def skip(self, piece: str) -> Iterator[TextPart]:
        """Leave a piece out: it counts in offsets, but is in no part. Yields what came before."""
        yield from self.rest()
        self._offset += len(piece)
        self.line += piece.count("\n")

    def rest(self) -> Iterator[TextPart]:
        """Yield what has arrived and is not in a part yet."""
        text = "".join(self._pieces)
        self._pieces, self._waiting = [], 0
        yield from self._part(text, ends_paragraph=False)

    def _part(self, text: str, ends_paragraph: bool) -> Iterator[TextPart]:
        """Yield a part, unless it is blank."""
        if text and not text.isspace():
            yield TextPart(
                self.document, text, self.file, self.line, self._offset, self._first,
                self._begins_paragraph,
            )  # fmt: skip
            self._first, self._begins_paragraph = False, ends_paragraph
        self._offset += len(text)
        self.line += text.count("\n")


def _end(text: str, start: int, stop: int) -> tuple[int, bool]:
    """The position at which to cut text[start:stop], and whether a paragraph ends there."""
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
