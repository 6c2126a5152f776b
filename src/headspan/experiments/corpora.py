"""Preparing corpora: reading, unpacking, writing, and checking their sizes."""

from __future__ import annotations

import os
import re
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from typing import IO

from headspan import conllu
from headspan.conllu import NO_HEAD, Format, Sentence
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import open_output, unreadable

_LARGEST = 2**30  # largest treebank file, in bytes; the largest in UD is a tenth of that
_LARGEST_BESIDE = 2**20  # largest file beside a treebank, in bytes
_LARGEST_SUM = 2**33  # largest sum of the files taken from an archive, in bytes
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Counts:
    """The size of a part of a corpus; words are None if their number is not published."""

    sentences: int
    words: int | None
    source: str = ""
    """The publication of these numbers."""


@dataclass
class Prepared:
    """The files that were written, and what is wrong with them."""

    files: dict[Path, Counts] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)
    """One line for each thing that the corpus lacks."""

    def put(
        self,
        path: Path,
        sentences: Iterable[Sentence],
        expected: Iterable[Counts],
        *,
        format: Format = "conllu",
    ) -> None:
        """Write a part of a corpus, and compare its size with the published ones."""
        words = 0

        def counted() -> Iterator[Sentence]:
            nonlocal words
            for sentence in sentences:
                words += len(sentence)
                yield sentence

        path.parent.mkdir(parents=True, exist_ok=True)
        count = conllu.write(counted(), path, format=format)
        self.files[path] = actual = Counts(count, words)
        for counts in expected:
            self.compare(str(path), actual, counts)

    def compare(self, name: str, actual: Counts, expected: Counts) -> None:
        """Warn if a size is not the published one."""
        for what in ("sentences", "words"):
            count, published = getattr(actual, what), getattr(expected, what)
            if published is not None and count != published:
                self.warnings.append(
                    f"{name}: has {count:,} {what}; {expected.source} has {published:,}"
                )


def read_trees(path: Path, *, format: Format | None = None) -> Iterator[Sentence]:
    """Read the sentences of a file; each word must have a head."""
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


def files_below(folder: Path, *, without: Path | None = None) -> Iterator[Path]:
    """All files in a folder and its subfolders, in order; links are not followed.

    without: a subfolder to leave out.
    """
    if not folder.is_dir():
        raise HeadspanError(f"{folder}: is not a folder")
    left_out = without and without.resolve()
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if (Path(place) / name).resolve() != left_out)
        for name in sorted(names):
            path = Path(place) / name
            if path.is_file() and not path.is_symlink():
                yield path


def unpack(archive: Path, pattern: re.Pattern[str], into: Path, *, beside: str) -> set[str]:
    """Copy some files of an archive into a folder; files of one folder stay in one folder.

    pattern: matches the names of the files to copy, each of which must occur once. beside: the name
    of a small file to copy from every folder.
    The archive is not trusted: nothing is written anywhere else, and a link, a device, a path that
    leaves the archive, a file that occurs twice and a file that is too large are errors.
    Returns the names of the archive's topmost folders.
    """
    topmost: set[str] = set()
    folders: dict[PurePosixPath, str] = {}
    names: set[PurePosixPath] = set()
    size = 0
    try:
        with tarfile.open(archive, "r:*") as tar:
            for member in tar:
                path = PurePosixPath(member.name)
                if path.parts:
                    topmost.add(path.parts[0])
                if path.name != beside and not pattern.fullmatch(path.name):
                    continue
                _check_member(
                    member, path, archive, _LARGEST_BESIDE if path.name == beside else _LARGEST
                )
                content = tar.extractfile(member)
                name = path if path.name == beside else PurePosixPath(path.name)
                if content is None or name in names:
                    raise HeadspanError(f"{archive}: has {str(name)!r} twice; expected it once")
                names.add(name)
                size += member.size
                if size > _LARGEST_SUM:
                    raise HeadspanError(
                        f"{archive}: has more than {_LARGEST_SUM:,} bytes of treebanks"
                    )
                folder = into / folders.setdefault(path.parent, str(len(folders)))
                folder.mkdir(exist_ok=True)
                _copy(content, folder / path.name)
    except (tarfile.TarError, EOFError, ValueError, zlib.error, LZMAError) as error:
        what = str(error).partition("\n")[0].rstrip(":")  # then all that tarfile has tried
        raise HeadspanError(f"{archive}: is not a complete .tgz archive: {what}") from error
    except OSError as error:
        raise unreadable(archive, error) from error
    return topmost


def _check_member(member: tarfile.TarInfo, path: PurePosixPath, archive: Path, most: int) -> None:
    if path.is_absolute() or ".." in path.parts:
        raise HeadspanError(f"{archive}: {member.name!r} leaves the archive; nothing was written")
    if not member.isreg():
        raise HeadspanError(f"{archive}: {member.name!r} is a link or device; expected a file")
    if not 0 <= member.size <= most:
        raise HeadspanError(
            f"{archive}: {member.name!r} has {member.size:,} bytes; expected {most:,} at most"
        )


def _copy(content: IO[bytes], path: Path) -> None:
    with open_output(path) as stream:
        while piece := content.read(_CHUNK):
            stream.write(piece)


def listed(numbers: Iterable[int], *, most: int = 8) -> str:
    """List numbers for a message, with ranges joined: 1–5, 9, …"""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    parts = [str(a) if a == b else f"{a}–{b}" for a, b in runs]
    return ", ".join([*parts[:most], *(["…"] if len(parts) > most else [])])
