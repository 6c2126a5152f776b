"""Calibration of a model's confidences on a treebank: a reliability table and a plot.

    python benchmarks/calibration.py MODEL TREEBANK [--plot FILE.svg] [--json FILE]

Every predicted arc has a confidence; of the arcs with confidence c, a share of c should be right.
The expected calibration error is the mean distance between the two over ten equal bins of
confidence, weighted by the number of arcs. The plot needs matplotlib (extra `plot`).
"""

from __future__ import annotations

from pathlib import Path

from headspan import Parser, conllu
from headspan.training.calibration import confidences, expected_calibration_error, reliability
from reporting import arguments, needed, pyplot, save_figure, table, write_json


def plot(rows: list[tuple[int, float, float]], error: float, path: Path) -> None:
    figure, (top, bottom) = pyplot().subplots(
        2, 1, figsize=(4.5, 5.5), sharex=True, height_ratios=(3, 1), layout="constrained"
    )
    mean, share = [row[1] for row in rows], [row[2] for row in rows]
    top.plot([0, 1], [0, 1], color="0.6", linewidth=1, linestyle="--", label="perfect")
    top.plot(mean, share, color="#0072b2", marker="o", label=f"model (error {error:.1%})")
    top.set_ylabel("share of arcs that are right")
    top.legend(frameon=False)
    bottom.bar(mean, [row[0] for row in rows], width=0.06, color="#0072b2")
    bottom.set_yscale("log")
    bottom.set_ylabel("arcs")
    bottom.set_xlabel("confidence")
    for axes in (top, bottom):
        axes.spines[["top", "right"]].set_visible(False)
    save_figure(figure, path)


def main() -> None:
    parser = arguments(__doc__, repeats=1)
    parser.add_argument("model")
    parser.add_argument("treebank", type=Path)
    parser.add_argument("--plot", type=Path, metavar="FILE", help="plot the table to this file")
    options = parser.parse_args()
    sentences = [s for s in conllu.read(needed(options.treebank)) if len(s)]
    predicted, right = confidences(Parser.load(options.model), sentences)
    rows, error = reliability(predicted, right), expected_calibration_error(predicted, right)
    table(f"{len(right):,} arcs, {right.mean():.2%} right", ["arcs", "confidence", "right"], rows)
    print(f"\nexpected calibration error: {error:.2%}")
    if options.plot:
        plot(rows, error, options.plot)
    write_json(options.json, {"rows": rows, "expected calibration error": error})


if __name__ == "__main__":
    main()
