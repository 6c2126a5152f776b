"""What lies in the folder of an experiment, and of each of its runs."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from headspan.config import Config, from_table, to_table, upgraded
from headspan.experiments.plan import PARTS, Plan, Run, plan_table, runs_from_table
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import open_output, unreadable

# as headspan.training names them; spelled out so that watching a training needs no torch
CHECKPOINT, MODEL, LOG = "checkpoint.safetensors", "model", "log.jsonl"
PLAN, RECORD, OUTPUT, TEST = "plan.json", "run.json", "train.log", "test.conllu.xz"
_LOCK = ".lock"
_ENTRY = ("epoch", "dev_uas", "dev_las", "seconds")  # of the log

State = Literal["waiting", "running", "stopped", "failed", "finished"]


@dataclass(frozen=True)
class Record:
    """What is known of a run: how it ended last, and with which configuration it was begun."""

    state: State = "waiting"
    error: str = ""
    """The one line that says why it failed."""
    seconds: float = 0.0
    config: dict[str, Any] | None = None


def write_json(path: Path, value: Any) -> None:
    """Put a JSON file in place, whole."""
    with open_output(path) as stream:
        stream.write(json.dumps(value, ensure_ascii=False, indent=2).encode() + b"\n")


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, RecursionError) as error:
        raise HeadspanError(f"{path}: is not JSON: {error}") from error


def write_plan(folder: Path, plan: Plan, runs: list[Run]) -> None:
    """Leave the plan in the folder, so that the report needs nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    table = {"name": plan.name, "data": plan.data, "runs": plan_table(runs)}
    write_json(folder / PLAN, table)


def read_folder(folder: Path, *, data: str | None = None) -> tuple[str, list[Run]]:
    """The name and the runs of an experiment that was begun in this folder.

    data: where the treebanks are now, if not where they were.
    """
    path = folder / PLAN
    if not path.exists():
        raise HeadspanError(f"{folder}: has no {PLAN}; expected a folder of `experiment run`")
    table = _read_json(path)
    if not isinstance(table, dict) or not isinstance(table.get("data"), str):
        raise HeadspanError(f"{path}: is not the plan of an experiment")
    runs = runs_from_table(table.get("runs"), str(path))
    if data is not None:
        runs = [_moved(run, table["data"], data) for run in runs]
    return str(table.get("name")), runs


def _moved(run: Run, old: str, new: str) -> Run:
    parts = {
        key: new + value.removeprefix(old)
        for key, value in run.settings.items()
        if key.startswith("data.") and value.startswith(old)
    }
    return replace(run, settings={**run.settings, **parts})


def read_record(folder: Path) -> Record:
    """How the run in this folder stands; `waiting` if there is none."""
    path = folder / RECORD
    if not path.exists():
        return Record()
    try:
        record = Record(**_read_json(path))
    except TypeError as error:
        raise HeadspanError(f"{path}: is not the record of a run") from error
    kinds = {"error": str, "seconds": int | float, "config": dict | None}
    wrong = [key for key, kind in kinds.items() if not isinstance(getattr(record, key), kind)]
    if wrong or record.state not in get_args(State):
        raise HeadspanError(f"{path}: {', '.join(wrong) or 'state'} is not what a record has")
    return record


def write_record(folder: Path, record: Record) -> None:
    """Note how a run stands."""
    write_json(folder / RECORD, vars(record))


def config_table(run: Run) -> dict[str, Any]:
    """The whole configuration of a run, as JSON keeps it."""
    table: dict[str, Any] = json.loads(json.dumps(to_table(run.config())))
    return table


def changed(folder: Path, record: Record, run: Run) -> list[str]:
    """The settings in which a run that was begun differs from what is now wanted of it."""
    if record.config is None:
        return [f"{RECORD} does not say which"]
    # keys that did not exist when it was begun have their defaults
    old = json.loads(
        json.dumps(to_table(from_table(Config, upgraded(record.config), str(folder / RECORD))))
    )
    new = config_table(run)
    for table in (old, new):  # a file that is named in another way is the same file
        table["data"] |= {part: str(Path(table["data"][part]).resolve()) for part in PARTS}
    return [f"{key} was {a!r} and is {b!r}" for key, a, b in differences(old, new)]


def differences(
    one: dict[str, Any], other: dict[str, Any], prefix: str = ""
) -> list[tuple[str, Any, Any]]:
    """The dotted keys in which two configurations differ, with both values."""
    found: list[tuple[str, Any, Any]] = []
    for key in sorted(one.keys() | other.keys()):
        a, b = one.get(key), other.get(key)
        if isinstance(a, dict) and isinstance(b, dict):
            found += differences(a, b, f"{prefix}{key}.")
        elif a != b:
            found.append((f"{prefix}{key}", a, b))
    return found


def read_log(folder: Path) -> list[dict[str, Any]]:
    """What the training wrote after each epoch; of an epoch that is there twice, the later.

    A line that is not whole, because it is being written or was damaged, is not counted.
    """
    try:
        lines = (folder / LOG).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    epochs: dict[int, dict[str, Any]] = {}
    for line in lines:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        numbers = entry if isinstance(entry, dict) else {}
        if all(isinstance(numbers.get(key), int | float) for key in _ENTRY):
            epochs[entry["epoch"]] = entry
    return list(epochs.values())


def best_epoch(log: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The epoch whose model was kept: of equals the later."""
    return max(log, key=lambda entry: (entry["dev_las"], entry["epoch"]), default=None)


def last_line(folder: Path) -> str:
    """The last line that the training printed."""
    try:
        with (folder / OUTPUT).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 4096))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


@contextmanager
def locked(folder: Path) -> Iterator[int | None]:
    """Hold a run for ourselves; None if somebody else does.

    A training that inherits the lock's descriptor holds it too: if the runner is killed, nobody
    starts the same training a second time while the first is at work.
    """
    with (folder / _LOCK).open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield None
            return
        yield file.fileno()
