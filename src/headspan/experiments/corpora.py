"""Corpora from what their owners have: what the ways to prepare them share."""

from __future__ import annotations

import os
import re
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from typing import IO

from headspan import conllu
from headspan.conllu import NO_HEAD, Format, Sentence
from headspan.errors import HeadspanError
from headspan.files import open_output, reason

_LARGEST = 2**30  # bytes of a treebank file; the largest of UD are a tenth of it
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Counts:
    """The size of a part of a corpus; words are None where they are not published."""

    sentences: int
    words: int | None
    source: str = ""
    """Who published it."""


@dataclass
class Prepared:
    """What was written, and what is not as it should be."""

    files: dict[Path, Counts] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)
    """What the corpus does not have, in a line each."""

    def put(
        self,
        path: Path,
        sentences: Iterable[Sentence],
        expected: Counts | None,
        *,
        format: Format = "conllu",
    ) -> None:
        """Write a part of a corpus and hold its size against the published one."""
        words = 0

        def counted() -> Iterator[Sentence]:
            nonlocal words
            for sentence in sentences:
                words += len(sentence)
                yield sentence

        path.parent.mkdir(parents=True, exist_ok=True)
        count = conllu.write(counted(), path, format=format)
        self.files[path] = found = Counts(count, words)
        if expected is None:
            return
        for what in ("sentences", "words"):
            is_, should = getattr(found, what), getattr(expected, what)
            if should is not None and is_ != should:
                self.warnings.append(
                    f"{path}: has {is_:,} {what}; {expected.source} has {should:,}"
                )


def read_trees(path: Path, *, format: Format | None = None) -> Iterator[Sentence]:
    """The sentences of a file; each word must have a head."""
    number = 0
    for sentence in conllu.read(path, format=format):
        if not len(sentence):
            yield sentence
            continue
        number += 1
        if NO_HEAD in sentence.heads:
            word = sentence.heads.index(NO_HEAD) + 1
            raise HeadspanError(f"{path}: sentence {number}, word {word} has no head")
        yield sentence


def files_below(folder: Path) -> Iterator[Path]:
    """All files in a folder and the folders in it, in order. Links are not followed."""
    if not folder.is_dir():
        raise HeadspanError(f"{folder}: is no folder")
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place) / name
            if path.is_file() and not path.is_symlink():
                yield path


def unpack(archive: Path, wanted: re.Pattern[str], into: Path) -> set[str]:
    """Copy the wanted files of an archive into a folder, under their bare names.

    The archive is not trusted: nothing is written anywhere else, links and devices are refused,
    and so is a file whose path leaves the archive, that is there twice, or that is too large.
    Gives the names of the archive's topmost folders.
    """
    topmost: set[str] = set()
    try:
        with tarfile.open(archive, "r:*") as tar:
            for member in tar:
                path = PurePosixPath(member.name)
                if path.parts:
                    topmost.add(path.parts[0])
                if not wanted.fullmatch(path.name):
                    continue
                _check_member(member, path, archive)
                content = tar.extractfile(member)
                if content is None or (into / path.name).exists():
                    raise HeadspanError(f"{archive}: has {path.name} twice; expected it once")
                _copy(content, into / path.name)
    except (tarfile.TarError, EOFError, zlib.error, LZMAError) as error:
        raise HeadspanError(f"{archive}: is not a whole .tgz archive: {error}") from error
    except OSError as error:
        raise HeadspanError(f"{archive}: cannot be read: {reason(error)}") from error
    return topmost


def _check_member(member: tarfile.TarInfo, path: PurePosixPath, archive: Path) -> None:
    if path.is_absolute() or ".." in path.parts:
        raise HeadspanError(f"{archive}: {member.name!r} leaves the archive; nothing was kept")
    if not member.isreg():
        raise HeadspanError(f"{archive}: {member.name!r} is a link or device; expected a file")
    if member.size > _LARGEST:
        raise HeadspanError(
            f"{archive}: {member.name!r} has {member.size:,} bytes; expected {_LARGEST:,} at most"
        )


def _copy(content: IO[bytes], path: Path) -> None:
    with open_output(path) as stream:
        while piece := content.read(_CHUNK):
            stream.write(piece)


def listed(numbers: Iterable[int], *, most: int = 8) -> str:
    """Numbers for a message, runs of them joined: 1–5, 9, …"""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    parts = [str(a) if a == b else f"{a}–{b}" for a, b in runs]
    return ", ".join([*parts[:most], *(["…"] if len(parts) > most else [])])


def expected_counts(
    table: Mapping[str, tuple[int, int | None]], part: str, source: str
) -> Counts | None:
    """What is published for a part, if anything is."""
    return Counts(*table[part], source) if part in table else None
