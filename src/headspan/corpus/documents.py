"""The documents of files of all kinds, one at a time; what cannot be read is told apart."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

from headspan.conllu import ConlluError, Format, looks_like_conll
from headspan.conllu.blocks import Block, BlockParser
from headspan.corpus.chunks import Conll, Part, Problem, Text, Words
from headspan.corpus.cutting import Cutter
from headspan.plumbing.files import UNREADABLE, decompressed, input_name, open_input, reason
from headspan.text.assembly import writable

_PEEKED = _PIECE = 1 << 16
_LONGEST = 1 << 26  # bytes of a line of JSON, or of a sentence of CoNLL
_BOM = b"\xef\xbb\xbf"
_PACKED = (".gz", ".xz", ".bz2", ".zst")
_JSON = (".jsonl", ".ndjson", ".json")

Items: TypeAlias = Iterator[Part | Problem]


class Meter:
    """How many bytes of the files have been read."""

    def __init__(self) -> None:
        self._before = 0
        self._tell: Callable[[], int] = int

    def begin(self, tell: Callable[[], int]) -> None:
        self._tell = tell

    def end(self, size: int) -> None:
        self._before, self._tell = self._before + size, int

    def bytes(self) -> int:
        return self._before + self._tell()


def documents(name: str, root: Path, most: int, meter: Meter) -> Items:
    """What is in a file, in parts of at most `most` characters.

    root: what the name is relative to. That it cannot be read, or no further, is a problem like
    others.
    """
    file = input_name(name)
    try:
        size = 0 if name == "-" else (root / name).stat().st_size
        if name.endswith(".parquet"):
            from headspan.corpus.parquet import rows

            for number, row, at in rows(root / name):
                meter.begin(partial(int, size * at))
                yield from document_parts(row, file, number, most)
        else:
            with ExitStack() as opened:
                yield from _of_stream(name, root, most, meter, opened)
        meter.end(size)
    except (*UNREADABLE, ValueError) as error:
        yield Problem(f"cannot be read, or no further: {reason(error)}", file)


def _of_stream(name: str, root: Path, most: int, meter: Meter, opened: ExitStack) -> Items:
    file = input_name(name)
    if name == "-":
        stream = open_input(name, opened)
    else:
        raw = opened.enter_context((root / name).open("rb"))
        stream = decompressed(raw, opened)
        meter.begin(raw.tell)
    start = cast(io.BufferedReader, stream).peek(_PEEKED)
    plain = name
    while plain.endswith(_PACKED):
        plain = plain[: plain.rindex(".")]
    if plain.endswith(_JSON) or (name == "-" and start.startswith(b'{"')):
        yield from _json_lines(stream, file, most)
    elif looks_like_conll(start):
        yield from _conll(stream, file, plain)
    else:
        yield from _text(stream, file, most)


def _text(stream: BinaryIO, file: str, most: int) -> Items:
    """A file that is one document. Lines that are not UTF-8 are left out, and told together."""
    cutter = Cutter(_id(file), file, most=most)
    held = b""  # the first bytes of a character whose others are in the next piece
    bad: list[int] = []  # the first line that is not UTF-8, the byte, and how many pieces follow
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


def _not_utf8(file: str, line: int, byte: int, last: int) -> Problem:
    what = "the line is" if line == last else f"lines {line:,} to {last:,} are"
    return Problem(f"the byte 0x{byte:02x} is not UTF-8; {what} left out", file, line, file)


def _lines(stream: BinaryIO, longest: int) -> Iterator[tuple[int, bytes]]:
    """The lines with their numbers; of one that is too long, the first `longest` bytes."""
    number = 0
    while line := stream.readline(longest):
        number += 1
        yield number, line
        while not line.endswith(b"\n") and len(line) == longest:
            line = stream.readline(longest)
            if not line:
                return


def _json_lines(stream: BinaryIO, file: str, most: int) -> Items:
    for number, line in _lines(stream, _LONGEST):
        if not line.strip():
            continue
        if len(line) == _LONGEST:
            yield Problem(f"the line has more than {_LONGEST:,} bytes", file, number)
            continue
        try:
            row = json.loads((line.removeprefix(_BOM) if number == 1 else line).decode())
        except (ValueError, RecursionError) as error:
            yield Problem(f"is not JSON in UTF-8: {error}", file, number)
            continue
        yield from document_parts(row, file, number, most)


def document_parts(row: Any, file: str, number: int, most: int) -> Items:
    """A document as JSON or a row of a table says it: `text` or `tokens`, and perhaps `id`."""
    if not isinstance(row, Mapping):
        yield Problem(f"found {type(row).__name__}; expected an object with `text`", file, number)
        return
    given = row.get("id")
    document = _id(f"{file}:{number}" if given is None else str(given))
    text, tokens = row.get("text"), row.get("tokens")
    if isinstance(text, str) and len(text) <= most:
        if text.strip():
            yield Text(document, text, file, number)
    elif isinstance(text, str):
        cutter = Cutter(document, file, line=number, most=most)
        for part in [*cutter.add(text), *cutter.rest()]:
            yield Text(document, part.text, file, number, part.offset, part.first, part.begins)
    elif (sentences := _words(tokens)) is not None:
        yield from _divided(document, sentences, file, number, most)
    else:
        found = "neither" if text is None and tokens is None else "something else"
        expected = "`text`, a string, or `tokens`, a list of words or of lists of words"
        yield Problem(f"found {found}; expected {expected}", file, number, document)


def _id(given: str) -> str:
    """A document's name as a comment can hold it."""
    return writable(" ".join(given.split()))


def _words(tokens: Any) -> list[tuple[str, ...]] | None:
    """Sentences of words, or None if that is not what it is."""
    if not isinstance(tokens, list):
        return None
    sentences = tokens if all(isinstance(words, list) for words in tokens) else [tokens]
    good = all(isinstance(word, str) and word.strip() for words in sentences for word in words)
    return [tuple(words) for words in sentences if words] if good else None


def _divided(
    document: str, sentences: Sequence[tuple[str, ...]], file: str, line: int, most: int
) -> Iterator[Words]:
    """The document in parts of at most `most` characters, or of one sentence."""
    some: list[tuple[str, ...]] = []
    size, first = 0, True
    for words in sentences:
        more = sum(len(word) + 1 for word in words)
        if some and size + more > most:
            yield Words(document, tuple(some), file, line, first)
            some, size, first = [], 0, False
        some.append(words)
        size += more
    if some:
        yield Words(document, tuple(some), file, line, first)


def _conll(stream: BinaryIO, file: str, name: str) -> Items:
    """The sentences of a file, as their lines; which are looked at where they are parsed."""
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
) -> Conll | Problem:
    if size >= _LONGEST:
        return Problem(f"the sentence has more than {_LONGEST:,} bytes", file, start, document)
    if probe.format is None:
        _recognise(probe, Block(start, b"", lines, b"\n"))
    data = b"".join(lines)
    data = data if data.endswith(b"\n") else data + b"\n"
    return Conll(document, data, file, start, probe.format)


def _recognise(probe: BlockParser, block: Block) -> Format | None:
    """Let the parser see from a sentence which format the file has."""
    try:
        probe.sentence(block)
    except ConlluError:
        return None
    return probe.format
