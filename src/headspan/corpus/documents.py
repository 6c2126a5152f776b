"""The documents of files of all kinds, and the input among them that cannot be read."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

from headspan.conllu import ConlluError, looks_like_conll
from headspan.conllu.blocks import Block, BlockParser
from headspan.corpus.chunks import ConllPart, Part, SkippedInput, WordsPart
from headspan.corpus.cutting import Cutter
from headspan.plumbing.files import (
    UNREADABLE,
    decompressed,
    input_name,
    not_text,
    open_input,
    reason,
)
from headspan.text.assembly import writable

_PEEKED = _PIECE = 1 << 16
_LONGEST = 1 << 26
"""Most bytes of a line of JSON, or of a sentence of CoNLL."""
_BOM = b"\xef\xbb\xbf"
_PACKED = (".gz", ".xz", ".bz2", ".zst")
_JSON = (".jsonl", ".ndjson", ".json")

Items: TypeAlias = Iterator[Part | SkippedInput]


class ByteCounter:
    """Counts the bytes that have been read from all files."""

    def __init__(self) -> None:
        self._finished = 0
        self._tell: Callable[[], int] = int

    def begin_file(self, tell: Callable[[], int]) -> None:
        self._tell = tell

    def end_file(self, size: int) -> None:
        self._finished, self._tell = self._finished + size, int

    def bytes(self) -> int:
        return self._finished + self._tell()


def read_parts(name: str, root: Path, max_size: int, counter: ByteCounter) -> Items:
    """The contents of a file, in parts of at most `max_size` characters.

    root: the folder that the name is relative to. A file that cannot be read, or not to its end, is
    a skipped input like any other.
    """
    file = input_name(name)
    try:
        size = 0 if name == "-" else (root / name).stat().st_size
        if name.endswith(".parquet"):
            from headspan.corpus.parquet import rows

            for number, row, share_read in rows(root / name):
                counter.begin_file(partial(int, size * share_read))
                yield from document_parts(row, file, number, max_size)
        else:
            with ExitStack() as opened:
                yield from _of_stream(name, root, max_size, counter, opened)
        counter.end_file(size)
    except (*UNREADABLE, ValueError) as error:
        yield SkippedInput(f"cannot be read to the end: {reason(error)}", file)


def _of_stream(
    name: str, root: Path, max_size: int, counter: ByteCounter, opened: ExitStack
) -> Items:
    file = input_name(name)
    if name == "-":
        stream = open_input(name, opened)
    else:
        raw = opened.enter_context((root / name).open("rb"))
        stream = decompressed(raw, opened)
        counter.begin_file(raw.tell)
    start = cast(io.BufferedReader, stream).peek(_PEEKED)
    plain = name
    while plain.endswith(_PACKED):
        plain = plain[: plain.rindex(".")]
    if plain.endswith(_JSON) or (name == "-" and start.startswith(b'{"')):
        yield from _json_lines(stream, file, max_size)
    elif looks_like_conll(start):
        yield from _conll(stream, file, plain)
    elif why := not_text(start):
        yield SkippedInput(why, file)
    else:
        yield from _text(stream, file, max_size)


def _text(stream: BinaryIO, file: str, max_size: int) -> Items:
    """A file that is one document. Adjacent lines that are not UTF-8 are skipped together."""
    cutter = Cutter(_document_id(file), file, max_size=max_size)
    held = b""  # the first bytes of a character that ends in the next piece
    bad: list[int] = []  # the first line that is not UTF-8, its first bad byte, the last such line
    line, at_start = 1, True
    while True:
        more = stream.readline(_PIECE)
        raw, held = held + more, b""
        if not raw:
            break
        if at_start:
            raw, at_start = raw.removeprefix(_BOM), False
        try:
            piece = raw.decode()
        except UnicodeDecodeError as error:
            if more and error.reason == "unexpected end of data" and not raw.endswith(b"\n"):
                piece, held = raw[: error.start].decode(), raw[error.start :]
            else:
                yield from cutter.skip(raw.decode(errors="replace"))
                bad = [bad[0], bad[1], line] if bad else [line, raw[error.start], line]
                line += raw.count(b"\n")
                continue
        if bad:
            yield _not_utf8(file, *bad)
            bad = []
        line += piece.count("\n")
        yield from cutter.add(piece)
    if bad:
        yield _not_utf8(file, *bad)
    yield from cutter.rest()


def _not_utf8(file: str, line: int, byte: int, last: int) -> SkippedInput:
    what = "the line is" if line == last else f"lines {line:,} to {last:,} are"
    return SkippedInput(f"the byte 0x{byte:02x} is not UTF-8; {what} skipped", file, line, file)


def _lines(stream: BinaryIO, longest: int) -> Iterator[tuple[int, bytes]]:
    """The lines with their numbers; a line that is too long is cut after `longest` bytes."""
    number = 0
    while line := stream.readline(longest):
        number += 1
        yield number, line
        while not line.endswith(b"\n") and len(line) == longest:
            line = stream.readline(longest)
            if not line:
                return


def _json_lines(stream: BinaryIO, file: str, max_size: int) -> Items:
    for number, line in _lines(stream, _LONGEST):
        if not line.strip():
            continue
        if len(line) == _LONGEST:
            why = f"the line has more than {_LONGEST:,} bytes"
            yield SkippedInput(why, file, number)
            continue
        try:
            row = json.loads((line.removeprefix(_BOM) if number == 1 else line).decode())
        except (ValueError, RecursionError) as error:
            yield SkippedInput(f"the line is not JSON in UTF-8: {error}", file, number)
            continue
        yield from document_parts(row, file, number, max_size)


def document_parts(row: Any, file: str, number: int, max_size: int) -> Items:
    """The parts of a document in JSON or in a row of a table: `text` or `tokens`, perhaps `id`."""
    if not isinstance(row, Mapping):
        why = f"found {type(row).__name__}; expected an object with `text`"
        yield SkippedInput(why, file, number)
        return
    name = row.get("id")
    document = _document_id(f"{file}:{number}" if name is None else str(name))
    text, tokens = row.get("text"), row.get("tokens")
    if isinstance(text, str):
        cutter = Cutter(document, file, max_size=max_size)
        for part in [*cutter.add(text), *cutter.rest()]:
            yield replace(part, line=number)
    elif (sentences := _words(tokens)) is not None:
        yield from _divided(document, sentences, file, number, max_size)
    else:
        what = "neither" if text is None and tokens is None else "something else"
        expected = "`text`, a string, or `tokens`, a list of words or of lists of words"
        yield SkippedInput(f"found {what}; expected {expected}", file, number, document)


def _document_id(name: str) -> str:
    """A document's name as a comment can hold it."""
    return writable(" ".join(name.split()))


def _words(tokens: Any) -> list[tuple[str, ...]] | None:
    """The words of each sentence, or None if `tokens` holds something else."""
    if not isinstance(tokens, list):
        return None
    sentences = tokens if all(isinstance(words, list) for words in tokens) else [tokens]
    good = all(isinstance(word, str) and word.strip() for words in sentences for word in words)
    return [tuple(words) for words in sentences if words] if good else None


def _divided(
    document: str, sentences: Sequence[tuple[str, ...]], file: str, line: int, max_size: int
) -> Iterator[WordsPart]:
    """The document in parts of at most `max_size` characters, or of one sentence."""
    waiting: list[tuple[str, ...]] = []
    size, first = 0, True
    for words in sentences:
        more = sum(len(word) + 1 for word in words)
        if waiting and size + more > max_size:
            yield WordsPart(document, tuple(waiting), file, line, first)
            waiting, size, first = [], 0, False
        waiting.append(words)
        size += more
    if waiting:
        yield WordsPart(document, tuple(waiting), file, line, first)


def _conll(stream: BinaryIO, file: str, name: str) -> Items:
    """The sentences of a file as blocks of lines, which are only read where they are parsed."""
    probe = BlockParser(name, None)
    block: list[bytes] = []
    size = start = 0
    document = ""
    for number, line in _lines(stream, _LONGEST):
        if number == 1:
            line = line.removeprefix(_BOM)
        if line.rstrip(b"\r\n"):
            start = start or number
            size += len(line)
            if size < _LONGEST:
                block.append(line)
            if line.startswith(b"# newdoc"):
                document = line.partition(b"=")[2].decode(errors="replace").strip()
        elif start:
            yield _block(document, block, file, start, size, probe)
            block, size, start = [], 0, 0
    if start:
        yield _block(document, block, file, start, size, probe)


def _block(
    document: str, lines: list[bytes], file: str, start: int, size: int, probe: BlockParser
) -> ConllPart | SkippedInput:
    if size >= _LONGEST:
        why = f"the sentence has more than {_LONGEST:,} bytes"
        return SkippedInput(why, file, start, document)
    if probe.format is None:
        with suppress(ConlluError):  # reading a sentence tells the parser the format of the file
            probe.sentence(Block(start, b"", lines, b"\n"))
    data = b"".join(lines)
    data = data if data.endswith(b"\n") else data + b"\n"
    return ConllPart(document, data, file, start, probe.format)
