"""Running the trainings of a plan: several at a time, each in its own process and folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from headspan.experiments.plan import Run
from headspan.experiments.run_folder import (
    CHECKPOINT,
    MODEL,
    OUTPUT,
    TEST,
    Record,
    changed,
    config_table,
    last_line,
    locked,
    read_log,
    read_record,
    write_record,
)
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.machine import exit_reason, usable_cores

_PAUSE = 0.2  # seconds between checks of the trainings
_GRACE = 120.0  # seconds that a training has to write its checkpoint

COMMAND = (sys.executable, "-m", "headspan")


@dataclass
class RunProcess:
    """A run, its record and, while it is running, its process."""

    run: Run
    folder: Path
    record: Record
    elsewhere: bool = False
    """Whether another runner holds it."""
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    opened: ExitStack = field(default_factory=ExitStack)


Watch: TypeAlias = Callable[[Sequence[RunProcess]], None]
"""A function that is called with all runs from time to time."""


def run_all(
    runs: Sequence[Run],
    folder: Path,
    *,
    workers: int = 1,
    watch: Watch | None = None,
    command: Sequence[str] = COMMAND,
) -> list[RunProcess]:
    """Run all trainings to their end, `workers` at a time; return them with their final states.

    Finished runs are left alone, interrupted ones resume from their checkpoint, and a run that
    fails is recorded and does not stop the rest. When this process is interrupted, the trainings
    are asked to stop, and write a checkpoint. command: the command that runs `train` and `parse`.
    """
    if workers < 1:
        raise HeadspanError(f"{workers} workers; expected at least one")
    jobs = [RunProcess(run, folder / run.name, read_record(folder / run.name)) for run in runs]
    waiting = [job for job in jobs if not _other_settings(job) and job.record.state != "finished"]
    running: list[RunProcess] = []
    environment = _environment(workers)
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                job = waiting.pop(0)
                if _start(job, command, environment):
                    running.append(job)
            if watch:
                watch(jobs)
            time.sleep(_PAUSE if running else 0)
            running = [job for job in running if not _ended(job)]
    except BaseException:
        _stop([job for job in jobs if job.process])
        raise
    finally:
        if watch:
            watch(jobs)
    return jobs


def _other_settings(job: RunProcess) -> bool:
    """Return whether a run was started with other settings than those of the plan: an error.

    Its record on disk is left as it is, since the plan may change back.
    """
    started = job.record.state == "finished" or (job.folder / CHECKPOINT).exists()
    differ = changed(job.folder, job.record, job.run) if started else []
    if differ:
        error = (
            f"was started with other settings: {'; '.join(differ)}; "
            f"expected the same settings, another folder, or {job.folder} removed"
        )
        job.record = replace(job.record, state="failed", error=error)
    return bool(differ)


def _environment(workers: int) -> dict[str, str]:
    """Share the cores among the workers, unless the user has set the number of threads."""
    threads = max(1, usable_cores() // workers)
    return {"OMP_NUM_THREADS": str(threads), **os.environ}


def _start(job: RunProcess, command: Sequence[str], environment: dict[str, str]) -> bool:
    """Start or resume a training; False if there is nothing to wait for."""
    job.folder.mkdir(parents=True, exist_ok=True)
    lock = job.opened.enter_context(locked(job.folder))
    job.record = read_record(job.folder)  # another runner may have changed it since
    job.elsewhere = lock is None
    if lock is None or _other_settings(job) or job.record.state == "finished":
        job.opened.close()
        return False
    files = [job.run.settings[f"data.{part}"] for part in ("train", "dev")]
    if missing := [file for file in files if not Path(file).exists()]:
        error = f"there is no {' and no '.join(missing)}"
        job.record = replace(job.record, state="failed", error=error)
        write_record(job.folder, job.record)
        job.opened.close()
        return False
    (job.folder / TEST).unlink(missing_ok=True)  # the model is about to change
    job.record = replace(job.record, state="running", error="", config=config_table(job.run))
    write_record(job.folder, job.record)
    arguments = ["train", job.run.base, "-o", str(job.folder)]
    if (job.folder / CHECKPOINT).exists():
        arguments.append("--resume")
    arguments += [f"--{key}={value}" for key, value in job.run.settings.items()]
    output = job.opened.enter_context((job.folder / OUTPUT).open("ab"))
    job.started = time.monotonic()
    # in a session of its own, so that Ctrl-C reaches it once, through us
    job.process = subprocess.Popen(  # noqa: S603 (our own command)
        [*command, *arguments], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        env=environment, start_new_session=True, pass_fds=[lock],
    )  # fmt: skip
    return True


def _ended(job: RunProcess) -> bool:
    """Return whether the training is over; if so, record how it ended."""
    assert job.process  # noqa: S101 (it is running)
    code = job.process.poll()
    if code is None:
        return False
    state: Any = "finished" if code == 0 else "failed"
    _record(job, state, "" if code == 0 else why_failed(job.folder, code))
    return True


def why_failed(folder: Path, code: int) -> str:
    """The reason why a process failed, in one line."""
    printed = last_line(folder).removeprefix("headspan: ") if code > 0 else ""
    return printed or exit_reason(code)


def _record(job: RunProcess, state: Any, error: str) -> None:
    # if a runner was killed, its seconds are only in the training's own log
    logged = max((entry["seconds"] for entry in read_log(job.folder)), default=0.0)
    seconds = max(logged, job.record.seconds + time.monotonic() - job.started)
    job.record = replace(job.record, state=state, error=error, seconds=seconds)
    write_record(job.folder, job.record)
    job.process = None
    job.opened.close()


def _stop(running: Sequence[RunProcess]) -> None:
    """Ask the trainings to stop, and wait for them; a second interruption kills them."""
    processes = [job.process for job in running if job.process]
    for process in processes:
        process.send_signal(signal.SIGTERM)
    try:
        until = time.monotonic() + _GRACE
        for process in processes:
            process.wait(timeout=max(0.0, until - time.monotonic()))
    except BaseException:  # noqa: S110 (interrupted again, or too slow)
        pass
    for job in running:
        if job.process is None:
            continue
        if (code := job.process.poll()) is None:
            job.process.kill()
            job.process.wait()
        _record(job, "finished" if code == 0 else "stopped", "")


def parse_test(run: Run, folder: Path, *, command: Sequence[str] = COMMAND) -> Path | None:
    """Parse the test treebank with a finished run, once; return None if there is no treebank.

    Tags that the model predicts are predicted, as when dev is scored.
    """
    test = Path(run.settings["data.test"])
    target = folder / TEST
    if target.exists():
        return target
    if not test.exists():
        return None
    arguments = ["parse", str(test), "--model", str(folder / MODEL), "-o", str(target), "--retag"]
    with (folder / OUTPUT).open("ab") as output:
        code = subprocess.run(  # noqa: S603 (our own command)
            [*command, *arguments], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            check=False,
        ).returncode  # fmt: skip
    if code:
        raise HeadspanError(f"{run.name}: cannot parse {test}: {why_failed(folder, code)}")
    return target
