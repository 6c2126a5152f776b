"""Timing, tables and files for the benchmarks."""

import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def medians(candidates: dict[str, Callable[[], Any]], repeat: int) -> dict[str, float]:
    """Median seconds of each candidate over `repeat` runs.

    They take turns, so that a noisy minute hits them all, and run five times a turn, so that the
    median is one with its data where the run before has left them.
    """
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for run in candidates.values():
        run()
    for _ in range(-(-repeat // 5)):
        for name, run in candidates.items():
            for _ in range(min(5, repeat)):
                start = time.perf_counter()
                run()
                times[name].append(time.perf_counter() - start)
    return {name: float(np.median(values)) for name, values in times.items()}


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    import numba
    import torch

    model = platform.processor()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return {
        "processor": model,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "torch": torch.__version__,
    }


def table(title: str, header: list[str], rows: list[list[Any]]) -> None:
    """Print a table with aligned columns."""
    cells = [header] + [[_cell(value) for value in row] for row in rows]
    widths = [max(len(row[c]) for row in cells) for c in range(len(header))]
    print(f"\n{title}")
    for row in cells:
        print(
            "  " + "  ".join(value.rjust(width) for value, width in zip(row, widths, strict=True))
        )


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
    return str(value)


def write_json(path: Path | None, results: dict[str, Any]) -> None:
    """Write what was printed, and on which machine, if a path was given."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"machine": machine(), **results}, indent=2) + "\n")
        print(f"\nwrote {path}")
