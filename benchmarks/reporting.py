"""What all benchmarks share: options, timing in turns, a table, and the same figures as JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("HEADSPAN_SHARED", ROOT.parent / "shared"))


def needed(path: Path) -> Path:
    """A file that the benchmark cannot do without; says so where it is not there."""
    if not path.exists():
        sys.exit(f"{path}: is not there; give another file, or set HEADSPAN_SHARED")
    return path


def arguments(description: str | None) -> argparse.ArgumentParser:
    """A parser with the options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the printed figures there")
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="timings of each thing")
    return parser


def timed_in_turns(
    things: Mapping[str, Callable[[], object]], repeats: int
) -> dict[str, list[float]]:
    """Seconds of each thing, `repeats` times. They take turns, so that noise meets all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in things}
    for _ in range(repeats):
        for name, thing in things.items():
            start = time.perf_counter()
            thing()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def ratio(slow: Sequence[float], fast: Sequence[float]) -> float:
    """How many times slower: the median over the turns."""
    return median(a / b for a, b in zip(slow, fast, strict=True))


def report(title: str, rows: Sequence[Mapping[str, Any]], target: Path | None, **more: Any) -> None:
    """Print the rows as a table, and write them with the rest as JSON if asked to."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in rows[0]:
        table.add_column(name, justify="left" if isinstance(rows[0][name], str) else "right")
    for row in rows:
        table.add_row(*(f"{v:,.4g}" if isinstance(v, float) else f"{v}" for v in row.values()))
    console = Console(soft_wrap=True)
    console.print(table)
    for name, value in more.items():
        console.print(f"{name}: {value:.2f}" if isinstance(value, float) else f"{name}: {value}")
    if target:
        machine = {"python": platform.python_version(), "machine": platform.machine()}
        data = {"title": title, "rows": list(rows), **more, "run on": machine}
        target.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
