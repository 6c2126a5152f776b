"""The files of a corpus, and the chunks into which they are cut."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from headspan.corpus.chunks import Chunk, Packer
from headspan.corpus.documents import ByteCounter, read_parts
from headspan.plumbing.errors import HeadspanError


@dataclass(frozen=True)
class Source:
    """The files of a corpus, and the size of its chunks.

    names: files, folders (all files below them in the order of their names, without hidden ones) or
    `-` for standard input. chunk_size: characters of text. root: the folder that names are relative
    to.
    """

    names: tuple[str, ...]
    chunk_size: int
    root: Path

    def files(self) -> Iterator[str]:
        """The names of all files, in order."""
        for name in self.names:
            if name != "-" and (self.root / name).is_dir():
                yield from self._below(name)
            else:
                yield name

    def check(self) -> None:
        """Raise HeadspanError if a file or folder does not exist, or a folder has other things."""
        for name in self.names:
            if name != "-" and not (self.root / name).exists():
                raise HeadspanError(f"{name}: there is no such file or folder")
        deque(self.files(), maxlen=0)

    def bytes(self) -> int | None:
        """The size of all files; None if one of them is standard input."""
        total = 0
        for name in self.files():
            if name == "-":
                return None
            try:
                total += (self.root / name).stat().st_size
            except OSError:
                continue
        return total

    def chunks(self) -> Iterator[Chunk]:
        """The chunks in order, read one at a time."""
        packer, counter, before = Packer(self.chunk_size), ByteCounter(), 0
        for name in self.files():
            for item in read_parts(name, self.root, self.chunk_size, counter):
                for chunk in packer.add(item):
                    yield replace(chunk, bytes_read=counter.bytes() - before)
                    before = counter.bytes()
        yield replace(packer.last(), bytes_read=counter.bytes() - before)

    def _below(self, folder: str) -> Iterator[str]:
        for path, folders, files in os.walk(self.root / folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            within = Path(folder) / Path(path).relative_to(self.root / folder)
            for name in sorted(files):
                if not name.startswith("."):
                    _check_is_file(Path(path) / name, within / name)
                    yield str(within / name)


def _check_is_file(path: Path, name: Path) -> None:
    """Raise HeadspanError for a pipe, a socket or a device: reading might never end."""
    try:
        mode = path.stat().st_mode
    except OSError:  # reading will show why
        return
    kinds = {stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}
    if not stat.S_ISREG(mode):
        kind = kinds.get(stat.S_IFMT(mode), "device")
        raise HeadspanError(f"{name}: is a {kind}; expected files in the input folder")
