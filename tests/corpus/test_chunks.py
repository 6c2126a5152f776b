"""From files of all kinds to chunks, and to the input that could not be read."""

import bz2
import gzip
import io
import json
import lzma
import os
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from headspan import HeadspanError
from headspan.corpus.chunks import Chunk, ConllPart, SkippedInput, TextPart, WordsPart
from headspan.corpus.cutting import Cutter
from headspan.corpus.source import Source

WORD = "1\tdog\t_\t_\t_\t_\t0\troot\t_\t_\n"


def read_chunks(*paths: object, size: int = 1000, root: Path | None = None) -> list[Chunk]:
    return list(Source(tuple(map(str, paths)), size, root or Path.cwd()).chunks())


def skipped(chunks: list[Chunk]) -> list[SkippedInput]:
    return [item for chunk in chunks for item in chunk.skipped]


@given(st.text("ab \n\r\u2029é", max_size=300), st.integers(1, 40), st.integers(1, 40))
def test_a_text_is_cut_without_loss_in_whatever_pieces_it_arrives(
    text: str, max_size: int, step: int
) -> None:
    def cut(step: int) -> list[TextPart]:
        cutter = Cutter("d", "f", max_size=max_size)
        pieces = [text[at : at + step] for at in range(0, len(text), step)]
        return [part for piece in pieces for part in cutter.add(piece)] + list(cutter.rest())

    parts = cut(step)
    assert parts == cut(len(text) + 1)
    for part in parts:
        assert 0 < len(part.text) <= max_size
        assert part.text == text[part.offset : part.offset + len(part.text)]
        assert part.line == 1 + text.count("\n", 0, part.offset)
    left_out = list(text)
    for part in parts:
        left_out[part.offset : part.offset + len(part.text)] = "." * len(part.text)
    assert all(character == "." or character.isspace() for character in left_out)
    assert [part.first for part in parts] == [True] * bool(parts) + [False] * (len(parts) - 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\n\ntwo\n\nthree", ["one\n\ntwo\n\n", "three"]),
        ("one two\nthree four", ["one two\n", "three four"]),
        ("one two three", ["one two ", "three"]),
        ("onetwothreefour", ["onetwothreef", "our"]),
    ],
)
def test_a_text_is_cut_at_the_best_place(text: str, expected: list[str]) -> None:
    cutter = Cutter("d", "f", max_size=12)
    parts = [*cutter.add(text), *cutter.rest()]
    assert [part.text for part in parts] == expected
    assert [part.begins_paragraph for part in parts] == [True, "\n\n" in text]


def test_documents_share_chunks_and_are_not_cut(tmp_path: Path) -> None:
    for k in range(10):
        (tmp_path / f"{k}.txt").write_text(f"{k}" * 299, encoding="utf-8")
    chunks = read_chunks(tmp_path)
    assert [len(chunk.parts) for chunk in chunks] == [3, 3, 3, 1]
    assert [chunk.number for chunk in chunks] == [0, 1, 2, 3]
    assert [chunk.last for chunk in chunks] == [False, False, False, True]
    assert sum(chunk.bytes_read for chunk in chunks) == 2990
    assert chunks[0].name == "part-00000"


def test_folders_mean_all_files_below_in_order(tmp_path: Path) -> None:
    for name in ("b/2.txt", "b/10.txt", "a/x/1.txt", ".git/no.txt", "a/.hidden"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text", encoding="utf-8")
    source = Source((".", "b/2.txt"), 1000, tmp_path)
    assert list(source.files()) == ["a/x/1.txt", "b/10.txt", "b/2.txt", "b/2.txt"]
    assert source.bytes() == 16
    with pytest.raises(HeadspanError, match=r"none\.txt: there is no such file"):
        Source(("none.txt",), 1000, tmp_path).check()


def test_an_empty_corpus_is_one_empty_chunk(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    (tmp_path / "blank.txt").write_text("\n \n", encoding="utf-8")
    assert read_chunks(tmp_path) == [Chunk(0, (), (), last=True)]


@pytest.mark.parametrize("kind", ["", ".gz", ".xz", ".bz2", ".zst"])
def test_compressed_or_not_is_the_same(tmp_path: Path, kind: str) -> None:
    text = "\n\n".join(f"Paragraph {k} " + "word " * 50 for k in range(30)).encode()
    packed = {
        "": text,
        ".gz": gzip.compress(text, mtime=0),
        ".xz": lzma.compress(text),
        ".bz2": bz2.compress(text),
        ".zst": pyarrow.compress(text, codec="zstd", asbytes=True),
    }
    (tmp_path / f"a.txt{kind}").write_bytes(packed[kind])
    chunks = read_chunks(f"a.txt{kind}", root=tmp_path)
    assert len(chunks) > 5
    assert (
        "".join(p.text for c in chunks for p in c.parts if isinstance(p, TextPart)).encode() == text
    )
    assert not skipped(chunks)


def test_json_lines_and_parquet_are_the_same_documents(tmp_path: Path) -> None:
    rows = [
        {"id": "first", "text": "One.\n\nTwo.", "tokens": None},
        {"id": None, "text": "Three.", "tokens": None},
        {"id": " a\nb ", "text": None, "tokens": [["One", "."], [], ["Two", "."]]},
    ]
    lines = [json.dumps({k: v for k, v in row.items() if v is not None}) for row in rows]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    (from_json,) = read_chunks("a.jsonl", root=tmp_path)
    (from_parquet,) = read_chunks("a.parquet", root=tmp_path)
    assert from_json.parts == (
        TextPart("first", "One.\n\nTwo.", "a.jsonl", 1),
        TextPart("a.jsonl:2", "Three.", "a.jsonl", 2),
        WordsPart("a b", (("One", "."), ("Two", ".")), "a.jsonl", 3),
    )
    assert [replace(p, file="", document="") for p in from_parquet.parts] == [
        replace(p, file="", document="") for p in from_json.parts
    ]
    assert from_parquet.parts[1].document == "a.parquet:2"


def test_standard_input_is_recognised_by_its_content(monkeypatch: pytest.MonkeyPatch) -> None:
    for data, kind in (
        (b"TextPart.", TextPart),
        (WORD.encode(), ConllPart),
        (b'{"text": "a"}\n', TextPart),
    ):
        stdin = SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(data)))  # type: ignore[arg-type]
        monkeypatch.setattr(sys, "stdin", stdin)
        (chunk,) = read_chunks("-")
        assert isinstance(chunk.parts[0], kind)
        assert chunk.parts[0].file == "standard input"
    assert Source(("-",), 1000, Path()).bytes() is None


def test_conll_is_cut_between_sentences_and_keeps_its_documents(tmp_path: Path) -> None:
    blocks = [f"# sent_id = {k}\n" + WORD * 30 for k in range(12)]
    blocks[3] = "# newdoc id = three\n" + blocks[3]
    (tmp_path / "a.conllu").write_text("\ufeff" + "\n".join(blocks), encoding="utf-8")
    chunks = read_chunks("a.conllu", root=tmp_path)
    parts = [part for chunk in chunks for part in chunk.parts]
    assert len(chunks) > 2
    assert [part.document for part in parts] == [""] * 3 + ["three"] * 9
    assert [part.data.decode() for part in parts if isinstance(part, ConllPart)] == blocks
    assert [part.line for part in parts[:3]] == [1, 33, 65]


@pytest.mark.parametrize(
    ("name", "data", "reason", "line", "left"),
    [
        (
            "a.txt",
            b"One.\nTwo \xff.\nThree \xfe.\nFour.\n",
            "0xff is not UTF-8; lines 2 to 3",
            2,
            2,
        ),
        ("a.txt", b"One.\nTw\xc3", "0xc3 is not UTF-8; the line is skipped", 2, 1),
        ("a.jsonl", b'{"text": "a"}\n{"text": \n{"text": "b"}\n', "is not JSON", 2, 2),
        ("a.jsonl", b'{"text": "a"}\n{"text": "\xff"}\n', "is not JSON in UTF-8", 2, 1),
        ("a.jsonl", b'[1]\n{"text": "b"}\n', "found list; expected an object with `text`", 1, 1),
        ("a.jsonl", b'{"text": 1}\n', "found something else; expected `text`", 1, 0),
        ("a.jsonl", b'{"id": "x"}\n', "found neither; expected `text`", 1, 0),
        ("a.jsonl", b'{"tokens": ["a", ""]}\n', "found something else; expected", 1, 0),
        (
            "a.txt.gz",
            gzip.compress(b"One.\n" * 50, mtime=0)[:-9],
            "cannot be read to the end",
            0,
            0,
        ),
        ("a.parquet", b"PAR1", "cannot be read", 0, 0),
        ("a.txt", "Hello.".encode("utf-16"), "is text in UTF-16", 0, 0),
        ("a.png", b"\x89PNG\r\n\0\0", "is a binary file", 0, 0),
    ],
)
def test_input_that_cannot_be_read_is_recorded_and_the_rest_is_read(
    tmp_path: Path, name: str, data: bytes, reason: str, line: int, left: int
) -> None:
    (tmp_path / name).write_bytes(data)
    (tmp_path / "z.txt").write_text("The rest.", encoding="utf-8")
    (chunk,) = read_chunks(name, "z.txt", root=tmp_path)
    (item,) = chunk.skipped
    assert reason in item.reason
    assert (item.file, item.line) == (name, line)
    assert len(chunk.parts) == left + 1


def test_parquet_without_text_or_tokens_is_skipped(tmp_path: Path) -> None:
    parquet.write_table(pyarrow.table({"body": ["a"]}), tmp_path / "a.parquet")
    (item,) = skipped(read_chunks("a.parquet", root=tmp_path))
    assert "its columns are body; expected text or tokens" in item.reason


def test_offsets_count_skipped_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("Eins.\nZwölf \xff.\nDrei.\n".encode("latin-1"))
    (chunk,) = read_chunks("a.txt", root=tmp_path)
    last = chunk.parts[-1]
    assert isinstance(last, TextPart)
    assert (last.text, last.offset, last.line, last.first) == ("Drei.\n", 15, 3, False)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch(mode=0)
    (item,) = skipped(read_chunks("a.txt", root=tmp_path))
    assert "permission denied" in item.reason


def test_very_many_skipped_lines_are_divided_among_chunks(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{\n" * 2500, encoding="utf-8")
    chunks = read_chunks("a.jsonl", root=tmp_path)
    assert [len(chunk.skipped) for chunk in chunks] == [1000, 1000, 500]


def test_long_documents_of_words_are_cut_between_sentences(tmp_path: Path) -> None:
    sentences = [[f"word{k}"] * 20 for k in range(30)]
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "d", "tokens": sentences}) + "\n")
    parts = [part for chunk in read_chunks("a.jsonl", root=tmp_path) for part in chunk.parts]
    assert [
        list(words) for p in parts if isinstance(p, WordsPart) for words in p.sentences
    ] == sentences
    assert [part.size <= 1001 for part in parts] == [True] * len(parts)
    assert len(parts) > 3


def test_the_fingerprint_tells_chunks_apart(tmp_path: Path) -> None:
    text = TextPart("d", "a", "f", 1)
    different = [
        Chunk(0, (text,)),
        Chunk(0, (text,), last=True),
        Chunk(0, (replace(text, text="b"),)),
        Chunk(0, (replace(text, document="e"),)),
        Chunk(0, (text,), (SkippedInput("bad"),)),
        Chunk(0, (TextPart("d", "\ud800", "f", 1),)),
        Chunk(0, (ConllPart("d", b"\xff", "f", 1, None),)),
    ]
    assert len({chunk.fingerprint() for chunk in different}) == len(different)
    assert Chunk(0, (text,)).fingerprint() == Chunk(5, (text,), bytes_read=7).fingerprint()


def test_a_chunk_comes_back_from_json() -> None:
    parts = (
        TextPart("a", "One.\n\ud800 two\x00", "a.txt", 1, offset=3, first=False),
        WordsPart("b", (("x", "é"), ()), "b.jsonl", 2),
        ConllPart("c", "1\tçà\n".encode() + b"\xff", "c.conllu", 3, "conllx"),
    )
    skipped = (SkippedInput("why", "a.txt", 4, "a", "s"),)
    chunk = Chunk(7, parts, skipped, last=True, bytes_read=12)
    again = Chunk.from_json(chunk.to_json())
    assert again == chunk
    assert again.bytes_read == 12
    assert again.fingerprint() == chunk.fingerprint()
