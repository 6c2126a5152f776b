"""Runs with several processes, some of which die."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from headspan import HeadspanError, HeadspanWarning
from headspan.corpus.workers import ProcessPlan, plan_processes
from headspan.plumbing import machine

from .conftest import files, paragraphs
from .fake import load

CRASH = ROOT / "tests/corpus/crash.py"


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("text.txt")
    path.write_text(paragraphs(60), encoding="utf-8")
    return path


def start(text: Path, folder: Path, model: Path) -> subprocess.Popen[bytes]:
    """Start a run with two processes, in a session of its own."""
    path = os.pathsep.join([str(ROOT / "tests"), *sys.path])
    return subprocess.Popen(
        [sys.executable, CRASH, text, folder, model, "run"], start_new_session=True,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip


def finished_shards(folder: Path) -> int:
    try:
        return (folder / "progress.jsonl").read_bytes().count(b"\n") - 1
    except OSError:
        return 0


def wait_for(folder: Path, shards: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 120
    while finished_shards(folder) < shards and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.005)


def test_what_several_processes_warn_of_is_one_warning(parse: Any, text: Path) -> None:
    text.write_text(paragraphs(60).replace("ends", "WARN"), encoding="utf-8")
    with pytest.warns(HeadspanWarning, match="^a word that warns$") as caught:
        summary = parse([text], Path("two"), engine=None, processes=2)
    assert len(caught) == 1
    assert summary.errors == 0
    assert summary.shards > 10


def test_two_processes_write_the_same_bytes_as_one(parse: Any, text: Path) -> None:
    parse([text], Path("inline"))
    parse([text], Path("two"), engine=None, processes=2)
    assert files(Path("two")) == files(Path("inline"))


def test_killed_at_any_time_a_run_resumes_to_the_same_bytes(
    parse: Any, text: Path, no_model: Path
) -> None:
    parse([text], Path("whole"))
    rng = random.Random(5)
    kills = 0
    for shards in (0, 1, 6, 12, 17):
        process = start(text, Path("out"), no_model)
        wait_for(Path("out"), shards, process)
        time.sleep(rng.random() * 0.02)
        kills += process.poll() is None
        with suppress(ProcessLookupError):  # it may have finished meanwhile
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert kills >= 3
    parse([text], Path("out"))
    assert files(Path("out")) == files(Path("whole"))


@pytest.mark.linux
def test_if_the_first_process_is_killed_the_others_end(text: Path, no_model: Path) -> None:
    text.write_text("WAIT\n" * 2000, encoding="utf-8")
    process = start(text, Path("out"), no_model)
    until = time.monotonic() + 60
    while len(members(process.pid)) < 3:  # itself and two workers, at least
        assert time.monotonic() < until
        time.sleep(0.02)
    process.kill()
    process.wait()
    while members(process.pid):
        assert time.monotonic() < until
        time.sleep(0.02)


def members(session: int) -> list[int]:
    """The processes of a session that have not ended."""
    processes = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            processes.append(int(stat.parent.name))
    return processes


def test_a_chunk_whose_process_dies_is_tried_again_once(parse: Any, text: Path) -> None:
    mark = Path("died").absolute()
    before = text.read_text(encoding="utf-8")
    text.write_text(before + f"DIE-ONCE={mark} .\n", encoding="utf-8")
    summary = parse([text], Path("out"), engine=None, processes=2)
    assert mark.exists()
    assert summary.errors == 0
    parse([text], Path("whole"))
    assert files(Path("out")) == files(Path("whole"))


def test_a_chunk_that_kills_its_process_is_recorded_and_the_rest_is_parsed(
    parse: Any, text: Path
) -> None:
    parts = [paragraphs(6), "DIE now .\n\n", paragraphs(50)]
    text.write_text("".join(parts), encoding="utf-8")
    summary = parse([text], Path("out"), engine=None, processes=2)
    assert summary.errors == 1
    (error,) = map(json.loads, Path("out/errors.jsonl").read_text(encoding="utf-8").splitlines())
    assert error == {
        "reason": "part-00001 is missing: the process that parsed it ended with 7, 2 times",
        "file": "text.txt", "line": 10, "document": "text.txt",
    }  # fmt: skip
    assert not Path("out/part-00001.conllu").exists()
    assert Path("out/part-00002.conllu").exists()
    manifest = json.loads(Path("out/manifest.json").read_bytes())
    assert manifest["parts"][1]["name"] is None
    assert manifest["shards"] == len(manifest["parts"]) - 1


def broken_load(model: str, threads: int) -> Any:
    raise HeadspanError("the model is broken")


def dying_load(model: str, threads: int) -> Any:
    os._exit(3)


def test_a_model_that_cannot_be_loaded_stops_the_run(parse: Any, text: Path) -> None:
    with pytest.raises(HeadspanError, match="the model is broken"):
        parse([text], Path("out"), engine=None, processes=1, load=broken_load)
    with pytest.raises(
        HeadspanError, match="a process ended with 3 while it loaded the model, 3 times in a row"
    ):
        parse([text], Path("out"), engine=None, processes=1, load=dying_load)


def load_killed_once(model: str, threads: int) -> Any:
    with suppress(FileExistsError):
        Path("killed").mkdir()
        os.kill(os.getpid(), signal.SIGKILL)
    return load(model, threads)


def test_a_process_that_is_killed_while_it_loads_the_model_is_replaced(
    parse: Any, text: Path
) -> None:
    parse([text], Path("whole"))
    parse([text], Path("out"), engine=None, processes=2, load=load_killed_once)
    assert Path("killed").exists()
    assert files(Path("out")) == files(Path("whole"))


def test_a_folder_that_is_gone_stops_the_run(parse: Any, text: Path) -> None:
    def remove(_: Any) -> None:
        for path in Path("out").glob("*"):
            path.unlink()
        Path("out").rmdir()

    with pytest.raises((HeadspanError, OSError)):
        parse([text], Path("out"), engine=None, processes=1, watch=remove)


@pytest.mark.parametrize(
    ("cpu", "memory", "used", "expected"),
    [
        ("max 100000", "max", 0, ProcessPlan(8, 1)),
        ("250000 100000", "max", 0, ProcessPlan(3, 1)),
        ("max 100000", 4 << 30, 0, ProcessPlan(2, 4)),
        ("max 100000", 1 << 20, 0, ProcessPlan(1, 8)),
        ("max 100000", 32 << 30, 28 << 30, ProcessPlan(2, 1)),
    ],
)
def test_processes_and_threads_suit_the_machine(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cpu: str,
    memory: object,
    used: int,
    expected: ProcessPlan,
) -> None:
    (tmp_path / "cpu.max").write_text(cpu, encoding="ascii")
    (tmp_path / "memory.max").write_text(str(memory), encoding="ascii")
    (tmp_path / "memory.current").write_text(str(used), encoding="ascii")
    meminfo = "MemTotal: 99999999 kB\nMemAvailable: 88888888 kB\n"
    (tmp_path / "meminfo").write_text(meminfo, encoding="ascii")
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    monkeypatch.setattr(machine, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8))
    assert plan_processes() == expected
    assert plan_processes(3) == ProcessPlan(3, expected.threads)
