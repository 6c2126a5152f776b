"""Options that several verbs share, and what they have in common with files."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Annotated, TypeVar

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from headspan.conllu import Reader

Input = Annotated[
    str,
    typer.Argument(
        metavar="IN", help="A CoNLL-U or CoNLL-X file, plain, .gz or .xz; - is standard input."
    ),
]
Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="Where to write; - is standard output, .gz and .xz are compressed.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Write over OUT if it exists.")]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad", help="Leave out sentences that are not well-formed, and say how many."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]

_T = TypeVar("_T")


def terminal() -> Console:
    """Where tables and drawings go: in colour in a terminal, plain and wide enough in a pipe."""
    console = Console(highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = 120
    return console


def with_progress(items: Iterable[_T], what: str) -> Iterator[_T]:
    """The items, counted on standard error while they pass; silent when that is no terminal."""
    console = Console(file=sys.stderr)
    if not console.is_terminal:
        yield from items
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed:,} {task.description}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=None)
        for count, item in enumerate(items, 1):
            if count % 256 == 0:
                progress.update(task, completed=count)
            yield item


def report_skipped(reader: Reader) -> None:
    """Say on standard error what the reader left out."""
    if reader.skipped:
        for error in reader.errors[:10]:
            print(f"headspan: skipped: {error}", file=sys.stderr)
        print(f"headspan: {reader.name}: skipped {reader.skipped} bad sentences", file=sys.stderr)
