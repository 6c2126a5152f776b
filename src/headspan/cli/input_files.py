"""What the INPUTs of a command are: files or text, CoNLL or not."""

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

_PEEKED = 1 << 16  # bytes of a file that are looked at to see what it is
_READ = 1 << 16  # characters of a text that are read at a time
_FILE_NAME = re.compile(r"[^\s]+\.(conllu|conllx|conll|txt|gz|xz)")

Segment = Callable[[Iterator[str]], Iterator[Sentence]]


def sentences(name: str, segment: Segment) -> Iterator[Sentence]:
    """The sentences of an INPUT: of an existing file, of standard input (`-`), else of a text.

    Whether a file is CoNLL-U, CoNLL-X or text is seen from its first lines; `segment` turns a text
    that arrives in pieces into sentences.
    """
    if name != "-" and not _exists(name):
        if _FILE_NAME.fullmatch(name):
            raise HeadspanError(
                f"{name}: there is no such file (text that looks like the name of a file can come "
                "through standard input)"
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
    """Whether a file is CoNLL-U or CoNLL-X."""
    with ExitStack() as opened:
        return looks_like_conll(_start(open_input(name, opened), name))


def read_text(name: str) -> str:
    """The text of a file."""
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
        raise HeadspanError(
            f"{input_name(name)}: is not UTF-8: the byte {error.object[error.start]:#04x} was found"
        ) from error
    except UNREADABLE as error:
        raise unreadable(name, error) from error
    finally:
        text.detach()  # or it would close a stream that is not its own
