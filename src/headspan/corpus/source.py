"""The files of a corpus, and the chunks that they are cut into."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from headspan.corpus.chunks import Chunk, Packer
from headspan.corpus.documents import Meter, documents
from headspan.plumbing.errors import HeadspanError


@dataclass(frozen=True)
class Source:
    """The files of a corpus, and how large its chunks are.

    names: files, folders (all files below them, in order of their names, hidden ones left out) or
    `-` for standard input. size: characters of text. root: what names are relative to.
    """

    names: tuple[str, ...]
    size: int
    root: Path

    def files(self) -> Iterator[str]:
        """The names of all files, in order."""
        for name in self.names:
            if name != "-" and (self.root / name).is_dir():
                yield from self._below(name)
            else:
                yield name

    def check(self) -> None:
        """Raise HeadspanError if a name is not there."""
        for name in self.names:
            if name != "-" and not (self.root / name).exists():
                raise HeadspanError(f"{name}: there is no such file or folder")

    def bytes(self) -> int | None:
        """The size of all files; None if it cannot be known."""
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
        """The chunks, in order, read as they are asked for."""
        packer, meter, seen = Packer(self.size), Meter(), 0
        for name in self.files():
            for item in documents(name, self.root, self.size, meter):
                for chunk in packer.add(item):
                    yield replace(chunk, read=meter.bytes() - seen)
                    seen = meter.bytes()
        yield replace(packer.rest(), read=meter.bytes() - seen)

    def _below(self, folder: str) -> Iterator[str]:
        for path, folders, files in os.walk(self.root / folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            within = Path(folder) / Path(path).relative_to(self.root / folder)
            yield from (str(within / name) for name in sorted(files) if not name.startswith("."))
