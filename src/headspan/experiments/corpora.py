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
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import open_output, unreadable

_LARGEST = 2**30  # bytes of a treebank file; the largest of UD are a tenth of it
_SMALL = 2**20  # bytes of what lies beside treebanks
_WHOLE = 2**33  # bytes of all that is taken from an archive
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
        expected: Iterable[Counts],
        *,
        format: Format = "conllu",
    ) -> None:
        """Write a part of a corpus and hold its size against what is published of it."""
        words = 0

        def counted() -> Iterator[Sentence]:
            nonlocal words
            for sentence in sentences:
                words += len(sentence)
                yield sentence

        path.parent.mkdir(parents=True, exist_ok=True)
        count = conllu.write(counted(), path, format=format)
        self.files[path] = found = Counts(count, words)
        for counts in expected:
            self.hold(str(path), found, counts)

    def hold(self, name: str, found: Counts, expected: Counts) -> None:
        """Warn where a size is not the published one."""
        for what in ("sentences", "words"):
            count, should = getattr(found, what), getattr(expected, what)
            if should is not None and count != should:
                self.warnings.append(
                    f"{name}: has {count:,} {what}; {expected.source} has {should:,}"
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


def files_below(folder: Path, *, without: Path | None = None) -> Iterator[Path]:
    """All files in a folder and the folders in it, in order. Links are not followed.

    without: a folder that is passed over, if it is among them.
    """
    if not folder.is_dir():
        raise HeadspanError(f"{folder}: is no folder")
    passed = without and without.resolve()
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if (Path(place) / name).resolve() != passed)
        for name in sorted(names):
            path = Path(place) / name
            if path.is_file() and not path.is_symlink():
                yield path


def unpack(archive: Path, wanted: re.Pattern[str], into: Path, *, beside: str) -> set[str]:
    """Copy the wanted files of an archive into a folder; what shares a folder there does so here.

    wanted: matches the names of files, each of which is there once. beside: the name of a small
    file that is wanted from every folder.
    The archive is not trusted: nothing is written anywhere else, links and devices are refused,
    and so is a file whose path leaves the archive, that is there twice, or that is too large.
    Gives the names of the archive's topmost folders.
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
                if path.name != beside and not wanted.fullmatch(path.name):
                    continue
                _check_member(member, path, archive, _SMALL if path.name == beside else _LARGEST)
                content = tar.extractfile(member)
                name = path if path.name == beside else PurePosixPath(path.name)
                if content is None or name in names:
                    raise HeadspanError(f"{archive}: has {str(name)!r} twice; expected it once")
                names.add(name)
                size += member.size
                if size > _WHOLE:
                    raise HeadspanError(
                        f"{archive}: has more than {_WHOLE:,} bytes of treebanks; expected fewer"
                    )
                folder = into / folders.setdefault(path.parent, str(len(folders)))
                folder.mkdir(exist_ok=True)
                _copy(content, folder / path.name)
    except (tarfile.TarError, EOFError, ValueError, zlib.error, LZMAError) as error:
        what = str(error).partition("\n")[0].rstrip(":")  # tarfile goes on with all it has tried
        raise HeadspanError(f"{archive}: is not a whole .tgz archive: {what}") from error
    except OSError as error:
        raise unreadable(archive, error) from error
    return topmost


def _check_member(member: tarfile.TarInfo, path: PurePosixPath, archive: Path, most: int) -> None:
    if path.is_absolute() or ".." in path.parts:
        raise HeadspanError(f"{archive}: {member.name!r} leaves the archive; nothing was kept")
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
) -> list[Counts]:
    """What is published for a part, if anything is."""
    return [Counts(*table[part], source)] if part in table else []
