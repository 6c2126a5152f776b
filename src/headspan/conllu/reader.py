"""Read CoNLL-U and CoNLL-X, one sentence at a time."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO, BinaryIO, cast

from headspan.conllu.blocks import Block, BlockParser
from headspan.conllu.conllu_error import ConlluError
from headspan.conllu.sentence import Format, Sentence
from headspan.plumbing.errors import HeadspanError, check_choice
from headspan.plumbing.files import (
    UNREADABLE,
    PathLike,
    decompressed,
    input_name,
    is_text,
    open_input,
)

_BOM = b"\xef\xbb\xbf"
_BLANK = frozenset((b"\n", b"\r\n", b"\r"))  # the last only at the end of a file
_MAX_ERRORS = 100


def read(
    source: PathLike | IO[bytes] | IO[str],
    *,
    format: Format | None = None,
    skip_bad: bool = False,
) -> Reader:
    """Read the sentences of a CoNLL file, one at a time.

    source: a path (`-` is standard input; gzip and xz are unpacked) or an open file of bytes or
        text. To read sentences from a string, use `parse`.
    format: `conllu` or `conllx`; None recognises it from the first word, else from the file's name.
    skip_bad: skip malformed sentences instead of raising ConlluError; the reader counts them in
        `skipped` and keeps the first hundred errors in `errors`.
    """
    opened = ExitStack()
    if isinstance(source, str | os.PathLike):
        name = input_name(source)
        if "\n" in name:
            raise HeadspanError(
                "expected the name of a file, not its text; to read a text, use parse"
            )
        source = open_input(source, opened)
    elif not hasattr(source, "read"):
        raise HeadspanError(f"expected a path or an open file, not {type(source).__name__}")
    else:
        name = str(getattr(source, "name", "input"))
        if not is_text(source):
            source = decompressed(cast(BinaryIO, source), opened)
    return Reader(source, name=name, format=format, skip_bad=skip_bad, opened=opened)


def parse(text: str, *, format: Format | None = None, skip_bad: bool = False) -> Reader:
    """Read the sentences of a string in CoNLL-U or CoNLL-X. The options are those of `read`."""
    return Reader(io.StringIO(text, newline="\n"), name="text", format=format, skip_bad=skip_bad)


class Reader(Iterator[Sentence]):
    """An iterator over the sentences of one source.

    A file that `read` opened is closed at the end, or earlier by a `with` block.
    """

    def __init__(
        self,
        stream: IO[bytes] | IO[str],
        *,
        name: str,
        format: Format | None = None,
        skip_bad: bool = False,
        opened: ExitStack | None = None,
    ) -> None:
        self._opened = opened or ExitStack()
        self._blocks: Iterator[Block] = iter(())
        if format is not None:
            check_choice("format", format, Format)
        self.name = name
        self.skipped = 0
        self.errors: list[ConlluError] = []
        self._skip_bad = skip_bad
        self._parser = BlockParser(name, format)
        self._blocks = _blocks(stream, name)

    @property
    def format(self) -> Format | None:
        """The format that was asked for, or that was recognised once a word had been read."""
        return self._parser.format

    def __next__(self) -> Sentence:
        for block in self._blocks:
            try:
                return self._parser.sentence(block)
            except ConlluError as error:
                if not self._skip_bad:
                    self.close()
                    raise
                self.skipped += 1
                if len(self.errors) < _MAX_ERRORS:
                    self.errors.append(error)
        self.close()
        raise StopIteration

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop reading; close the source if `read` opened it."""
        self._blocks = iter(())
        self._opened.close()

    def __del__(self) -> None:
        self.close()


def _blocks(stream: IO[bytes] | IO[str], name: str) -> Iterator[Block]:
    """Yield the lines of each sentence, with the blank lines that follow it."""
    lines = _lines(stream, name)
    first = next(lines, b"")
    before = _BOM if first.startswith(_BOM) else b""
    block, blanks, start = list[bytes](), list[bytes](), 1
    for number, line in enumerate(_with_first(first.removeprefix(_BOM), lines), 1):
        if line in _BLANK:
            blanks.append(line)
            continue
        if blanks:
            if block:
                yield Block(start, before, block, b"".join(blanks))
                before = b""
            else:
                before += b"".join(blanks)
            block, blanks = [], []
        if not block:
            start = number
        block.append(line)
    if block or before or blanks:
        yield Block(start, before, block, b"".join(blanks))


def _lines(stream: IO[bytes] | IO[str], name: str) -> Iterator[bytes]:
    number = 1
    try:
        for line in _byte_lines(stream):
            yield line
            number += 1
    except UnicodeDecodeError as error:  # a text file decodes ahead of the line it returns
        found = f"text that is not UTF-8 on this line or a later one ({error.reason})"
        raise ConlluError(name, number, found, "UTF-8") from error
    except UNREADABLE as error:
        found = f"the end of the readable data ({error})"
        raise ConlluError(name, number, found, "a complete file") from error


def _byte_lines(stream: IO[bytes] | IO[str]) -> Iterator[bytes]:
    """Yield the lines as bytes, split only at line feeds; a text file may split elsewhere, too."""
    if not is_text(stream):
        for line in cast(IO[bytes], stream):  # noqa: UP028 (it would close the caller's file)
            yield line
        return
    rest = ""
    while piece := cast(IO[str], stream).read(1 << 16):
        *lines, rest = (rest + piece).split("\n")
        for text in lines:
            yield text.encode(errors="surrogatepass") + b"\n"  # the parser will report it
    if rest:
        yield rest.encode(errors="surrogatepass")


def _with_first(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest
