import bz2
import gzip
import io
import lzma
import os
import pty
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from headspan import conllu
from headspan.cli.input_files import Inputs, read_text
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
    yield Sentence.from_words("".join(pieces).split(), comments=["# newpar", "# sent_id = 1"])


def sentences(*names: object, text: bool = False) -> list[Sentence]:
    return list(Inputs([*map(str, names)], text=text).sentences(words))


def test_an_input_is_a_file_a_text_or_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.conllu").write_text(WORD, encoding="utf-8")
    (tmp_path / "a.txt").write_text("\ufeffa b\nc", encoding="utf-8")
    assert [s.heads for s in sentences(tmp_path / "a.conllu")] == [(0,)]
    assert [s.forms for s in sentences(tmp_path / "a.txt")] == [("a", "b", "c")]
    assert [s.forms for s in sentences("x y")] == [("x", "y")]
    assert [s.forms for s in sentences("x" * 5000)] == [("x" * 5000,)]
    for content, forms in ((WORD, ("dog",)), ("dog days", ("dog", "days"))):
        stdin = io.BufferedReader(io.BytesIO(content.encode()))
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stdin))
        assert [s.forms for s in sentences("-")] == [forms]


@pytest.mark.parametrize(
    "name",
    [
        "no.txt",
        "./missing",
        "no/where",
        "/no/where",
        "texts/*",
        "*.conllu",
        "x.conllu.gz",
        "missing.md",
        "A.PDF",
        "a.jsonl",
    ],
)
def test_a_path_where_nothing_is_is_not_text(name: str) -> None:
    with pytest.raises(HeadspanError, match=f"{re.escape(name)}: there is no such file"):
        Inputs([name])
    assert [s.forms for s in sentences(name, text=True)] == [(name,)]


@pytest.mark.parametrize(
    "text", ["and/or is fine.", "See notes.txt", "Hello.", "What?", "5.30", "a*b", ""]
)
def test_text_is_not_taken_for_a_path(text: str) -> None:
    assert [s.forms for s in sentences(text)] == [tuple(text.split())]


def test_inputs_that_cannot_be_read_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(HeadspanError, match="is a folder; expected a file"):
        Inputs([str(tmp_path)])
    with pytest.raises(HeadspanError, match="can be only one of the inputs"):
        Inputs(["-", "-"])
    (tmp_path / "picture").write_bytes(b"\x89PNG\0\0")
    with pytest.raises(HeadspanError, match="picture: is a binary file; expected text or CoNLL"):
        sentences(tmp_path / "picture")
    (tmp_path / "notes").write_text("Hello", encoding="utf-16")
    with pytest.raises(HeadspanError, match="notes: is text in UTF-16; expected UTF-8"):
        sentences(tmp_path / "notes")
    (tmp_path / "bad.conllu").write_text("not a treebank\n", encoding="utf-8")
    with pytest.raises(HeadspanError, match=r"bad\.conllu:1: found 1 column"):
        sentences(tmp_path / "bad.conllu")


def test_no_two_inputs_share_a_sent_id(tmp_path: Path) -> None:
    for name, ids in (("one.conllu", "23a"), ("two.conllu", "1aab")):
        text = "".join(f"# sent_id = {sent_id}\n{WORD}" for sent_id in ids)
        (tmp_path / name).write_text(text, encoding="utf-8")
    read = sentences("x", tmp_path / "one.conllu", "y", tmp_path / "two.conllu", "z")
    expected = "1 2 3 a 4 1-input4 a-input4 a-input4 b 5"
    assert [s.sent_id for s in read] == expected.split()
    assert read[4].comments == ("# newpar", "# sent_id = 4")
    alone = sentences(tmp_path / "two.conllu")
    assert [s.sent_id for s in alone] == list("1aab")  # a file's own ids stay


def test_input_without_sentences_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    sentences("")
    assert capsys.readouterr().err == "headspan: the input has no sentences\n"
    sentences("", " ")
    assert capsys.readouterr().err == "headspan: the inputs have no sentences\n"
    sentences("x", "")
    assert capsys.readouterr().err == ""


def test_a_terminal_is_told_how_to_end_the_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main, other = pty.openpty()
    os.write(main, b"dog days\n\x04")
    with os.fdopen(other, "rb") as terminal:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=terminal))
        assert [s.forms for s in sentences("-")] == [("dog", "days")]
    os.close(main)
    assert "Ctrl-D ends the text" in capsys.readouterr().err


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
