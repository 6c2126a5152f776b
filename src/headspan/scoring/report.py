"""An evaluation as a dictionary for JSON and as tables for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.markup import escape
from rich.table import Table

from headspan.scoring.breakdowns import BREAKDOWNS, MEASURES, breakdown, confusion
from headspan.scoring.metrics import METRICS, Evaluation, Score
from headspan.scoring.significance import Comparison

_TITLES = {
    "uas": "UAS", "las": "LAS", "label_accuracy": "Label accuracy", "ucm": "UCM", "lcm": "LCM",
    "clas": "CLAS", "mlas": "MLAS", "blex": "BLEX", "upos": "UPOS", "xpos": "XPOS",
    "ufeats": "UFeats", "alltags": "AllTags", "lemmas": "Lemmas", "tokens": "Tokens",
    "sentences": "Sentences", "words": "Words", "spans": "Spans",
}  # fmt: skip
_CONFUSIONS_SHOWN = 10


def as_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return all results. Metrics are F1 in percent; `counts` holds the counts behind them.

    Metrics of columns that the system did not predict are None.
    """
    scored = {
        metric: None if metric in evaluation.unscored else evaluation[metric] for metric in METRICS
    }
    return {
        "gold": evaluation.gold.name,
        "system": evaluation.system.name,
        "punct": evaluation.punct,
        "subtypes": evaluation.subtypes,
        **{metric: score and score.f1 for metric, score in scored.items()},
        "counts": {metric: score and _score_json(score) for metric, score in scored.items()},
        "breakdowns": {
            by: {
                row: {measure: _score_json(score) for measure, score in scores.items()}
                for row, scores in breakdown(evaluation, by).items()
            }
            for by in BREAKDOWNS
        },
        "confusion": [
            {"gold": gold, "system": system, "count": count}
            for gold, system, count in confusion(evaluation)
        ],
    }


def compare_as_json(
    first: Evaluation, second: Evaluation, comparison: Comparison
) -> dict[str, Any]:
    """Return two evaluations and the differences between them, second − first."""
    return {
        "systems": [as_json(first), as_json(second)],
        "comparison": {
            metric: {
                "first": d.first,
                "second": d.second,
                "difference": d.difference,
                "interval": [d.low, d.high],
                "p": d.p,
            }
            for metric, d in comparison.items()
        },
    }


def score_table(*evaluations: Evaluation) -> Table:
    """Return a table with one row per metric: one system with precision and recall, or several."""
    alone = len(evaluations) == 1
    names = ["F1"] if alone else [str(at + 1) for at in range(len(evaluations))]
    table = _table("Metric", *names, *(["Precision", "Recall", "Right", "Gold"] if alone else []))
    table.add_column("")
    for metric, meaning in METRICS.items():
        cells = [
            "–" if metric in evaluation.unscored else f"{evaluation[metric].f1:.2f}"
            for evaluation in evaluations
        ]
        if alone and metric in evaluations[0].unscored:
            cells += ["–"] * 4
        elif alone:
            s = evaluations[0][metric]
            cells += [f"{s.precision:.2f}", f"{s.recall:.2f}", f"{s.correct:,}", f"{s.gold:,}"]
        table.add_row(_TITLES[metric], *cells, f"[dim]{meaning}[/dim]")
    return table


def comparison_table(comparison: Comparison) -> Table:
    """Return a table of the differences between two systems, one row per metric."""
    table = _table("Metric", "2 − 1", "95% interval", "p")
    for metric, d in comparison.items():
        table.add_row(
            _TITLES[metric], f"{d.difference:+.2f}", f"{d.low:+.2f} … {d.high:+.2f}", f"{d.p:.4f}"
        )
    return table


def breakdown_tables(*evaluations: Evaluation) -> Iterator[Table]:
    """Yield a table for each breakdown, and one of the relations that were confused most often."""
    alone = len(evaluations) == 1
    for by, title in BREAKDOWNS.items():
        all_rows = [breakdown(evaluation, by) for evaluation in evaluations]
        measures = MEASURES[by]
        headers = [
            _TITLES[measure] + ("" if alone else f" {at}")
            for measure in measures
            for at in range(1, len(evaluations) + 1)
        ]
        if alone:
            last = _TITLES[measures[-1]]
            headers[-1:] = [f"{last} precision", f"{last} recall", f"{last} F1"]
        table = _table(title, "Gold", *headers)
        for row in dict.fromkeys(name for rows in all_rows for name in rows):
            scores = [rows.get(row, {}) for rows in all_rows]
            cells = [_shown(r.get(measure), "f1") for measure in measures for r in scores]
            if alone:
                final = scores[0].get(measures[-1])
                cells[-1:] = [_shown(final, part) for part in ("precision", "recall", "f1")]
            in_gold = next((r[measures[0]].gold for r in scores if r), 0)
            table.add_row(escape(row), f"{in_gold:,}", *cells)
        yield table
    for number, evaluation in enumerate(evaluations, 1):
        table = _table("Gold relation", "Count")
        table.title = "Most confused relations" + ("" if alone else f" of {number}")
        table.add_column("Predicted as")
        for gold, system, count in confusion(evaluation)[:_CONFUSIONS_SHOWN]:
            table.add_row(escape(gold), f"{count:,}", escape(system))
        yield table


def _shown(score: Score | None, part: str) -> str:
    return (
        "–" if score is None or not (score.gold or score.system) else f"{getattr(score, part):.2f}"
    )


def _score_json(score: Score) -> dict[str, float]:
    return {
        "correct": score.correct,
        "gold": score.gold,
        "system": score.system,
        "precision": score.precision,
        "recall": score.recall,
        "f1": score.f1,
    }


def _table(first: str, *numbers: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    table.add_column(first)
    for name in numbers:
        table.add_column(name, justify="right")
    return table
