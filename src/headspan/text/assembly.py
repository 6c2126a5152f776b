"""Tokens with their places, put together to sentences that any CoNLL-U file can hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from headspan.conllu import NO_HEAD, MultiwordToken, Sentence

_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
"""What UTF-8 or CoNLL-U has no place for. White space inside a token is a space already."""


class Piece(NamedTuple):
    """A token: its form, where it stands, the words it stands for, and whether a space follows."""

    form: str
    start: int
    end: int
    words: tuple[str, ...]
    space_after: bool


def writable(form: str) -> str:
    """The form as a file can hold it; its place in the text says what it was."""
    return form if form.isascii() and "\0" not in form else _UNWRITABLE.sub("\ufffd", form)


def sentence(pieces: Iterable[Piece], *, number: int, begins_paragraph: bool) -> Sentence:
    """A sentence without a tree. Its text is its tokens, with one space where there was some."""
    forms: list[str] = []
    misc: list[str] = []
    multiwords: list[MultiwordToken] = []
    text: list[str] = []
    for form, start, end, words, space_after in pieces:
        place = f"{'' if space_after else 'SpaceAfter=No|'}TokenRange={start}:{end}"
        first = len(forms) + 1
        forms += words
        if len(words) == 1:
            misc.append(place)
        else:
            misc += ["_"] * len(words)
            multiwords.append(MultiwordToken(first, len(forms), (form, *"_______", place)))
        text.append(form + " " if space_after else form)
    comments = (
        *(("# newpar",) if begins_paragraph else ()),
        f"# sent_id = {number}",
        f"# text = {''.join(text).rstrip(' ')}",
    )
    empty = ("_",) * len(forms)
    return Sentence(
        tuple(forms), empty, empty, empty, empty, (NO_HEAD,) * len(forms), empty, empty,
        tuple(misc), comments, tuple(multiwords),
    )  # fmt: skip


def sentences_from_lines(lines: Iterable[str]) -> Iterator[Sentence]:
    """Sentences of words that are already there: one a line, white space between words.

    lines: as a file gives them; one without its line end counts as though it had one. A paragraph
        begins after a blank line.
    """
    offset = number = 0
    begins = True
    for line in lines:
        pieces = [
            Piece(form, offset + match.start(), offset + match.end(), (form,), True)
            for match in re.finditer(r"\S+", line)
            for form in (writable(match[0]),)
        ]
        if pieces:
            number += 1
            yield sentence(pieces, number=number, begins_paragraph=begins)
        begins = not pieces
        offset += len(line) + (not line.endswith(("\n", "\r")))
