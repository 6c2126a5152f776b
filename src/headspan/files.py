"""Opening what is read and putting in place what is written, whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import secrets
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, BinaryIO, TypeAlias, cast

from headspan.errors import HeadspanError
from headspan.extras import needed_for

_GZIP, _XZ, _BZIP2, _ZSTD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"BZh", b"\x28\xb5\x2f\xfd"

PathLike: TypeAlias = str | os.PathLike[str]
UNREADABLE = (OSError, EOFError, zlib.error, lzma.LZMAError)
"""What reading a file, plain or compressed, may raise."""


def open_input(path: PathLike, opened: ExitStack) -> BinaryIO:
    """The bytes of a file, or of standard input for `-`; what is compressed is unpacked on the way.

    Compression is seen from the first bytes, so it works for standard input too. `opened` closes
    what was opened.
    """
    if path == "-":
        if sys.stdin is None:
            raise HeadspanError("standard input is closed")
        return decompressed(sys.stdin.buffer, opened)
    try:
        return decompressed(opened.enter_context(Path(path).open("rb")), opened)
    except (OSError, ValueError) as error:
        raise HeadspanError(f"{os.fspath(path)}: cannot be read: {reason(error)}") from error


def input_name(path: PathLike) -> str:
    """What messages call a file that is read."""
    return "standard input" if path == "-" else os.fspath(path)


def is_text(stream: object) -> bool:
    """Whether an open file holds text rather than bytes; wrappers such as tempfile's count too."""
    if isinstance(stream, io.TextIOBase):
        return True
    if isinstance(stream, io.IOBase) or not hasattr(stream, "mode"):
        return hasattr(stream, "encoding")
    return "b" not in str(stream.mode)


def decompressed(stream: BinaryIO, opened: ExitStack) -> BinaryIO:
    """The stream, unpacked if its first bytes say that it is gzip, xz, bzip2 or zstd."""
    if not hasattr(stream, "peek"):
        if not isinstance(stream, io.RawIOBase | io.BufferedIOBase):
            return stream
        buffered = io.BufferedReader(cast(io.RawIOBase, stream))
        opened.callback(buffered.detach)  # or the buffer would close a stream that is not ours
        stream = cast(BinaryIO, buffered)
    start = cast(io.BufferedReader, stream).peek(len(_XZ))
    if start.startswith(_GZIP):
        return cast(BinaryIO, opened.enter_context(gzip.open(stream)))
    if start.startswith(_XZ):
        return cast(BinaryIO, opened.enter_context(lzma.open(stream)))
    if start.startswith(_BZIP2):
        return cast(BinaryIO, opened.enter_context(bz2.open(stream)))
    if start.startswith(_ZSTD):
        return _unpacked_zstd(stream)
    return stream


def _unpacked_zstd(stream: BinaryIO) -> BinaryIO:
    with needed_for("unpacking zstd", extra="parquet"):
        from pyarrow import CompressedInputStream
    return cast(BinaryIO, io.BufferedReader(CompressedInputStream(stream, "zstd")))


@contextmanager
def open_output(path: PathLike, *, overwrite: bool = True) -> Iterator[BinaryIO]:
    """A place for bytes that appears under its name only when it is complete.

    What is written goes to a hidden file beside it, which is renamed at the end; after an error or
    Ctrl-C the old file is as it was. `-` is standard output; a device or pipe is written directly;
    names that end in `.gz` or `.xz` are compressed.
    """
    if path == "-":
        if sys.stdout is None:
            raise HeadspanError("standard output is closed")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(os.path.realpath(path))
    try:
        mode = target.stat().st_mode
    except OSError:
        mode = None
    if mode is not None and stat.S_ISDIR(mode):
        raise HeadspanError(f"{os.fspath(path)}: is a folder; expected the name of a file to write")
    if mode is not None and not stat.S_ISREG(mode):
        with target.open("wb") as device:
            yield device
        return
    if mode is not None and not overwrite:
        raise HeadspanError(f"{os.fspath(path)}: exists already; --force writes over it")
    temporary = target.with_name(f".headspan-{secrets.token_hex(6)}.tmp")
    try:
        file = temporary.open("xb")
    except OSError as error:
        raise HeadspanError(f"{os.fspath(path)}: cannot be written: {reason(error)}") from error
    try:
        with file:
            with _compressed(file, Path(path).suffix) as stream:
                yield stream
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def _compressed(file: IO[bytes], suffix: str) -> Iterator[BinaryIO]:
    if suffix == ".gz":  # no name and no time inside: equal content gives equal bytes
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            yield cast(BinaryIO, packed)
    elif suffix == ".xz":
        with lzma.open(file, "wb") as packed_xz:
            yield cast(BinaryIO, packed_xz)
    else:
        yield cast(BinaryIO, file)


def reason(error: Exception) -> str:
    """Why something could not be read or written, for a message."""
    return (getattr(error, "strerror", None) or str(error)).lower()
