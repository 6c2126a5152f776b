"""The INPUTs of a command: CoNLL files, text files, or text."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, cast

from headspan import conllu
from headspan.conllu import Sentence, looks_like_conll
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import UNREADABLE, input_name, open_input, unreadable

_PEEKED = 1 << 16  # bytes at the start of a file that decide what it is
_READ = 1 << 16  # characters of a text read at a time
_FILE_NAME = re.compile(r"[^\s]+\.(conllu|conllx|conll|txt|gz|xz)")

Segment = Callable[[Iterator[str]], Iterator[Sentence]]


def sentences(name: str, segment: Segment) -> Iterator[Sentence]:
    """Read the sentences of an INPUT: an existing file, `-` for standard input, or else a text.

    The first lines of a file decide whether it is CoNLL-U, CoNLL-X or text; `segment` turns a text
    that arrives in pieces into sentences.
    """
    if name != "-" and not _exists(name):
        if _FILE_NAME.fullmatch(name):
            raise HeadspanError(
                f"{name}: there is no such file (pass a text that looks like a file name on "
                "standard input)"
            )
        yield from segment(iter([name]))
        return
    with ExitStack() as opened:
        stream = open_input(name, opened)
        if looks_like_conll(_start(stream, name)):
            yield from conllu.read(name if name != "-" else stream)
        else:
            yield from segment(_pieces(stream, name))


def is_conll(name: str) -> bool:
    """Return whether a file is CoNLL-U or CoNLL-X."""
    with ExitStack() as opened:
        return looks_like_conll(_start(open_input(name, opened), name))


def read_text(name: str) -> str:
    """Read the text of a file."""
    with ExitStack() as opened:
        return "".join(_pieces(open_input(name, opened), name))


def _start(stream: BinaryIO, name: str) -> bytes:
    try:
        return cast(io.BufferedReader, stream).peek(_PEEKED)
    except UNREADABLE as error:
        raise unreadable(name, error) from error


def _exists(name: str) -> bool:
    try:
        return bool(name) and Path(name).exists()
    except (OSError, ValueError):  # too long for a name, or with a NUL inside
        return False


def _pieces(stream: BinaryIO, name: str) -> Iterator[str]:
    text = io.TextIOWrapper(cast(io.BufferedReader, stream), encoding="utf-8-sig", newline="")
    try:
        while piece := text.read(_READ):
            yield piece
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise HeadspanError(
            f"{input_name(name)}: is not UTF-8: the byte {byte:#04x} is invalid"
        ) from error
    except UNREADABLE as error:
        raise unreadable(name, error) from error
    finally:
        text.detach()  # else it would close the caller's stream
