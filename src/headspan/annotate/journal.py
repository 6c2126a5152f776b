"""Journal: every change of a session, on the disk before it is shown as saved.

It lies beside the output, or the file that the output is a link to, as `OUTPUT.journal`. Its first
line names the file that it starts from, by checksum. Then there is one line per change, and one per
time the output is about to be written. After a crash, the changes that the output does not have yet
are made again. The process that writes it holds a lock on it, so that no other one works on the
same output.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from headspan.corpus.sealed_lines import read_lines, sealed
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import reason, sync, unreadable

FORMAT = 1
"""The version of the format."""
_FORMAT, _START, _WRITTEN = "journal", "output", "written"


class Journal:
    """An open journal, locked. Raises HeadspanError if another process has it."""

    def __init__(self, output: Path) -> None:
        self.output = output
        real = Path(os.path.realpath(output))  # one journal, whatever links lead to the output
        self.path = real.with_name(real.name + ".journal")
        self._open()
        while not self._is_there():  # its last owner removed it before it was locked
            self._file.close()
            self._open()

    def _open(self) -> None:
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            self._file = os.fdopen(handle, "r+b", buffering=0)
        except OSError as error:
            raise HeadspanError(f"{self.path}: cannot be written: {reason(error)}") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise HeadspanError(
                f"{self.output}: another `headspan annotate` is working on it; expected one at a "
                "time"
            ) from None

    def _is_there(self) -> bool:
        """Whether the file that is open still has its name."""
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), self.path.stat())
        except FileNotFoundError:
            return False

    def begin(self) -> None:
        """Start anew, from the output as it is."""
        self._file.seek(0)
        self._file.truncate(0)
        self.add({_FORMAT: FORMAT, _START: checksum(self.output)})
        sync(self.path.parent)

    def missing(self) -> tuple[list[dict[str, Any]], int] | None:
        """All changes of an interrupted session, and how many of them the output has.

        None if there is nothing to resume. Raises HeadspanError if the output is not the one that
        the journal is about.
        """
        tables = list(self._tables())
        if not tables:
            return None
        first, *rest = tables
        if first.get(_FORMAT) != FORMAT:
            raise HeadspanError(
                f"{self.path}: its format is {first.get(_FORMAT)!r}; expected {FORMAT}"
            )
        found = checksum(self.output)
        changes: list[dict[str, Any]] = []
        done = 0 if first.get(_START) == found else None
        for table in rest:
            if _WRITTEN not in table:
                changes.append(table)
            elif table[_WRITTEN] == found:
                done = len(changes)
        if done is None:
            raise HeadspanError(
                f"{self.output}: is not the file that {self.path.name} belongs to; another program "
                "has changed it: put the old one back, or remove the journal with its "
                f"{len(changes)} changes"
            )
        return changes, done

    def add(self, table: Mapping[str, Any]) -> None:
        """Write a line, and wait until it is on the disk."""
        line = sealed(table)
        end = self._file.seek(0, os.SEEK_END)
        try:
            if self._file.write(line) != len(line):
                raise OSError("the disk is full")
            os.fsync(self._file.fileno())
        except OSError as error:
            self._file.truncate(end)
            raise HeadspanError(f"{self.path}: cannot be written: {reason(error)}") from error

    def announce(self, content: bytes) -> None:
        """Say what the output will be, before it is written."""
        self.add({_WRITTEN: hashlib.sha256(content).hexdigest()})

    def remove(self) -> None:
        """End: the output has everything."""
        self.path.unlink(missing_ok=True)
        self._file.close()

    def close(self) -> None:
        """Let go of the journal, but keep it."""
        self._file.close()

    def _tables(self) -> Iterator[dict[str, Any]]:
        for at, table in read_lines(self._file):
            if table is None:
                raise HeadspanError(f"{self.path}: is damaged at byte {at}")
            yield table


def checksum(path: Path) -> str:
    """The SHA-256 of a file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise unreadable(path, error) from error
