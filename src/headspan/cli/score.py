"""headspan score: score a parse, or compare two."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from headspan import conllu
from headspan.cli.options import Json, show, terminal, with_progress
from headspan.plumbing.errors import HeadspanError
from headspan.treebank_conventions import Punct, Subtypes

if TYPE_CHECKING:
    from headspan.scoring import Evaluation


def score(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The gold treebank.")],
    system: Annotated[
        str, typer.Argument(metavar="SYSTEM", help="A parser's output for the same text.")
    ],
    system2: Annotated[
        str | None,
        typer.Argument(
            metavar="SYSTEM2", help="Another parser's output, to compare with the first."
        ),
    ] = None,
    punct: Annotated[
        Punct,
        typer.Option(
            help="Punctuation in attachment scores: count it (keep), or leave out words with the "
            "gold tag PUNCT (upos), words of only punctuation characters (chars), or words with "
            "the punctuation tags of the Penn Treebank (ptb) or the Chinese Treebank (ctb)."
        ),
    ] = "keep",
    subtypes: Annotated[
        Subtypes,
        typer.Option(
            help="Compare relations with subtypes such as acl:relcl (keep), or without (strip)."
        ),
    ] = "keep",
    breakdowns: Annotated[
        bool,
        typer.Option(
            "--breakdowns",
            help="Also print tables by sentence length, distance to root, dependency length, "
            "headed-span length, relation and UPOS, and the most confused relations. JSON always "
            "has them.",
        ),
    ] = False,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Random seed for comparing two systems.")
    ] = 0,
    json_: Json = False,
) -> None:
    """Score a parse against the gold treebank, or compare two parses.

    Words and sentences may differ as long as the text is the same: they are aligned by characters
    as in the CoNLL 2018 shared task, and scores are F1. With `--subtypes strip`, every score equals
    that of the shared task. For two systems, the difference is shown with a 95% interval (paired
    bootstrap over sentences) and a p-value (approximate randomisation).
    """
    from headspan import scoring
    from headspan.scoring import report

    if [gold, system, system2].count("-") > 1:
        raise HeadspanError("standard input (-) can be only one of the files")
    with conllu.read(gold) as gold_reader:
        sentences = list(with_progress(gold_reader, "gold sentences"))

    def evaluate(name: str) -> Evaluation:
        with conllu.read(name) as reader:
            return scoring.score(
                sentences, with_progress(reader, "sentences"), punct=punct, subtypes=subtypes,
                names=(gold_reader.name, reader.name),
            )  # fmt: skip

    evaluations = [evaluate(name) for name in (system, system2) if name is not None]
    tables = [report.score_table(*evaluations)]
    result = report.as_json(evaluations[0])
    if system2 is not None:
        first, second = evaluations
        comparison = scoring.compare(first, second, seed=seed)
        tables.append(report.comparison_table(comparison))
        result = report.compare_as_json(first, second, comparison)
    if json_:
        print(json.dumps(result, ensure_ascii=False, indent=2))
        return
    console = terminal()
    console.print(f"gold {escape(gold)}, punctuation: {punct}, subtypes: {subtypes}")
    if len(evaluations) > 1:
        for at, evaluation in enumerate(evaluations, 1):
            console.print(f"{at} is {escape(evaluation.system.name)}")
    if breakdowns:
        tables.extend(report.breakdown_tables(*evaluations))
    for table in tables:
        console.print()
        show(console, table)
