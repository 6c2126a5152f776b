"""Opening files to read, and writing files and folders whole or not at all."""

from __future__ import annotations

import bz2
import codecs
import ctypes
import gzip
import io
import lzma
import os
import secrets
import shutil
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeAlias, cast

from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.extras import needed_for

_MARKS = _GZIP, _XZ, _BZIP2, _ZSTD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"BZh", b"\x28\xb5\x2f\xfd"

_FEW_NULS = 100  # a text has fewer than one NUL per so many bytes
PathLike: TypeAlias = str | os.PathLike[str]
_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux
UNREADABLE = (OSError, EOFError, zlib.error, lzma.LZMAError)
"""The errors that reading a file, plain or compressed, may raise."""


def not_text(start: bytes) -> str | None:
    """Why a file that begins with these bytes is not text; None if it may be.

    A text has few NULs, or none.
    """
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "is text in UTF-16; expected UTF-8"
    nuls = start.count(0)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        is_binary = nuls > 0
    else:
        is_binary = nuls > len(start) / _FEW_NULS
    return "is a binary file; expected text or CoNLL" if is_binary else None


def open_input(path: PathLike, opened: ExitStack) -> BinaryIO:
    """The bytes of a file, or of standard input for `-`, decompressed if necessary.

    Compression is recognised by the first bytes, so it works for standard input too. `opened`
    closes the files.
    """
    if path == "-" and sys.stdin is None:
        raise HeadspanError("standard input is closed")
    try:
        if path == "-":
            return decompressed(sys.stdin.buffer, opened)
        return decompressed(opened.enter_context(Path(path).open("rb")), opened)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error


def input_name(path: PathLike) -> str:
    """The name of an input file in messages."""
    return "standard input" if path == "-" else os.fspath(path)


def is_text(stream: object) -> bool:
    """Return whether an open file, or a wrapper such as tempfile's, holds text, not bytes."""
    if isinstance(stream, io.TextIOBase):
        return True
    if isinstance(stream, io.IOBase) or not hasattr(stream, "mode"):
        return hasattr(stream, "encoding")
    return "b" not in str(stream.mode)


def decompressed(stream: BinaryIO, opened: ExitStack) -> BinaryIO:
    """The stream, decompressed if its first bytes are those of gzip, xz, bzip2 or zstd."""
    if not hasattr(stream, "peek"):
        if not isinstance(stream, io.RawIOBase | io.BufferedIOBase):
            return stream
        buffered = io.BufferedReader(cast(io.RawIOBase, stream))
        opened.callback(buffered.detach)  # or the buffer would close a stream that is not ours
        stream = cast(BinaryIO, buffered)
    start = cast(io.BufferedReader, stream).peek(len(_XZ))
    if start and any(mark.startswith(start) for mark in _MARKS) and start not in _MARKS:
        # a pipe may deliver the first bytes one by one
        start = stream.read(len(_XZ))
        stream = cast(BinaryIO, io.BufferedReader(_Replayed(start, stream)))
    if start.startswith(_GZIP):
        return cast(BinaryIO, opened.enter_context(gzip.open(stream)))
    if start.startswith(_XZ):
        return cast(BinaryIO, opened.enter_context(lzma.open(stream)))
    if start.startswith(_BZIP2):
        return cast(BinaryIO, opened.enter_context(bz2.open(stream)))
    if start.startswith(_ZSTD):
        return _decompressed_zstd(stream)
    return stream


class _Replayed(io.RawIOBase):
    """A stream preceded by the bytes already read from it; closing it closes nothing."""

    def __init__(self, start: bytes, stream: BinaryIO) -> None:
        self._start = start
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        stream = cast(io.BufferedReader, self._stream)
        data = self._start[: len(buffer)] or stream.read1(len(buffer))
        self._start = self._start[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


def _decompressed_zstd(stream: BinaryIO) -> BinaryIO:
    with needed_for("decompressing zstd", extra="parquet"):
        from pyarrow import CompressedInputStream
    return cast(BinaryIO, io.BufferedReader(CompressedInputStream(stream, "zstd")))


@contextmanager
def open_output(path: PathLike, *, overwrite: bool = True) -> Iterator[BinaryIO]:
    """A file to write, which appears under its name only when it is complete.

    Bytes go to a hidden file beside it, which is renamed at the end; after an error or Ctrl-C the
    old file is as it was. `-` is standard output; a device or pipe is written directly;
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
        with _opened(target, path, "wb") as device:
            yield device
        return
    if mode is not None and not overwrite:
        raise HeadspanError(f"{os.fspath(path)}: exists already; --force overwrites it")
    with _placed(target, path) as temporary, _opened(temporary, path, "xb") as file:
        with _compressed(file, Path(path).suffix) as stream:
            yield stream
        file.flush()


@contextmanager
def placed(path: PathLike) -> Iterator[Path]:
    """A hidden name under which to make a file or folder that then gets its real name, whole.

    An old one is replaced; after an error it is as it was. An OSError in the block is taken for an
    error of writing. On a system that cannot exchange two folders (Linux can), a process that is
    killed at that very moment leaves the old one beside it, as `.headspan-….old`.
    """
    with _placed(Path(os.path.realpath(path)), path) as temporary:
        try:
            yield temporary
        except OSError as error:
            raise _unwritable(path, error) from error


@contextmanager
def _placed(target: Path, name: PathLike) -> Iterator[Path]:
    temporary = target.with_name(f".headspan-{secrets.token_hex(6)}.tmp")
    try:
        yield temporary
        try:
            _put(temporary, target)
        except OSError as error:
            raise _unwritable(name, error) from error
    finally:
        _remove(temporary)


def _put(temporary: Path, target: Path) -> None:
    """Sync a file or folder, and give it its real name."""
    if not temporary.is_dir():
        sync(temporary)
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
        return
    for file in temporary.iterdir():
        sync(file)
    sync(temporary)
    if not target.exists():
        temporary.rename(target)
    elif not _exchanged(temporary, target):
        old = temporary.with_suffix(".old")
        target.rename(old)
        try:
            temporary.rename(target)
        except BaseException:
            old.rename(target)
            raise
        _remove(old)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where the system cannot."""
    if sys.platform == "win32":
        return False
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    return int(rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE)) == 0


def sync(path: Path) -> None:
    """Make sure that a file, or the names in a folder, survive a power failure."""
    if sys.platform == "win32":  # syncs neither folders nor files open for reading
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


class _File(io.FileIO):
    """A file whose write errors name the file that it will become."""

    def __init__(self, path: Path, name: PathLike, mode: str) -> None:
        self.final_name = name
        super().__init__(path, mode)

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _unwritable(self.final_name, error) from error


def _opened(path: Path, name: PathLike, mode: str) -> BinaryIO:
    try:
        return io.BufferedWriter(_File(path, name, mode))
    except OSError as error:
        raise _unwritable(name, error) from error


def _unwritable(path: PathLike, error: OSError) -> HeadspanError:
    folder = Path(path).parent
    why = reason(error) if folder.exists() else f"there is no folder {folder}"
    return HeadspanError(f"{os.fspath(path)}: cannot be written: {why}")


@contextmanager
def _compressed(file: IO[bytes], suffix: str) -> Iterator[BinaryIO]:
    if suffix == ".gz":  # without name and time: equal content gives equal bytes
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            yield cast(BinaryIO, packed)
    elif suffix == ".xz":
        with lzma.open(file, "wb") as packed_xz:
            yield cast(BinaryIO, packed_xz)
    else:
        yield cast(BinaryIO, file)


def unreadable(path: PathLike, error: Exception) -> HeadspanError:
    """The error for a file that cannot be read, or not as UTF-8."""
    if isinstance(error, UnicodeDecodeError):
        byte = error.object[error.start]
        return HeadspanError(f"{input_name(path)}: is not UTF-8: the byte {byte:#04x} is invalid")
    return HeadspanError(f"{input_name(path)}: cannot be read: {reason(error)}")


def reason(error: Exception) -> str:
    """The reason why a file could not be read or written, for a message."""
    return (getattr(error, "strerror", None) or str(error)).lower()
