"""The folder of a parsed corpus: what is finished, and how a run goes on after any interruption.

While a run is at work, `progress.jsonl` has a line for all that its result depends on, then a line
for each shard, written when the shard is in its place for good. At the end `manifest.json` takes
its place, in the order of the corpus and without anything that depends on how the run went.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from headspan.corpus.chunks import Chunk, Shard
from headspan.corpus.shards import sync
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import open_output, reason

FORMAT = 1
"""The version of the layout."""
MANIFEST, PROGRESS, ERRORS = "manifest.json", "progress.jsonl", "errors.jsonl"
_TEMPORARY = ".headspan-*.tmp"
_NOT_COMPARED = ("model", "threads")  # the name of a model; its content is


@dataclass(frozen=True, slots=True)
class Summary:
    """What a corpus has become."""

    shards: int
    sentences: int
    words: int
    errors: int


class Folder:
    """A folder that is locked for this run."""

    def __init__(self, path: Path, progress: BinaryIO, settings: Mapping[str, Any]) -> None:
        self.path = path
        self.settings = dict(settings)
        self.finished: dict[int, str] = {}
        """The fingerprint of the chunk of every shard that is there."""
        self.words = self.read = 0
        """Of the shards that are there."""
        self._progress = progress
        self._lines: dict[int, int] = {}  # where the line of a shard begins
        self._last: int | None = None

    @property
    def complete(self) -> bool:
        """Whether every chunk of the corpus is done."""
        return self._last is not None and len(self.finished) > self._last

    def begin(self) -> None:
        """Write what the result depends on."""
        table = {"layout": FORMAT, **self.settings}
        self._append(json.dumps(table))
        sync(self.path)

    def resume(self, lines: Iterator[tuple[int, Any]]) -> None:
        """Take over the shards that an earlier run noted, if they are as it left them."""
        for at, table in lines:
            shard = Shard.from_table(table)
            if not shard.name or _is_there(self.path / shard.name, shard):
                self._take(shard, at)

    def add(self, shard: Shard) -> None:
        """Note that a shard is in place."""
        at = self._progress.seek(0, os.SEEK_END)
        self._append(json.dumps(asdict(shard)))
        self._take(shard, at)

    def remaining(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """The chunks that are still to be parsed."""
        return remaining(chunks, self.finished, self.path)

    def finish(self) -> Summary:
        """Put the manifest in place."""
        assert self._last is not None  # noqa: S101 (the corpus is complete)
        if len(self.finished) > self._last + 1:
            raise HeadspanError(f"{self.path}: {_changed(f'it has {self._last + 1} chunks now')}")
        totals = {"shards": 0, "sentences": 0, "words": 0, "errors": 0}
        with open_output(self.path / ERRORS) as errors:
            for shard in self._shards():
                totals["shards"] += bool(shard.name)
                totals["sentences"] += shard.sentences
                totals["words"] += shard.words
                totals["errors"] += len(shard.problems)
                for problem in shard.problems:
                    table = {name: value for name, value in asdict(problem).items() if value}
                    errors.write(json.dumps(table, ensure_ascii=True).encode() + b"\n")
        if not totals["errors"]:
            (self.path / ERRORS).unlink()
        with open_output(self.path / MANIFEST) as stream:
            head = json.dumps({"layout": FORMAT, **self.settings, **totals}, indent=1)
            stream.write(head.removesuffix("\n}").encode() + b',\n "parts": [')
            before = b"\n  "
            for shard in self._shards():
                stream.write(before + json.dumps(_entry(shard)).encode())
                before = b",\n  "
            stream.write(b"\n ]\n}\n")
        sync(self.path)
        (self.path / PROGRESS).unlink()
        sync(self.path)
        return Summary(**totals)

    def clear(self) -> None:
        """Remove what was being written when something was interrupted."""
        for left in self.path.glob(_TEMPORARY):
            left.unlink(missing_ok=True)

    def _shards(self) -> Iterator[Shard]:
        for number in sorted(self._lines):
            self._progress.seek(self._lines[number])
            table = json.loads(self._progress.readline())
            yield Shard.from_table(table)

    def _append(self, line: str) -> None:
        handle, data = self._progress.fileno(), line.encode() + b"\n"
        try:
            while data:  # past the buffer, which would try again when it is closed
                data = data[os.write(handle, data) :]
            os.fsync(handle)
        except OSError as error:
            raise HeadspanError(
                f"{self.path / PROGRESS}: cannot be written: {reason(error)}"
            ) from error

    def _take(self, shard: Shard, at: int) -> None:
        if shard.number in self.finished:  # noted again after it was gone
            return
        self.finished[shard.number] = shard.input
        self._lines[shard.number] = at
        self.words += shard.words
        self.read += shard.read
        if shard.last:
            self._last = shard.number


def remaining(
    chunks: Iterator[Chunk], finished: Mapping[int, str], folder: Path
) -> Iterator[Chunk]:
    """The chunks that are not finished. Raises HeadspanError if one that is was another."""
    for chunk in chunks:
        before = finished.get(chunk.number)
        if before is None:
            yield chunk
        elif before != chunk.fingerprint():
            raise HeadspanError(f"{folder}: {_changed(f'chunk {chunk.number}, {chunk.place}')}")


@contextmanager
def open_folder(path: Path, settings: Mapping[str, Any]) -> Iterator[Folder | Summary]:
    """A new folder, one to go on with, or, if it is finished, what is in it.

    settings: all that the result depends on, the text apart. Raises HeadspanError if the folder was
    begun with others, holds something else, or is held by another run.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        begun = (path / PROGRESS).exists()
        if not begun and (path / MANIFEST).exists():
            yield _finished(path, settings)
            return
        if not begun and any(path.iterdir()):
            raise HeadspanError(
                f"{path}: has other things in it; expected a new folder, or one to go on with"
            )
        progress = (path / PROGRESS).open("a+b")
    except OSError as error:
        raise HeadspanError(f"{path}: cannot be written: {reason(error)}") from error
    with progress:
        try:
            fcntl.flock(progress, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise HeadspanError(f"{path}: another run is at work there") from error
        if (path / MANIFEST).exists():  # interrupted when all was done, or done since we looked
            (path / PROGRESS).unlink(missing_ok=True)
            yield _finished(path, settings)
            return
        folder = Folder(path, progress, settings)
        folder.clear()
        lines = _lines(progress)
        _, begun_with = next(lines, (0, None))
        if begun_with is None:
            folder.begin()
        else:
            _compare(path, begun_with, settings)
            folder.settings["threads"] = begun_with.get("threads", 1)
            folder.resume(lines)
        yield folder


def _lines(progress: BinaryIO) -> Iterator[tuple[int, Any]]:
    """The lines with their places; one that was being written is cut off."""
    progress.seek(0)
    at = 0
    for line in progress:
        try:
            table = json.loads(line) if line.endswith(b"\n") else None
        except ValueError:
            table = None
        if not isinstance(table, dict):
            break
        yield at, table
        at += len(line)
    progress.truncate(at)


def _finished(path: Path, settings: Mapping[str, Any]) -> Summary:
    try:
        table = json.loads((path / MANIFEST).read_bytes())
        _compare(path, table, settings)
        return Summary(*(table[name] for name in ("shards", "sentences", "words", "errors")))
    except (ValueError, KeyError, TypeError) as error:
        raise HeadspanError(f"{path / MANIFEST}: is not the manifest of a corpus") from error


def _compare(path: Path, begun: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    wanted = {"layout": FORMAT, **settings}
    differ = [
        f"{name} was {begun.get(name)!r} and is {value!r}"
        for name, value in wanted.items()
        if begun.get(name) != value and name not in _NOT_COMPARED
    ]
    if differ:
        raise HeadspanError(
            f"{path}: was begun with other settings: {'; '.join(differ)}; "
            "go on with the old ones, or take another folder"
        )


def _changed(what: str) -> str:
    return (
        f"the input is not what it was when the folder was begun: {what}; "
        "go on with the old input, or take another folder"
    )


def _is_there(path: Path, shard: Shard) -> bool:
    """Whether a shard is as it was when it was noted; a power failure may have taken it."""
    try:
        with path.open("rb") as file:
            return (
                os.fstat(file.fileno()).st_size == shard.size
                and hashlib.file_digest(file, "sha256").hexdigest() == shard.sha256
            )
    except OSError:
        return False


def _entry(shard: Shard) -> dict[str, Any]:
    """A shard in the manifest."""
    return {
        "name": shard.name or None,
        "start": shard.start,
        "sentences": shard.sentences,
        "words": shard.words,
        "errors": len(shard.problems),
        "bytes": shard.size,
        "sha256": shard.sha256,
        "input_sha256": shard.input,
    }
