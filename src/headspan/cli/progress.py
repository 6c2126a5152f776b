"""The progress of an experiment: a live table in a terminal, lines in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from headspan.experiments.runner import RunProcess

_SECONDS = 2.0  # between updates of the table, if nothing has changed
_STYLES = {"finished": "green", "running": "cyan", "failed": "red", "stopped": "yellow"}


class Watch:
    """A live table in a terminal; otherwise a line whenever the state of a run changes."""

    def __init__(self) -> None:
        self.console = Console(file=sys.stderr, highlight=False)
        self.live = Live(console=self.console, auto_refresh=False)
        self.printed: dict[str, str] = {}
        self.states: Sequence[str] = []
        self.drawn = 0.0

    def __enter__(self) -> Watch:
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.console.is_terminal:
            self.live.stop()

    def __call__(self, jobs: Sequence[RunProcess]) -> None:
        if self.console.is_terminal:
            states = [job.record.state for job in jobs]
            if states != self.states or time.monotonic() - self.drawn > _SECONDS:
                self.states, self.drawn = states, time.monotonic()
                self.live.update(progress(jobs), refresh=True)
            return
        for job in jobs:
            line = _line(job)
            if line not in ("waiting", self.printed.get(job.run.name)):
                print(f"{job.run.name}: {line}", file=sys.stderr, flush=True)
                self.printed[job.run.name] = line


def _line(job: RunProcess) -> str:
    """The state of a run in one line."""
    from headspan.experiments.run_folder import best_epoch, read_log

    if job.elsewhere:
        return "running elsewhere"
    if job.record.error:
        return f"{job.record.state}: {job.record.error}"
    log = read_log(job.folder) if job.record.state != "waiting" else []
    best = best_epoch(log)
    if best is None:
        return job.record.state
    return f"{job.record.state}, epoch {len(log)}, best dev LAS {best['dev_las']:.2f}"


def progress(jobs: Sequence[RunProcess]) -> Table:
    """A table with one row per run."""
    from headspan.experiments.run_folder import best_epoch, read_log

    table = Table(box=None, pad_edge=False)
    table.add_column("run")
    table.add_column("state")
    for name in ("epoch", "best dev LAS", "minutes"):
        table.add_column(name, justify="right")
    table.add_column("")
    for job in jobs:
        log = read_log(job.folder)
        best = best_epoch(log)
        state = "elsewhere" if job.elsewhere else job.record.state
        seconds = job.record.seconds or (log[-1]["seconds"] if log else 0)
        table.add_row(
            job.run.name,
            f"[{_STYLES.get(state, 'dim')}]{state}[/]",
            _epochs(job, len(log)),
            f"{best['dev_las']:.2f}" if best else "",
            f"{seconds / 60:.0f}" if seconds else "",
            escape(job.record.error[:60]),
        )
    return table


def _epochs(job: RunProcess, done: int) -> str:
    """The number of finished epochs and, if known, of all epochs."""
    if not done:
        return ""
    training = (job.record.config or {}).get("training", {})
    return f"{done}/{training['epochs']}" if "epochs" in training else str(done)
