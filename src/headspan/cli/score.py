"""headspan score: how good a parse is, and whether one is better than another."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape

from headspan import conllu
from headspan.cli.options import Json, show, terminal, with_progress
from headspan.plumbing.errors import HeadspanError

if TYPE_CHECKING:
    from headspan.scoring import Evaluation

# spelled out again so that the scorer, and numpy with it, is imported only when it is used
_Punct = Literal["keep", "upos", "chars", "ptb", "ctb"]
_Subtypes = Literal["keep", "strip"]


def score(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The treebank.")],
    system: Annotated[str, typer.Argument(metavar="SYSTEM", help="A parser's output for it.")],
    system2: Annotated[
        str | None, typer.Argument(metavar="SYSTEM2", help="Another parser's, to compare.")
    ] = None,
    punct: Annotated[
        _Punct,
        typer.Option(
            help="Punctuation in the attachment scores: keep it, or leave it out by the gold tag "
            "PUNCT (upos), by being all punctuation characters (chars), by the tags of the Penn "
            "Treebank (ptb) or of the Chinese one (ctb)."
        ),
    ] = "keep",
    subtypes: Annotated[
        _Subtypes,
        typer.Option(help="Compare relations with their subtype (acl:relcl) or without."),
    ] = "keep",
    breakdowns: Annotated[
        bool,
        typer.Option(
            "--breakdowns",
            help="Add tables by sentence length, distance to root, dependency length, headed-span "
            "length, relation and UPOS, and the relations confused most. JSON always has them.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed for comparing two systems.")] = 0,
    json_: Json = False,
) -> None:
    """Score a parse against the gold treebank; with two parses, say if they differ.

    Words and sentences may differ as long as the text is the same; they are then aligned by
    characters as in the CoNLL 2018 shared task, and scores are F1. With `--subtypes strip` every
    figure is that task's own. For two systems, the difference comes with a 95% interval (paired
    bootstrap over sentences) and a p-value (approximate randomisation).
    """
    from headspan import scoring
    from headspan.scoring import report

    if [gold, system, system2].count("-") > 1:
        raise HeadspanError("standard input, -, can be one of the files only")
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
