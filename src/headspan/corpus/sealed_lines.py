"""Lines of JSON that each carry a checksum, so that a damaged one is noticed.

A line is a list of two: the SHA-256 of the second, as it is written, and a table.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

_LINE = b'["%s", %s]\n'
_START, _BETWEEN, _END = _LINE.split(b"%s")
_HEX_DIGITS = 64


def sealed(table: Mapping[str, Any]) -> bytes:
    """The line of a table."""
    data = json.dumps(table).encode()
    return _LINE % (hashlib.sha256(data).hexdigest().encode(), data)


def unsealed(line: bytes) -> dict[str, Any] | None:
    """The table of a line, or None if the line is not as it was written."""
    checksum = line[len(_START) :][:_HEX_DIGITS]
    data = line[len(_START) + _HEX_DIGITS + len(_BETWEEN) : -len(_END)]
    if line != _LINE % (checksum, data) or hashlib.sha256(data).hexdigest().encode() != checksum:
        return None
    table: dict[str, Any] = json.loads(data)
    return table


def read_lines(file: BinaryIO) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Where each line begins, and its table; an unfinished last line is cut off the file."""
    file.seek(0)
    at = 0
    for line in file:
        if not line.endswith(b"\n"):
            break
        yield at, unsealed(line)
        at += len(line)
    file.truncate(at)
