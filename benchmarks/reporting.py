"""What all benchmarks share: options, timing in turns, tables, and the same figures as JSON."""

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
    """A parser with the options that every benchmark has; the description is a docstring."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the printed figures here")
    parser.add_argument(
        "--repeats", type=int, default=repeats, metavar="N", help="how often each thing is timed"
    )
    return parser


def needed(path: Path) -> Path:
    """A file that the benchmark cannot do without; says so where it is not there."""
    if not path.exists():
        sys.exit(f"{path}: is not there; give another file, or set HEADSPAN_SHARED")
    return path


def in_turns(
    candidates: Mapping[str, Callable[[], Any]], repeats: int, *, at_a_time: int = 1
) -> dict[str, list[float]]:
    """Seconds of each candidate, `repeats` times or a few more.

    They take turns, so that a noisy minute hits them all. With `at_a_time` each runs so many times
    a turn, so that most runs have their data where the run before has left them.
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
    """Median seconds of each candidate, in turns, warm: for things that take microseconds."""
    for run in candidates.values():
        run()
    found = in_turns(candidates, repeats, at_a_time=min(5, repeats))
    return {name: median(values) for name, values in found.items()}


def ratio(slow: Sequence[float], fast: Sequence[float]) -> float:
    """How many times slower: the median over the turns."""
    return median(a / b for a, b in zip(slow, fast, strict=True))


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    model = platform.processor()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    found = {"processor": model, "python": platform.python_version()}
    for package in ("numpy", "numba", "torch", "conllu"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


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
    """Write what was printed, and on which machine, if a path was given."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"machine": machine(), **results}, indent=2)
        path.write_text(text + "\n", encoding="utf-8")
        print(f"\nwrote {path}")
