"""Calibration of a model's confidences on a treebank: a reliability table and a plot.

    python benchmarks/calibration.py MODEL TREEBANK [--plot FILE.svg] [--json FILE]

Every predicted arc has a confidence; of the arcs with confidence c, a share of c should be right,
head and relation. The same holds for heads, and for the relations of right heads. The expected
calibration error is the mean distance between the two over ten equal bins of confidence, weighted
by the number of arcs. The plot needs matplotlib (extra `plot`).
"""

from __future__ import annotations

from pathlib import Path

from headspan import Parser, conllu
from headspan.training.calibration import expected_calibration_error, judged, reliability
from reporting import arguments, needed, pyplot, save_figure, table, write_json

COLOURS = {"arcs": "#0072b2", "heads": "#d55e00"}


def plot(tables: dict[str, list[tuple[int, float, float]]], path: Path) -> None:
    figure, (top, bottom) = pyplot().subplots(
        2, 1, figsize=(4.5, 5.5), sharex=True, height_ratios=(3, 1), layout="constrained"
    )
    top.plot([0, 1], [0, 1], color="0.6", linewidth=1, linestyle="--", label="perfect")
    for name, colour in COLOURS.items():
        mean, share = [row[1] for row in tables[name]], [row[2] for row in tables[name]]
        top.plot(mean, share, color=colour, marker="o", markersize=4, label=name)
    top.set_ylabel("share that is right")
    top.legend(frameon=False)
    arcs = tables["arcs"]
    bottom.bar([row[1] for row in arcs], [row[0] for row in arcs], width=0.06, color="#0072b2")
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
    kinds = judged(Parser.load(options.model), sentences)
    tables = {name: reliability(*of) for name, of in kinds.items()}
    errors = {name: expected_calibration_error(*of) for name, of in kinds.items()}
    for name, of in kinds.items():
        title = f"{len(of.right):,} {name}, {of.right.mean():.2%} right"
        table(title, [name, "confidence", "right"], tables[name])
        print(f"\nexpected calibration error of {name}: {errors[name]:.2%}\n")
    if options.plot:
        plot(tables, options.plot)
    write_json(options.json, {"rows": tables, "expected calibration errors": errors})


if __name__ == "__main__":
    main()
