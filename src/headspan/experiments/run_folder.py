"""The files in the folder of an experiment, and in the folders of its runs."""

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

# the names in headspan.training; repeated so that watching a training does not import torch
CHECKPOINT, MODEL, LOG = "checkpoint.safetensors", "model", "log.jsonl"
PLAN, RECORD, OUTPUT, TEST = "plan.json", "run.json", "train.log", "test.conllu.xz"
_LOCK = ".lock"
_ENTRY = ("epoch", "dev_uas", "dev_las", "seconds")  # the numbers in every log entry

State = Literal["waiting", "running", "stopped", "failed", "finished"]


@dataclass(frozen=True)
class Record:
    """The record of a run: its state, and the configuration with which it was started."""

    state: State = "waiting"
    error: str = ""
    """The reason why it failed, in one line."""
    seconds: float = 0.0
    config: dict[str, Any] | None = None


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file atomically."""
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
    """Save the plan in the folder, so that the report needs nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    table = {"name": plan.name, "data": plan.data, "runs": plan_table(runs)}
    write_json(folder / PLAN, table)


def read_folder(folder: Path, *, data: str | None = None) -> tuple[str, list[Run]]:
    """The name and the runs of the experiment in this folder.

    data: the folder of the treebanks now, if they have moved.
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
    """Read the record of the run in this folder; `waiting` if there is none."""
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
        raise HeadspanError(f"{path}: {', '.join(wrong) or 'state'} is not valid in a record")
    return record


def write_record(folder: Path, record: Record) -> None:
    """Write the record of a run."""
    write_json(folder / RECORD, vars(record))


def config_table(run: Run) -> dict[str, Any]:
    """The complete configuration of a run, as JSON represents it."""
    table: dict[str, Any] = json.loads(json.dumps(to_table(run.config())))
    return table


def changed(folder: Path, record: Record, run: Run) -> list[str]:
    """The settings in which a run that was started differs from the current plan."""
    if record.config is None:
        return [f"{RECORD} does not have them"]
    # keys that did not exist when the run was started have their defaults
    old = json.loads(
        json.dumps(to_table(from_table(Config, upgraded(record.config), str(folder / RECORD))))
    )
    new = config_table(run)
    for table in (old, new):  # two paths of one file are equal
        table["data"] |= {part: str(Path(table["data"][part]).resolve()) for part in PARTS}
    return [f"{key} was {a!r} and is {b!r}" for key, a, b in differences(old, new)]


def differences(
    one: dict[str, Any], other: dict[str, Any], prefix: str = ""
) -> list[tuple[str, Any, Any]]:
    """The dotted keys in which two configurations differ, with both values."""
    result: list[tuple[str, Any, Any]] = []
    for key in sorted(one.keys() | other.keys()):
        a, b = one.get(key), other.get(key)
        if isinstance(a, dict) and isinstance(b, dict):
            result += differences(a, b, f"{prefix}{key}.")
        elif a != b:
            result.append((f"{prefix}{key}", a, b))
    return result


def read_log(folder: Path) -> list[dict[str, Any]]:
    """The log entries of the epochs; of an epoch that occurs twice, the later entry.

    Incomplete lines, which are being written or were damaged, are left out.
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
    """The epoch with the best dev LAS, whose model was kept; of equals, the later."""
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
    """Lock a run, and yield the lock's descriptor; None if another process holds the lock.

    A training that inherits the descriptor holds the lock, too: if the runner is killed, nobody
    can start the same training again while the first still runs.
    """
    with (folder / _LOCK).open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield None
            return
        yield file.fileno()
