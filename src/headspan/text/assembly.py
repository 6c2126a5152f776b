"""Tokens and their positions in a text, assembled into sentences that any CoNLL-U file can hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from headspan.conllu import NO_HEAD, MultiwordToken, Sentence
from headspan.conllu.places import TOKEN_RANGE

_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
"""Characters that UTF-8 or CoNLL-U cannot hold. White space inside a token is a space already."""


class PlacedToken(NamedTuple):
    """A token: its form, its position in the text, its words, and whether a space follows."""

    form: str
    start: int
    end: int
    words: tuple[str, ...]
    space_after: bool


def writable(form: str) -> str:
    """The form as a file can hold it; its position in the text still leads to the original."""
    return form if form.isascii() and "\0" not in form else _UNWRITABLE.sub("\ufffd", form)


def shift_token_range(misc: str, offset: int) -> str:
    """The MISC column of a token whose text begins `offset` characters into a longer one."""
    return TOKEN_RANGE.sub(
        lambda m: f"{m[1]}TokenRange={int(m[2]) + offset}:{int(m[3]) + offset}", misc
    )


def make_sentence(
    tokens: Iterable[PlacedToken], *, number: int, begins_paragraph: bool
) -> Sentence:
    """A sentence without a tree. Its text is its tokens, any white space between them one space."""
    forms: list[str] = []
    misc: list[str] = []
    multiwords: list[MultiwordToken] = []
    text: list[str] = []
    for form, start, end, words, space_after in tokens:
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


class Line(NamedTuple):
    """A line that is not blank: its words and where each begins in the text."""

    words: list[tuple[str, int]]
    begins_paragraph: bool
    """Whether it is the first line, or the line before it is blank."""


def split_lines(lines: Iterable[str]) -> Iterator[Line]:
    """Split lines at white space. A line without a line end counts as if it had one."""
    offset, begins = 0, True
    for line in lines:
        words = [(match[0], offset + match.start()) for match in re.finditer(r"\S+", line)]
        if words:
            yield Line(words, begins)
        begins = not words
        offset += len(line) + (not line.endswith(("\n", "\r")))


def sentences_from_lines(lines: Iterable[str]) -> Iterator[Sentence]:
    """Sentences from text that is split already: one per line, white space between words.

    lines: as a file yields them; one without a line end counts as if it had one. A paragraph
        begins after a blank line.
    """
    for number, (words, begins_paragraph) in enumerate(split_lines(lines), 1):
        tokens = [
            PlacedToken(form, start, start + len(form), (form,), space_after=True)
            for form, start in ((writable(word), start) for word, start in words)
        ]
        yield make_sentence(tokens, number=number, begins_paragraph=begins_paragraph)
