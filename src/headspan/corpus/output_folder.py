"""The folder of a parsed corpus: its finished shards, and resuming after any interruption.

During a run, `progress.jsonl` has one line with everything that the result depends on, then one
line per shard, written once the shard is safely in place. Each line has a checksum: a shard whose
line is damaged is made again. At the end it is replaced by `manifest.json`, which is in the order
of the corpus and has nothing that depends on how the run went.
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
from headspan.corpus.sealed_lines import read_lines, sealed, unsealed
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import open_output, reason, sync

FORMAT = 1
"""The version of the layout."""
MANIFEST, PROGRESS, ERRORS = "manifest.json", "progress.jsonl", "errors.jsonl"
_LAYOUT = "layout"  # the key of the version, which settings have and shards do not
_TEMPORARY, _SHARDS = ".headspan-*.tmp", "part-[0-9]*.*"
_NOT_COMPARED = ("model", "threads")  # a model is compared by its content, not by its name


@dataclass(frozen=True, slots=True)
class CorpusSummary:
    """The counts of a finished corpus."""

    shards: int
    sentences: int
    words: int
    errors: int


@dataclass(frozen=True, slots=True)
class FinishedFolder:
    """A folder with a manifest."""

    summary: CorpusSummary
    fingerprints: Mapping[int, str]
    """The fingerprint of every chunk."""


class OutputFolder:
    """A folder of shards that is locked by this run."""

    def __init__(self, path: Path, progress: BinaryIO, settings: Mapping[str, Any]) -> None:
        self.path = path
        self.settings = dict(settings)
        self.finished: dict[int, str] = {}
        """The fingerprint of the chunk of every finished shard."""
        self.words = self.bytes_read = 0
        """The words of the finished shards, and the bytes of input that they took."""
        self._progress = progress
        self._lines: dict[int, int] = {}  # where the line of each shard begins
        self._last: int | None = None

    @property
    def complete(self) -> bool:
        """Whether every chunk of the corpus is finished."""
        return self._last is not None and len(self.finished) > self._last

    def begin(self) -> None:
        """Write the settings, on which the result depends.

        Shards are removed if they are there: those of a run whose settings are damaged.
        """
        for path in self.path.glob(_SHARDS):
            path.unlink()
        self._progress.truncate(0)
        self._append({_LAYOUT: FORMAT, **self.settings})
        sync(self.path)

    def resume(self, lines: Iterator[tuple[int, Mapping[str, Any] | None]]) -> None:
        """Keep the shards that an earlier run recorded, if they and their lines are intact."""
        for at, table in lines:
            shard = Shard.from_table(table) if table and _LAYOUT not in table else None
            if shard and (not shard.name or _is_intact(self.path / shard.name, shard)):
                self._count(shard, at)

    def add(self, shard: Shard) -> None:
        """Record that a shard is in place."""
        at = self._progress.seek(0, os.SEEK_END)
        self._append(asdict(shard))
        self._count(shard, at)

    def remaining(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """The chunks that have not been parsed yet."""
        return remaining(chunks, self.finished, self.path)

    def finish(self) -> CorpusSummary:
        """Put the manifest in place."""
        assert self._last is not None  # noqa: S101 (the corpus is complete)
        if len(self.finished) > self._last + 1:
            raise HeadspanError(_input_changed(self.path, f"it has {self._last + 1} chunks now"))
        totals = {"shards": 0, "sentences": 0, "words": 0, "errors": 0}
        with open_output(self.path / ERRORS) as errors:
            for shard in self._shards():
                totals["shards"] += bool(shard.name)
                totals["sentences"] += shard.sentences
                totals["words"] += shard.words
                totals["errors"] += len(shard.skipped)
                for skipped in shard.skipped:
                    table = {name: value for name, value in asdict(skipped).items() if value}
                    errors.write(json.dumps(table, ensure_ascii=True).encode() + b"\n")
        if not totals["errors"]:
            (self.path / ERRORS).unlink()
        with open_output(self.path / MANIFEST) as stream:
            head = json.dumps({_LAYOUT: FORMAT, **self.settings, **totals}, indent=1)
            stream.write(head.removesuffix("\n}").encode() + b',\n "parts": [')
            before = b"\n  "
            for shard in self._shards():
                stream.write(before + json.dumps(_entry(shard)).encode())
                before = b",\n  "
            stream.write(b"\n ]\n}\n")
        sync(self.path)
        (self.path / PROGRESS).unlink()
        sync(self.path)
        return CorpusSummary(**totals)

    def clear(self) -> None:
        """Remove the files that an interrupted run was writing."""
        for path in self.path.glob(_TEMPORARY):
            path.unlink(missing_ok=True)

    def _shards(self) -> Iterator[Shard]:
        for number in sorted(self._lines):
            self._progress.seek(self._lines[number])
            table = unsealed(self._progress.readline())
            if table is None:
                raise HeadspanError(f"{self.path / PROGRESS}: has changed during the run")
            yield Shard.from_table(table)

    def _append(self, table: Mapping[str, Any]) -> None:
        handle, data = self._progress.fileno(), sealed(table)
        try:
            while data:  # without the buffer, which would try again when it is closed
                data = data[os.write(handle, data) :]
            os.fsync(handle)
        except OSError as error:
            raise HeadspanError(
                f"{self.path / PROGRESS}: cannot be written: {reason(error)}"
            ) from error

    def _count(self, shard: Shard, at: int) -> None:
        if shard.number in self.finished:  # recorded again after its file was lost
            return
        self.finished[shard.number] = shard.input_sha256
        self._lines[shard.number] = at
        self.words += shard.words
        self.bytes_read += shard.bytes_read
        if shard.last:
            self._last = shard.number


def remaining(
    chunks: Iterator[Chunk], finished: Mapping[int, str], folder: Path
) -> Iterator[Chunk]:
    """The chunks that are not finished. Raises HeadspanError if a finished one has changed."""
    for chunk in chunks:
        before = finished.get(chunk.number)
        if before is None:
            yield chunk
        elif before != chunk.fingerprint():
            raise HeadspanError(_input_changed(folder, f"chunk {chunk.number}, {chunk.location}"))


def check_input(chunks: Iterator[Chunk], finished: Mapping[int, str], folder: Path) -> None:
    """Raise HeadspanError if the chunks are not those that were parsed."""
    for chunk in remaining(chunks, finished, folder):
        raise HeadspanError(_input_changed(folder, f"{chunk.location} is new"))


@contextmanager
def open_folder(path: Path, settings: Mapping[str, Any]) -> Iterator[OutputFolder | FinishedFolder]:
    """Open a new folder, one to resume, or a finished one.

    settings: everything that the result depends on, except the text. Raises HeadspanError if the
    folder was begun with other settings, holds something else, or is in use by another run.
    """
    if path.is_file():
        raise HeadspanError(f"{path}: is a file; expected a folder for the shards")
    try:
        path.mkdir(parents=True, exist_ok=True)
        begun = (path / PROGRESS).exists()
        if not begun and (path / MANIFEST).exists():
            yield _finished(path, settings)
            return
        if not begun and any(path.iterdir()):
            raise HeadspanError(
                f"{path}: contains other files; expected a new folder, or one to resume"
            )
        progress = (path / PROGRESS).open("a+b")
    except OSError as error:
        raise HeadspanError(f"{path}: cannot be written: {reason(error)}") from error
    with progress:
        try:
            fcntl.flock(progress, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise HeadspanError(f"{path}: is in use by another run") from error
        if (path / MANIFEST).exists():  # interrupted at the very end, or finished since we looked
            (path / PROGRESS).unlink(missing_ok=True)
            yield _finished(path, settings)
            return
        folder = OutputFolder(path, progress, settings)
        folder.clear()
        lines = read_lines(progress)
        _, begun_with = next(lines, (0, None))
        if begun_with is None or _LAYOUT not in begun_with:
            folder.begin()
        else:
            _compare(path, begun_with, settings)
            folder.settings["threads"] = begun_with.get("threads", 1)
            folder.resume(lines)
        yield folder


def _finished(path: Path, settings: Mapping[str, Any]) -> FinishedFolder:
    try:
        table = json.loads((path / MANIFEST).read_bytes())
        _compare(path, table, settings)
        return FinishedFolder(
            CorpusSummary(*(table[name] for name in ("shards", "sentences", "words", "errors"))),
            {number: part["input_sha256"] for number, part in enumerate(table["parts"])},
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise HeadspanError(f"{path / MANIFEST}: is not the manifest of a corpus") from error


def _compare(path: Path, begun: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Raise HeadspanError if a folder was begun with other settings."""
    differences = [
        f"{name} was {begun.get(name)!r} and is {value!r}"
        for name, value in {_LAYOUT: FORMAT, **settings}.items()
        if begun.get(name) != value and name not in _NOT_COMPARED
    ]
    if differences:
        raise HeadspanError(
            f"{path}: was begun with other settings: {'; '.join(differences)}; "
            "resume with the old ones, or use another folder"
        )


def _input_changed(path: Path, what: str) -> str:
    return (
        f"{path}: the input has changed since the folder was begun: {what}; "
        "resume with the old input, or use another folder"
    )


def _is_intact(path: Path, shard: Shard) -> bool:
    """Check that a shard is as it was recorded; a power failure may have destroyed it."""
    try:
        with path.open("rb") as file:
            return (
                os.fstat(file.fileno()).st_size == shard.size
                and hashlib.file_digest(file, "sha256").hexdigest() == shard.sha256
            )
    except OSError:
        return False


def _entry(shard: Shard) -> dict[str, Any]:
    """The entry of a shard in the manifest."""
    return {
        "name": shard.name or None,
        "start": shard.start,
        "sentences": shard.sentences,
        "words": shard.words,
        "errors": len(shard.skipped),
        "bytes": shard.size,
        "sha256": shard.sha256,
        "input_sha256": shard.input_sha256,
    }
