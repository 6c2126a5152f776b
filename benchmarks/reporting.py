"""Shared by all benchmarks: options, timing in turns, tables, figures, and results as JSON."""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("HEADSPAN_SHARED", ROOT.parent / "shared"))


def arguments(description: str | None, *, repeats: int) -> argparse.ArgumentParser:
    """A parser with the options of every benchmark; its description is a docstring's first line."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results here")
    parser.add_argument(
        "--repeats",
        type=int,
        default=repeats,
        metavar="N",
        help="runs of each candidate",
    )
    return parser


def needed(path: Path) -> Path:
    """Return a path that the benchmark needs; exit with a message if it does not exist."""
    if not path.exists():
        sys.exit(f"{path}: does not exist; give another path, or set HEADSPAN_SHARED")
    return path


def in_turns(
    candidates: Mapping[str, Callable[[], Any]], repeats: int, *, at_a_time: int = 1
) -> dict[str, list[float]]:
    """Seconds of each run of each candidate, `repeats` times or a few more.

    Candidates take turns, so that a noisy minute affects them all. Each runs `at_a_time` times per
    turn, so that most runs find their data in the caches.
    """
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(-(-repeats // at_a_time)):
        for name, run in candidates.items():
            for _ in range(at_a_time):
                start = time.perf_counter()
                run()
                seconds[name].append(time.perf_counter() - start)
    return seconds


def medians(candidates: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Median seconds of each candidate, in turns, warmed up: for runs of microseconds."""
    for run in candidates.values():
        run()
    seconds = in_turns(candidates, repeats, at_a_time=min(5, repeats))
    return {name: median(values) for name, values in seconds.items()}


def ratio(slow: Sequence[float], fast: Sequence[float]) -> float:
    """The ratio of slow to fast, as the median over the turns."""
    return median(a / b for a, b in zip(slow, fast, strict=True))


def machine() -> dict[str, str]:
    """The processor and the versions that results were measured with."""
    model = platform.processor()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    about = {"processor": model, "python": platform.python_version()}
    for package in ("numpy", "numba", "torch", "conllu"):
        try:
            about[package] = version(package)
        except PackageNotFoundError:
            continue
    return about


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table with aligned columns."""
    cells = [list(header)] + [[_cell(value) for value in row] for row in rows]
    widths = [max(len(row[c]) for row in cells) for c in range(len(header))]
    print(f"\n{title}")
    for row in cells:
        padded = (value.rjust(width) for value, width in zip(row, widths, strict=True))
        print("  " + "  ".join(padded))


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def write_json(path: Path | None, results: Mapping[str, Any]) -> None:
    """Write the results and the machine they were measured on, if a path was given."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"machine": machine(), **results}, indent=2)
        path.write_text(text + "\n", encoding="utf-8")
        print(f"\nwrote {path}")


def pyplot() -> Any:
    """matplotlib's pyplot, which draws to files only; SVG of equal figures has equal bytes."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "headspan"
    from matplotlib import pyplot

    return pyplot


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure, without the date."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    print(f"wrote {path}")
