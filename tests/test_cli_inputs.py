import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from headspan import conllu
from headspan.cli.input_files import read_text, sentences
from headspan.conllu import Sentence, looks_like_conll
from headspan.plumbing.errors import HeadspanError

WORD = "1\tdog\t_\t_\t_\t_\t0\troot\t_\t_\n\n"


@pytest.mark.parametrize(
    ("start", "conll"),
    [
        (WORD, True),
        ("\ufeff# sent_id = 1\n" + WORD, True),
        ("# any comment\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n", True),
        ("1 dog _ NN NN _ 0 root _ _\n", True),
        ("# sent_id = 1\n", True),  # a pipe may deliver no more at first
        ("# A title\n\nSome text.\n", False),
        ("# A title", False),
        ("1 dog barks\n", False),
        ("1. First of all, a list\n", False),
        ("1984 was a year like any other.\n", False),
        ("", False),
        ("\n\n", False),
    ],
)
def test_conll_is_told_from_text_by_its_first_lines(start: str, conll: bool) -> None:
    assert looks_like_conll(start.encode()) is conll


def words(pieces: Iterator[str]) -> Iterator[Sentence]:
    yield Sentence.from_words("".join(pieces).split())


def test_an_input_is_a_file_a_text_or_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.conllu").write_text(WORD, encoding="utf-8")
    (tmp_path / "a.txt").write_text("\ufeffa b\nc", encoding="utf-8")
    assert [s.heads for s in sentences(str(tmp_path / "a.conllu"), words)] == [(0,)]
    assert [s.forms for s in sentences(str(tmp_path / "a.txt"), words)] == [("a", "b", "c")]
    assert [s.forms for s in sentences("x y", words)] == [("x", "y")]
    assert [s.forms for s in sentences("x" * 5000, words)] == [("x" * 5000,)]
    for content, forms in ((WORD, ("dog",)), ("dog days", ("dog", "days"))):
        stdin = io.BufferedReader(io.BytesIO(content.encode()))
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stdin))
        assert [s.forms for s in sentences("-", words)] == [forms]
    with pytest.raises(HeadspanError, match="is a directory"):
        list(sentences(str(tmp_path), words))
    with pytest.raises(HeadspanError, match=r"no\.txt: there is no such file"):
        list(sentences("no.txt", words))


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_broken_archive_is_named(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    packed = bytearray(pack(b"One sentence. " * 10_000))
    packed[60:80] = b"\xff" * 20
    (tmp_path / "broken").write_bytes(packed)
    with pytest.raises(HeadspanError, match="broken: cannot be read"):
        read_text(str(tmp_path / "broken"))


class Dripping(io.RawIOBase):
    """A pipe that delivers one byte at a time."""

    def __init__(self, data: bytes) -> None:
        self.data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        byte = self.data.read(1)
        buffer[: len(byte)] = byte
        return len(byte)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, bz2.compress])
def test_archives_are_recognised_byte_by_byte(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("Big dogs bark.", "B", "", "BZ top\n"):
        stdin = io.BufferedReader(Dripping(pack(text.encode())))
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stdin))
        assert read_text("-") == text
    stdin = io.BufferedReader(Dripping(pack(WORD.encode())))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stdin))
    assert [s.forms for s in conllu.read("-")] == [("dog",)]
    assert not stdin.closed
