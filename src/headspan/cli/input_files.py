"""The INPUTs of a command: CoNLL files, text files, or text."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import BinaryIO, cast

from headspan import conllu
from headspan.conllu import Sentence, looks_like_conll
from headspan.plumbing.errors import HeadspanError, named
from headspan.plumbing.files import UNREADABLE, input_name, not_text, open_input, unreadable

_PEEKED = 1 << 16  # bytes at the start of a file that decide what it is
_READ = 1 << 16  # characters of a text read at a time
_CONLL_NAME = re.compile(r".*\.conll[ux]?(\.(gz|xz|bz2|zst))?", re.DOTALL)
_ENDINGS = (
    "(conll[ux]?|txt|text|md|rst|log|tex|rtf|html?|xml|pdf|docx?|odt|csv|tsv|jsonl?|ndjson|parquet|"
    "gz|xz|bz2|zst|zip)"
)
_FILE_NAME = re.compile(
    rf"[^\s/]*([/{re.escape(os.sep)}]\S*|\.{_ENDINGS})",
    re.IGNORECASE,
)
_SENT_ID = re.compile(r"# *sent_id *=.*", re.DOTALL)

Segment = Callable[[Iterator[str]], Iterator[Sentence]]


@dataclass(frozen=True)
class Inputs:
    """The INPUTs of a command: files, `-` for standard input, or text.

    An argument without white space that has a separator, or an ending such as .txt, is meant as the
    name of a file; if there is no such file, that is an error. Any other argument that is not the
    name of a file is text.
    """

    names: Sequence[str]
    text: bool = False
    """Whether all of them are text, whatever they look like."""

    def __post_init__(self) -> None:
        if self.text:
            return
        if self.names.count("-") > 1:
            raise HeadspanError("standard input (-) can be only one of the inputs")
        for name in self.names:
            if _exists(name) and Path(name).is_dir():
                raise HeadspanError(
                    f"{name}: is a folder; expected a file (`headspan corpus` parses folders)"
                )
            if name != "-" and not _exists(name) and _FILE_NAME.fullmatch(name):
                raise HeadspanError(
                    f"{named(name)}: there is no such file (--text takes it as text)"
                )

    def sentences(self, segment: Segment) -> Generator[Sentence]:
        """Read all sentences; `segment` turns a text that arrives in pieces into sentences.

        No two inputs share a sent_id: the sentences of all texts are numbered together, and a
        sent_id in a CoNLL file gets a suffix if an earlier input has it.
        """
        numbers, earlier, empty = count(1), set[str](), True

        def numbered(pieces: Iterator[str]) -> Iterator[Sentence]:
            return _numbered(segment(pieces), numbers, earlier)

        for place, name in enumerate(self.names, 1):
            used = set()
            for sentence in _renamed(self._read(name, numbered), place, earlier):
                empty = empty and not len(sentence)
                if len(self.names) > 1 and sentence.sent_id:
                    used.add(sentence.sent_id)
                yield sentence
            earlier |= used
        if empty:
            what = "the input has" if len(self.names) == 1 else "the inputs have"
            print(f"headspan: {what} no sentences", file=sys.stderr)

    def shown(self, name: str) -> str:
        """The name of an input in messages."""
        return "the text" if self._is_text(name) else input_name(name)

    def _is_text(self, name: str) -> bool:
        return self.text or (name != "-" and not _exists(name))

    def _read(self, name: str, segment: Segment) -> Iterator[Sentence]:
        if self._is_text(name):
            yield from segment(iter([name]))
            return
        if name == "-":
            _announce_terminal()
        with ExitStack() as opened:
            stream = open_input(name, opened)
            start = _start(stream, name)
            if not start:
                return
            if _CONLL_NAME.fullmatch(name) or looks_like_conll(start):
                source = name if name != "-" else stream
                yield from opened.enter_context(conllu.read(source))
            else:
                # closed before the stream, also if an interruption leaves it unfinished
                yield from segment(opened.enter_context(closing(_pieces(stream, name))))


def is_conll(name: str) -> bool:
    """Return whether a file is CoNLL-U or CoNLL-X."""
    with ExitStack() as opened:
        return looks_like_conll(_start(open_input(name, opened), name))


def read_text(name: str) -> str:
    """Read the text of a file."""
    with ExitStack() as opened:
        return "".join(_pieces(open_input(name, opened), name))


def with_sent_id(sentence: Sentence, sent_id: str) -> Sentence:
    """The sentence, which has a sent_id, with another one."""
    if sentence.sent_id == sent_id:
        return sentence
    comments = (_SENT_ID.sub(f"# sent_id = {sent_id}", line) for line in sentence.comments)
    return replace(sentence, comments=tuple(comments))


def _numbered(
    sentences: Iterable[Sentence], numbers: Iterator[int], earlier: set[str]
) -> Iterator[Sentence]:
    """Number the sentences of a text, after those of earlier ones."""
    for sentence in sentences:
        yield with_sent_id(sentence, next(k for k in map(str, numbers) if k not in earlier))


def _renamed(sentences: Iterable[Sentence], number: int, earlier: set[str]) -> Iterator[Sentence]:
    """Change the sent_ids that earlier inputs have."""
    for sentence in sentences:
        if (sent_id := sentence.sent_id) in earlier:
            yield with_sent_id(sentence, f"{sent_id}-input{number}")
        else:
            yield sentence


def _announce_terminal() -> None:
    """Tell a person at a terminal that the command waits for text."""
    if sys.stdin is not None and sys.stdin.buffer.isatty():
        print("headspan: reading from the terminal; Ctrl-D ends the text", file=sys.stderr)


def _start(stream: BinaryIO, name: str) -> bytes:
    try:
        start = cast(io.BufferedReader, stream).peek(_PEEKED)
    except UNREADABLE as error:
        raise unreadable(name, error) from error
    if why := not_text(start):
        raise HeadspanError(f"{input_name(name)}: {why}")
    return start


def _exists(name: str) -> bool:
    try:
        return bool(name) and Path(name).exists()
    except (OSError, ValueError):  # too long for a name, or with a NUL inside
        return False


def _pieces(stream: BinaryIO, name: str) -> Generator[str]:
    text = io.TextIOWrapper(cast(io.BufferedReader, stream), encoding="utf-8-sig", newline="")
    try:
        piece = " " * _READ
        while len(piece) == _READ:  # a terminal would have to end the text twice otherwise
            piece = text.read(_READ)
            yield piece
    except (*UNREADABLE, UnicodeDecodeError) as error:
        raise unreadable(name, error) from error
    finally:
        text.detach()  # else it would close the caller's stream
