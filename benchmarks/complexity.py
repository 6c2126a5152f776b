"""Time against sentence length for all exact algorithms, with fitted exponents.

    python benchmarks/complexity.py [--json FILE] [--plot FILE]

The classics are the plain loops of tests/inference/classics.py, compiled by Numba as they are, and
compared with headspan's kernels. log(time) = exponent * log(n) + constant is fitted over the longer
half of the lengths; shorter ones are dominated by the fixed cost of a call.
"""

import importlib.util
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from headspan.inference import arc, headed_span, joint
from reporting import arguments, medians, pyplot, save_figure, table, write_json

LENGTHS = {
    "Collins": [12, 16, 24, 32, 48, 64],
    "Eisner-Satta": [16, 24, 32, 48, 64, 96],
    "head-split": [16, 24, 32, 48, 64, 96],
    "Eisner": [24, 32, 48, 64, 96, 128, 192, 256],
    "headed spans": [24, 32, 48, 64, 96, 128, 192, 256],
    "headspan joint": [24, 32, 48, 64, 96, 128],
    "headspan Eisner": [24, 32, 48, 64, 96, 128, 192, 256],
    "headspan spans": [24, 32, 48, 64, 96, 128, 192, 256],
}
THEORY = {
    "Collins": 5,
    "Eisner-Satta": 4,
    "head-split": 4,
    "Eisner": 3,
    "headed spans": 3,
    "headspan joint": 4,
    "headspan Eisner": 3,
    "headspan spans": 3,
}


def _classics() -> Any:
    path = Path(__file__).parent.parent / "tests" / "inference" / "classics.py"
    spec = importlib.util.spec_from_file_location("classics", path)
    if spec is None or spec.loader is None:
        sys.exit(f"{path} is missing")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measure(repeat: int) -> dict[str, dict[int, float]]:
    """Median seconds by algorithm and length."""
    classics = _classics()
    compiled = {
        "Collins": njit(classics.collins),
        "Eisner-Satta": njit(classics.eisner_satta),
        "head-split": njit(classics.head_split),
        "Eisner": njit(classics.eisner),
        "headed spans": njit(classics.headed_spans),
    }
    times: dict[str, dict[int, float]] = {name: {} for name in LENGTHS}
    for n in sorted({n for lengths in LENGTHS.values() for n in lengths}):
        rng = np.random.default_rng(n)
        matrix = rng.standard_normal((n + 1, n + 1))
        span_scores = rng.standard_normal((n + 1, n + 1, n + 1))
        candidates = {}
        for name, lengths in LENGTHS.items():
            if n not in lengths:
                continue
            if name == "headspan spans":
                candidates[name] = partial(headed_span.best_tree, span_scores, threads=1)
            elif name == "headspan Eisner":
                candidates[name] = partial(arc.best_tree, matrix, threads=1)
            elif name == "headspan joint":
                candidates[name] = partial(joint.best_tree, span_scores, matrix, threads=1)
            else:
                scores = span_scores if name == "headed spans" else matrix
                candidates[name] = partial(compiled[name], scores)
        for name, seconds in medians(candidates, repeat).items():
            times[name][n] = seconds
    return times


def fit(times: dict[int, float]) -> tuple[float, float]:
    """(exponent, constant), fitted to the longer half of the lengths."""
    n = sorted(times)[len(times) // 2 - 1 :]
    exponent, constant = np.polyfit(np.log(n), np.log([times[x] for x in n]), 1)
    return float(exponent), float(constant)


def plot(path: Path, times: dict[str, dict[int, float]]) -> None:
    """Plot times and fitted lines on logarithmic axes."""
    figure, axes = pyplot().subplots(figsize=(7, 5))
    for number, (name, measured) in enumerate(times.items()):
        n = np.array(sorted(measured))
        exponent, constant = fit(measured)
        marker = "s" if name.startswith("headspan") else "o"
        colour = f"C{number}"
        label = f"{name}: n^{exponent:.2f}"
        values = [1e3 * measured[x] for x in n]
        axes.loglog(n, values, marker, color=colour, label=label)
        axes.loglog(n, 1e3 * np.exp(constant) * n**exponent, color=colour, lw=1, alpha=0.6)
    ticks = [16, 32, 64, 128, 256]
    axes.set_xticks(ticks, [str(x) for x in ticks])
    axes.minorticks_off()
    axes.set_xlabel("words")
    axes.set_ylabel("milliseconds per sentence, one thread")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    figure.tight_layout()
    save_figure(figure, path)


def main() -> None:
    parser = arguments(__doc__, repeats=7)
    parser.add_argument("--plot", type=Path, help="plot time against length to this file")
    options = parser.parse_args()
    times = measure(options.repeats)
    rows = []
    for name, measured in times.items():
        longest = max(measured)
        rows.append([name, THEORY[name], fit(measured)[0], longest, 1e3 * measured[longest]])
    table("Fitted exponents", ["algorithm", "theory", "fitted", "longest n", "ms there"], rows)
    if options.plot:
        plot(options.plot, times)
    results = {
        name: {"exponent": fit(t)[0], "seconds": {str(n): s for n, s in t.items()}}
        for name, t in times.items()
    }
    write_json(options.json, {"algorithms": results})


if __name__ == "__main__":
    main()
