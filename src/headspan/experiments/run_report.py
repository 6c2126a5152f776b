"""The report of an experiment: Markdown, LaTeX and JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from headspan.experiments.published import ENCODERS, UD_AVERAGE
from headspan.experiments.run_folder import write_json
from headspan.experiments.run_results import Cell, Mean, Pair, Results
from headspan.plumbing.files import open_output

_FIGURES = ("dev_uas", "dev_las", "test_uas", "test_las")
_METRICS = {"uas": "UAS", "las": "LAS"}


def write_report(results: Results, folder: Path) -> list[Path]:
    """Write report.md, report.tex and report.json, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"report.{kind}" for kind in ("md", "tex", "json")]
    for path, text in zip(paths[:2], (as_markdown(results), as_latex(results)), strict=True):
        with open_output(path) as stream:
            stream.write(text.encode())
    write_json(paths[2], as_json(results))
    return paths


def as_markdown(results: Results) -> str:
    """The report in Markdown."""
    finished = sum(result.record.state == "finished" for result in results.results)
    lines = [
        f"# {results.name}",
        "",
        f"{finished} of {len(results.results)} runs are finished. Scores are percentages, mean ± "
        "standard deviation over seeds; the model of each run is its best by dev LAS.",
    ]
    if results.cells:
        lines += ["", *_score_table(results), *_footnotes(results)]
    if results.pairs:
        lines += [
            "",
            "## Differences on test",
            "",
            "Second − first, over the seeds that both have: 95% interval from a paired bootstrap "
            "over sentences, p from approximate randomisation; all seeds of a sentence are drawn "
            "or exchanged together.",
            "",
            *_table(
                "treebank|first|second|seeds:|metric|difference:|95% interval:|p:",
                (_pair_row(pair, metric) for pair in results.pairs for metric in _METRICS),
            ),
        ]
    lines += ["", "## Runs", "", *_table(
        "run|state|epochs:|best epoch:|dev UAS:|dev LAS:|hours:",
        ([r.run.name, r.record.state, str(r.epochs), str(r.best_epoch or "–"),
          _percent(r.dev_uas), _percent(r.dev_las),
          f"{r.record.seconds / 3600:.2f}"] for r in results.results),
    )]  # fmt: skip
    failed = [r for r in results.results if r.record.state == "failed"]
    if failed or results.notes:
        lines += ["", "## Missing or not comparable", ""]
        lines += [f"- {r.run.name} failed: {r.record.error}" for r in failed]
        lines += [f"- {note}" for note in results.notes]
    if results.cells:
        lines += ["", "## Best models by dev LAS", ""]
        lines += [
            f"- {_system(cell)} on {cell.treebank}: `{cell.best.model}`, seed "
            f"{cell.best.run.seed}, epoch {cell.best.best_epoch}, dev LAS "
            f"{_percent(cell.best.dev_las)}"
            for cell in results.cells
        ]
    return "\n".join(lines) + "\n"


def _score_table(results: Results) -> list[str]:
    rows = [
        [cell.treebank, cell.structure, cell.loss, str(len(cell.results)),
         *(_shown(cell.mean(figure), " ± ") for figure in _FIGURES), *_paper(cell)]
        for cell in results.cells
    ]  # fmt: skip
    return _table(
        "treebank|structure|loss|seeds:|dev UAS:|dev LAS:|test UAS:|test LAS:"
        "|paper UAS:|paper LAS:",
        rows,
    )


def _footnotes(results: Results) -> list[str]:
    tables = sorted({cell.paper.table for cell in results.cells if cell.paper})
    corpora = {r.run.corpus for r in results.results} & ENCODERS.keys()
    lines: list[str] = []
    if tables:
        encoders = "; ".join(f"{corpus} with {ENCODERS[corpus]}" for corpus in sorted(corpora))
        lines += [
            "",
            f"The paper's figures are from its {_numbered('table', tables)}, for the same test "
            f"data: {encoders}. They are comparable only if the encoder is the same.",
        ]
    for structure, (ours, theirs) in averages(results).items():
        lines += [
            "",
            f"Mean test LAS of the twelve UD treebanks, {structure}: {ours:.2f} (paper, table 2: "
            f"{theirs:.2f}).",
        ]
    return lines


def averages(results: Results) -> dict[str, tuple[float, float]]:
    """The mean LAS over the paper's twelve treebanks by structure, ours and the paper's.

    A structure without results for all twelve is left out.
    """
    result: dict[str, tuple[float, float]] = {}
    for structure, theirs in UD_AVERAGE.items():
        means = [
            mean.mean
            for cell in results.cells
            if cell.paper and cell.paper.table == 2 and cell.structure == structure
            and (mean := cell.mean("test_las"))
        ]  # fmt: skip
        if len(means) == 12:
            result[structure] = (sum(means) / 12, theirs)
    return result


def as_latex(results: Results) -> str:
    """Two tables for a paper, in LaTeX with booktabs."""
    lines = [
        r"% \usepackage{booktabs}",
        r"\begin{tabular}{lllrrrrrr}",
        r"\toprule",
        r"& & & \multicolumn{2}{c}{dev} & \multicolumn{2}{c}{test} & \multicolumn{2}{c}{paper} \\",
        r"treebank & structure & loss & UAS & LAS & UAS & LAS & UAS & LAS \\",
        r"\midrule",
    ]
    for cell in results.cells:
        figures = [_shown(cell.mean(figure), r"$\,\pm\,$") for figure in _FIGURES]
        row = [*map(_escaped, (cell.treebank, cell.structure, cell.loss)), *figures, *_paper(cell)]
        lines.append(" & ".join(row).replace("–", "--") + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    if results.pairs:
        lines += [
            "",
            r"\begin{tabular}{lllrlrrr}",
            r"\toprule",
            r"treebank & first & second & seeds & metric & difference & 95\% interval & $p$ \\",
            r"\midrule",
        ]
        for pair in results.pairs:
            for metric in _METRICS:
                row = [_escaped(text) for text in _pair_row(pair, metric)]
                lines.append(" & ".join(row).replace("−", "$-$").replace("…", "to") + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def as_json(results: Results) -> dict[str, Any]:
    """The whole report for JSON, unrounded."""
    return {
        "name": results.name,
        "cells": [_cell_json(cell) for cell in results.cells],
        "comparisons": [
            {
                "treebank": pair.first.treebank,
                "first": {"structure": pair.first.structure, "loss": pair.first.loss},
                "second": {"structure": pair.second.structure, "loss": pair.second.loss},
                "seeds": pair.seeds,
                "also_differ": {key: [a, b] for key, a, b in pair.also_differ},
                **{
                    metric: {"first": d.first, "second": d.second, "difference": d.difference,
                             "interval": [d.low, d.high], "p": d.p}
                    for metric, d in pair.comparison.items()
                },
            }
            for pair in results.pairs
        ],
        "runs": [
            {
                "run": r.run.name,
                "state": r.record.state,
                "error": r.record.error,
                "seconds": r.record.seconds,
                "epochs": r.epochs,
                "best_epoch": r.best_epoch,
                "dev_uas": r.dev_uas,
                "dev_las": r.dev_las,
                **({"test_uas": r.test["uas"].f1, "test_las": r.test["las"].f1} if r.test else {}),
            }
            for r in results.results
        ],
        "average_las": {
            structure: {"ours": ours, "paper": theirs}
            for structure, (ours, theirs) in averages(results).items()
        },
        "notes": results.notes,
    }  # fmt: skip


def _cell_json(cell: Cell) -> dict[str, Any]:
    means = {figure: cell.mean(figure) for figure in _FIGURES}
    return {
        "treebank": cell.treebank,
        "structure": cell.structure,
        "loss": cell.loss,
        "seeds": [result.run.seed for result in cell.results],
        **{figure: mean and vars(mean) for figure, mean in means.items()},
        "best": {"model": str(cell.best.model), "dev_las": cell.best.dev_las},
        "paper": cell.paper and vars(cell.paper),
    }


def _system(cell: Cell) -> str:
    return f"{cell.structure} {cell.loss}"


def _shown(mean: Mean | None, between: str) -> str:
    if mean is None:
        return "–"
    spread = "" if mean.deviation is None else f"{between}{mean.deviation:.2f}"
    return f"{mean.mean:.2f}{spread}"


def _paper(cell: Cell) -> list[str]:
    if cell.paper is None:
        return ["–", "–"]
    return [_percent(cell.paper.uas), _percent(cell.paper.las)]


def _percent(figure: float | None) -> str:
    return "–" if figure is None else f"{figure:.2f}"


def _pair_row(pair: Pair, metric: str) -> list[str]:
    d = pair.comparison[metric]
    figures = f"{d.difference:+.2f}|{d.low:+.2f} … {d.high:+.2f}".replace("-", "−").split("|")
    seeds = str(len(pair.seeds))
    names = [pair.first.treebank, _system(pair.first), _system(pair.second), seeds]
    return [*names, _METRICS[metric], *figures, f"{d.p:.4f}"]


def _table(header: str, rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table; the header of a column of numbers ends in a colon."""
    columns = header.split("|")
    lines = [
        [column.rstrip(":") for column in columns],
        ["---:" if column.endswith(":") else "---" for column in columns],
        *([cell.replace("|", r"\|") for cell in row] for row in rows),
    ]
    return [f"| {' | '.join(line)} |" for line in lines]


def _escaped(text: str) -> str:
    return re.sub(r"[&%$#_{}]", r"\\\g<0>", text)


def _numbered(what: str, numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"{what} {numbers[0]}"
    return f"{what}s {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"
