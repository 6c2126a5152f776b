"""The folder after a run, and after everything that may happen to one."""

import errno
import fcntl
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from headspan import HeadspanError, conllu
from headspan.corpus import CorpusProgress, CorpusSummary
from headspan.corpus.output_folder import OutputFolder
from headspan.corpus.parsing import CorpusOptions
from headspan.corpus.shards import ShardWriter
from headspan.corpus.source import Source
from headspan.plumbing.limits import LONGEST

from .conftest import files, inline, paragraphs

WORD = "1\tdog\t_\t_\t_\t_\t0\troot\t_\t_\n"


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("text.txt")
    path.write_text(paragraphs(12), encoding="utf-8")
    return path


class Interruption(BaseException):
    pass


def interrupted_after(shards: int) -> Any:
    """The inline engine, interrupted after a number of shards."""

    def engine(source: Source, folder: OutputFolder, writer: ShardWriter) -> Any:
        for number, shard in enumerate(inline(source, folder, writer)):
            if number == shards:
                raise Interruption
            yield shard

    return engine


def interrupt(parse: Any, text: Path, folder: Path, shards: int = 2, **options: Any) -> None:
    with pytest.raises(Interruption):
        parse([text], folder, engine=interrupted_after(shards), **options)


def interrupt_at_the_end(parse: Any, inputs: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that dies when all shards are recorded, before there is a manifest."""

    def interrupted(_: OutputFolder) -> None:
        raise Interruption

    with monkeypatch.context() as patched:
        patched.setattr(OutputFolder, "finish", interrupted)
        with pytest.raises(Interruption):
            parse(inputs, Path("out"))


def test_a_run_writes_shards_and_a_manifest(parse: Any, text: Path) -> None:
    seen: list[CorpusProgress] = []
    summary = parse([text], Path("out"), watch=seen.append)
    names = [f"part-0000{k}.conllu" for k in range(4)]
    assert sorted(files(Path("out"))) == ["manifest.json", *names]
    manifest = json.loads(Path("out/manifest.json").read_bytes())
    assert [part["name"] for part in manifest["parts"]] == names
    assert [part["start"] for part in manifest["parts"]] == [
        "text.txt:1", "text.txt:10", "text.txt:19", "text.txt:28",
    ]  # fmt: skip
    sentences = [s for name in names for s in conllu.read(Path("out") / name)]
    assert summary == CorpusSummary(4, len(sentences), sum(map(len, sentences)), 0)
    assert {key: manifest[key] for key in ("shards", "sentences", "words", "errors")} == {
        "shards": 4, "sentences": 24, "words": summary.words, "errors": 0,
    }  # fmt: skip
    assert [s.comment("newdoc id") for s in sentences] == ["text.txt", *[None] * 23]
    assert [s.sent_id for s in sentences[:7]] == [
        *(f"part-00000-{k}" for k in range(1, 7)), "part-00001-1",
    ]  # fmt: skip
    everything = text.read_text(encoding="utf-8")
    for sentence in sentences:
        for form, misc in zip(sentence.forms, sentence.misc, strict=True):
            start, end = map(int, misc.partition("TokenRange=")[2].split(":"))
            assert everything[start:end] == form
    assert [p.shards for p in seen] == [0, 1, 2, 3, 4]
    assert seen[-1].bytes_read == seen[-1].bytes_total == text.stat().st_size
    assert seen[-1].seconds_left == 0
    assert seen[1].seconds_left > 0


def test_a_run_that_dies_at_any_step_resumes_to_the_same_bytes(
    text: Path, no_model: Path, tmp_path: Path
) -> None:
    (tmp_path / "t.txt").write_text(paragraphs(6) + "A RAISE\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, ROOT / "tests/corpus/crash.py", "t.txt", tmp_path / "crash", no_model, "all"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), *sys.path])},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 15


def test_an_interrupted_run_resumes_to_the_same_bytes(parse: Any, text: Path) -> None:
    parse([text], Path("whole"))
    interrupt(parse, text, Path("out"), 1)
    interrupt(parse, text, Path("out"), 2)
    assert not Path("out/manifest.json").exists()
    seen: list[CorpusProgress] = []
    parse([text], Path("out"), watch=seen.append)
    assert seen[0].shards == 3
    assert seen[-1].bytes_read_before > 0
    assert files(Path("out")) == files(Path("whole"))


@pytest.mark.parametrize(
    "damage", ["torn", "lost line", "lost shard", "changed shard", "half header"]
)
def test_a_damaged_folder_is_repaired(parse: Any, text: Path, damage: str) -> None:
    parse([text], Path("whole"))
    interrupt(parse, text, Path("out"), 3)
    progress, shard = Path("out/progress.jsonl"), Path("out/part-00001.conllu")
    data = progress.read_bytes()
    if damage == "torn":
        progress.write_bytes(data[:-10])
    elif damage == "lost line":
        progress.write_bytes(b"".join(data.splitlines(keepends=True)[:-1]))
    elif damage == "lost shard":
        shard.unlink()
    elif damage == "changed shard":
        shard.write_bytes(bytes(len(shard.read_bytes())))
    else:
        progress.write_bytes(data[:20])
    Path("out/.headspan-abc.tmp").touch()
    interrupt(parse, text, Path("out"), 1)
    parse([text], Path("out"))
    assert files(Path("out")) == files(Path("whole"))


@pytest.mark.parametrize("line", [0, 1, 3])
def test_a_shard_with_a_damaged_line_is_made_again(
    parse: Any, text: Path, line: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever a line is changed, cut, joined or divided, the result is the same."""
    text.write_text("A RAISE\n\n" + paragraphs(9), encoding="utf-8")
    parse([text], Path("whole"))
    whole = files(Path("whole"))
    assert "errors.jsonl" in whole
    interrupt_at_the_end(parse, [text], monkeypatch)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # for speed
    progress = Path("out/progress.jsonl")
    lines = progress.read_bytes().splitlines(keepends=True)
    good = lines[line]
    damaged = [
        b"",
        b"\n",
        b"{}\n",
        b"[]\n",
        good * 2,
        good.rstrip(),
        json.dumps(json.loads(good)[1]).encode() + b"\n",
    ]
    for at in range(0, len(good), 9):
        damaged += [
            good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :],
            good[:at] + b"\n" + good[at:],
        ]
        damaged += [good[:at] + good[at + 1 :], good[:at] + b"\xff" + good[at:]]
    for bad in damaged:
        progress.write_bytes(b"".join([*lines[:line], bad, *lines[line + 1 :]]))
        parse([text], Path("out"))
        assert files(Path("out")) == whole, bad
        Path("out/manifest.json").unlink()


def test_shards_of_a_run_whose_settings_are_damaged_do_not_stay(parse: Any, text: Path) -> None:
    interrupt(parse, text, Path("out"))
    progress = Path("out/progress.jsonl")
    progress.write_bytes(progress.read_bytes()[1:])
    parse([text], Path("out"), compress="gz")
    assert not list(Path("out").glob("*.conllu"))


@pytest.mark.parametrize("finished", [False, True])
@pytest.mark.parametrize("change", ["changed", "removed", "added"])
def test_input_that_changes_after_the_last_shard_is_noticed(
    parse: Any, text: Path, change: str, finished: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path("in")
    folder.mkdir()
    for name in "ab":
        (folder / name).write_text(paragraphs(4), encoding="utf-8")
    interrupt_at_the_end(parse, [folder], monkeypatch)
    if finished:
        parse([folder], Path("out"))
    if change == "changed":
        (folder / "b").write_text(paragraphs(4).replace("line 3", "line X"), encoding="utf-8")
    elif change == "removed":
        (folder / "b").unlink()
    else:
        (folder / "c").write_text("More .", encoding="utf-8")
    with pytest.raises(HeadspanError, match="out: the input has changed since the folder was"):
        parse([folder], Path("out"))


@pytest.mark.parametrize("parts", ["[1]", '[{"input_sha256": 1}]', "{}", None])
def test_a_manifest_that_is_not_one_is_an_error(parse: Any, text: Path, parts: str) -> None:
    parse([text], Path("out"))
    manifest = Path("out/manifest.json")
    start = manifest.read_text(encoding="utf-8").partition('"parts": ')[0]
    manifest.write_text(f'{start}"parts": {parts}}}' if parts else "[]", encoding="utf-8")
    with pytest.raises(HeadspanError, match=r"is not the manifest|the input has changed"):
        parse([text], Path("out"))


@pytest.mark.timeout(20)
def test_pipes_sockets_and_devices_in_a_folder_are_errors(parse: Any, text: Path) -> None:
    folder = Path("in/below")
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("Good .", encoding="utf-8")
    os.mkfifo(folder / "pipe")
    with pytest.raises(HeadspanError, match="in/below/pipe: is a pipe; expected files"):
        parse([Path("in")], Path("out"))
    (folder / "pipe").unlink()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("in/below/socket")
        with pytest.raises(HeadspanError, match="in/below/socket: is a socket; expected files"):
            parse([Path("in")], Path("out"))
    (folder / "socket").unlink()
    (folder / "link").symlink_to("/dev/zero")
    with pytest.raises(HeadspanError, match="in/below/link: is a device; expected files"):
        parse([Path("in")], Path("out"))
    assert not Path("out").exists()
    (folder / "link").unlink()
    (folder / "link").symlink_to("nowhere")
    assert parse([Path("in")], Path("out")).errors == 1  # as before


def test_a_finished_folder_stays_as_it_is(parse: Any, text: Path) -> None:
    summary = parse([text], Path("out"))
    before = files(Path("out"))
    progress = Path("out/progress.jsonl")
    assert parse([text], Path("out"), engine=None) == summary
    progress.touch()  # as if it had been interrupted at the very end
    assert parse([text], Path("out"), engine=None) == summary
    assert files(Path("out")) == before


def test_other_settings_are_refused(parse: Any, text: Path, tmp_path: Path) -> None:
    interrupt(parse, text, Path("out"))
    with pytest.raises(HeadspanError, match="shard_size was 1 and is 2; resume with the old ones"):
        parse([text], Path("out"), shard_size=2)
    with pytest.raises(HeadspanError, match="confidence was False and is True"):
        parse([text], Path("out"), options=CorpusOptions(confidence=True))
    other = tmp_path / "other"
    other.mkdir()
    (other / "config.json").write_text("{ }", encoding="utf-8")
    with pytest.raises(HeadspanError, match="model_sha256 was"):
        parse([text], Path("out"), model=other)
    parse([text], Path("out"))
    with pytest.raises(HeadspanError, match="compress was 'none' and is 'gz'"):
        parse([text], Path("out"), compress="gz")


def test_other_input_is_refused(parse: Any, text: Path) -> None:
    interrupt(parse, text, Path("out"))
    before = text.read_text(encoding="utf-8")
    text.write_text(before.replace("Paragraph 1 ", "Paragraph X "), encoding="utf-8")
    with pytest.raises(HeadspanError, match=r"the input has changed .*chunk 0, text.txt:1"):
        parse([text], Path("out"))
    text.write_text(before, encoding="utf-8")
    interrupt(parse, text, Path("out"), 1)
    text.write_text(paragraphs(3), encoding="utf-8")
    with pytest.raises(HeadspanError, match="the input has changed"):
        parse([text], Path("out"))


def test_folders_that_cannot_be_used_are_refused(parse: Any, text: Path, tmp_path: Path) -> None:
    Path("full").mkdir()
    Path("full/notes.txt").touch()
    with pytest.raises(HeadspanError, match="full: contains other files"):
        parse([text], Path("full"))
    with pytest.raises(HeadspanError, match=r"notes\.txt: is a file; expected a folder"):
        parse([text], Path("full/notes.txt"))
    with pytest.raises(HeadspanError, match="is inside the input"):
        parse([tmp_path], tmp_path / "below")
    interrupt(parse, text, Path("out"))
    with Path("out/progress.jsonl").open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(HeadspanError, match="is in use by another run"):
            parse([text], Path("out"))
    with pytest.raises(HeadspanError, match="cannot be written"):
        parse([text], Path("/proc/nowhere"))


def test_a_full_disk_stops_the_run_which_resumes_later(
    parse: Any, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse([text], Path("whole"))
    real, calls = os.fsync, iter(range(100))

    def full(handle: int) -> None:
        if next(calls) > 8:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(
            (HeadspanError, OSError), match=r"(?i)cannot be written: no space|No space left"
        ):
            parse([text], Path("out"))
    assert not list(Path("out").glob(".headspan-*"))
    parse([text], Path("out"))
    assert files(Path("out")) == files(Path("whole"))


def test_sentences_that_cannot_be_parsed_are_recorded(parse: Any, text: Path) -> None:
    lines = [
        "Good .",
        "Bad RAISE .",
        "Good again .",
        "word " * (LONGEST + 1),
        "No MEMORY .",
        "End .",
    ]
    text.write_text("\n".join(lines), encoding="utf-8")
    Path("more.jsonl").write_text('{"id": "x", "tokens": ["RAISE"]}\n{\n', encoding="utf-8")
    Path("more.conllu").write_text(
        f"# sent_id = c\n{WORD}\n# sent_id = a\n1\tdog\t_\n\n# sent_id = b\n{WORD.replace('dog', 'RAISE')}",
        encoding="utf-8",
    )
    summary = parse([text, Path("more.jsonl"), Path("more.conllu")], Path("out"), shard_size=100)
    assert summary == CorpusSummary(1, 4, 8, 7)
    (shard,) = Path("out").glob("part-*")
    assert [s.sent_id for s in conllu.read(shard)] == [
        "part-00000-1", "part-00000-3", "part-00000-6", "c",
    ]  # fmt: skip
    lines = Path("out/errors.jsonl").read_text(encoding="utf-8").splitlines()
    broken, *errors = map(json.loads, lines)
    assert broken.pop("reason").startswith("the line is not JSON in UTF-8: ")
    assert broken == {"file": "more.jsonl", "line": 2}
    assert errors == [
        {"reason": "found 3 columns in '1\\tdog\\t_'; expected 10 columns separated by tabs",
         "file": "more.conllu", "line": 5},
        {"reason": "the sentence has 2,001 words; at most 2,000 are parsed",
         "file": "text.txt", "line": 4, "document": "text.txt", "sentence": "part-00000-4"},
        {"reason": "ValueError: a word that raises",
         "file": "text.txt", "line": 2, "document": "text.txt", "sentence": "part-00000-2"},
        {"reason": "MemoryError",
         "file": "text.txt", "line": 5, "document": "text.txt", "sentence": "part-00000-5"},
        {"reason": "ValueError: a word that raises",
         "file": "more.jsonl", "line": 1, "document": "x", "sentence": "part-00000-7"},
        {"reason": "ValueError: a word that raises", "file": "more.conllu", "line": 7, "sentence": "b"},
    ]  # fmt: skip


def test_all_formats_hold_the_same_sentences(parse: Any, text: Path) -> None:
    from pyarrow import parquet

    parse([text], Path("plain"), options=CorpusOptions(confidence=True))
    plain = [s for path in sorted(Path("plain").glob("part-*")) for s in conllu.read(path)]
    assert "Confidence=0.5000" in plain[0].misc[0]
    for compress in ("gz", "xz"):
        parse([text], Path(compress), compress=compress, options=CorpusOptions(confidence=True))
        shards = sorted(Path(compress).glob(f"part-*.conllu.{compress}"))
        assert [s for path in shards for s in conllu.read(path)] == plain
    parse([text], Path("rows"), format="parquet", options=CorpusOptions(confidence=True))
    rows = parquet.read_table(sorted(Path("rows").glob("*.parquet"))).to_pylist()
    assert [row["sent_id"] for row in rows] == [s.sent_id for s in plain]
    assert [tuple(row["forms"]) for row in rows] == [s.forms for s in plain]
    assert [tuple(row["heads"]) for row in rows] == [s.heads for s in plain]
    assert {row["document"] for row in rows} == {"text.txt"}
    everything = text.read_text(encoding="utf-8")
    assert [everything[a:b] for a, b in zip(rows[-1]["starts"], rows[-1]["ends"], strict=True)] == (
        rows[-1]["forms"]
    )
    assert rows[0]["confidences"] == [0.5] * len(rows[0]["forms"])


def test_characters_that_no_file_can_hold_are_replaced(parse: Any, text: Path) -> None:
    row = {"id": "a\ud800\n b", "tokens": ["half\ud800", "with\ttab", "nul\0"]}
    Path("a.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    for format in ("conllu", "parquet"):
        assert parse([Path("a.jsonl")], Path(format), format=format).errors == 0
    (sentence,) = conllu.read("conllu/part-00000.conllu")
    assert sentence.forms == ("half\ufffd", "with tab", "nul\ufffd")
    assert sentence.comment("newdoc id") == "a\ufffd b"


def test_an_empty_corpus_has_one_empty_shard(parse: Any, text: Path) -> None:
    text.write_text("", encoding="utf-8")
    assert parse([text], Path("out")) == CorpusSummary(1, 0, 0, 0)
    assert files(Path("out"))["part-00000.conllu"] == b""


def test_wrong_arguments_are_refused_before_anything_is_written(parse: Any, text: Path) -> None:
    for wrong in ({"format": "xml"}, {"compress": "zip"}, {"shard_size": 0}, {"processes": 0}):
        with pytest.raises(HeadspanError):
            parse([text], Path("out"), **wrong)
    assert not Path("out").exists()
