"""headspan stats: describe treebanks."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from headspan import conllu
from headspan.cli.options import Json, show, terminal, with_progress
from headspan.treebank_stats import PROBLEMS, Stats, percent
from headspan.treebank_stats import stats as gather

_SHOWN = 12
_BAR = 40


def stats(
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="CoNLL-U or CoNLL-X files.")],
    json_: Json = False,
) -> None:
    """Describe treebanks: size, lengths, projectivity, relations, and problems for training."""
    figures = []
    for name in files:
        with conllu.read(name, skip_bad=True) as reader:
            figure = gather(with_progress(reader, "sentences"), reader.name)
            figure.add_unreadable(reader)
            figures.append(figure)
    if json_:
        result = {"files": [figure.as_json() for figure in figures]}
        print(json.dumps(result, ensure_ascii=False, indent=2))
        return
    console = terminal()
    for figure in figures:
        _print(console, figure)


def _print(console: Console, s: Stats) -> None:
    console.print(f"[bold]{escape(s.name)}[/bold]")
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    arcs, sentences = s.nonprojective_arcs, s.nonprojective_sentences
    for row in (
        ("sentences", f"{s.sentences:,}", ""),
        ("words", f"{s.words:,}", f"{s.mean_length:.1f} per sentence"),
        ("multiword tokens", f"{s.multiword_tokens:,}", ""),
        ("empty nodes", f"{s.empty_nodes:,}", ""),
        ("longest sentence", f"{s.longest:,}", escape(s.longest_place)),
        ("non-projective arcs", f"{arcs:,}", f"{percent(arcs, s.tree_words):.2f}%"),
        ("non-projective sentences", f"{sentences:,}", f"{percent(sentences, s.trees):.2f}%"),
        ("relations", f"{len(s.relations):,}", _most_frequent(s.relations)),
        ("UPOS tags", f"{len(s.upos):,}", _most_frequent(s.upos)),
    ):
        table.add_row(*row)
    show(console, table)
    console.print("\n[bold]Sentences by number of words[/bold]")
    bins = list(s.histogram().items())
    while bins and not bins[-1][1]:
        bins.pop()
    largest = max((count for _, count in bins), default=1)
    for name, count in bins:
        bar = "█" * round(_BAR * count / largest) or ("▏" if count else "")
        console.print(f"{name:>8} {count:>8,} {bar}".rstrip())
    console.print()
    if not s.problems:
        console.print("[green]No problems for training.[/green]")
    for name, problem in s.problems.items():
        console.print(
            f"[red]{PROBLEMS[name]}: {problem.count:,}[/red] (first: {escape(problem.first)})"
        )
    console.print()


def _most_frequent(counts: dict[str, int]) -> str:
    ordered = sorted(counts, key=lambda name: -counts[name])
    more = ", …" if len(ordered) > _SHOWN else ""
    return escape(", ".join(ordered[:_SHOWN]) + more)
