"""Options that several verbs share, and what they have in common with files."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, TypeVar

import typer
from rich.console import Console, RenderableType
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
Model = Annotated[
    str,
    typer.Option("--model", "-m", metavar="MODEL", help="A model folder, or an embedded model."),
]
Int8 = Annotated[
    bool,
    typer.Option("--int8", help="Compute the encoder in 8-bit integers: faster, nearly the same."),
]
Pretokenized = Annotated[
    bool, typer.Option("--pretokenized", help="Text has a sentence a line, spaces between words.")
]
Lines = Annotated[
    bool, typer.Option("--lines", help="Text has a sentence a line; its words are found.")
]
Retag = Annotated[bool, typer.Option("--retag", help="Predict tags also where the input has some.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]

_T = TypeVar("_T")
_REASONS = 10  # that are spelled out


def terminal() -> Console:
    """Where tables and drawings go: in colour in a terminal, plain and wide enough in a pipe."""
    console = Console(highlight=False, soft_wrap=True, emoji=False)
    if not console.is_terminal:
        console.width = 120
    return console


def show(console: Console, *things: RenderableType) -> None:
    """Print tables and lines; in a pipe without the spaces that pad a table."""
    if console.is_terminal:
        console.print(*things, sep="\n")
        return
    with console.capture() as captured:
        console.print(*things, sep="\n")
    for line in captured.get().split("\n")[:-1]:
        console.out(line.rstrip())


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


def report_skipped(reader: Reader, others: Sequence[str] = ()) -> None:
    """Say on standard error what was left out: by the reader, and for other reasons."""
    reasons = [*map(str, reader.errors), *others]
    for why in reasons[:_REASONS]:
        print(f"headspan: skipped: {why}", file=sys.stderr)
    if total := reader.skipped + len(others):
        sentences = "1 sentence" if total == 1 else f"{total:,} sentences"
        print(f"headspan: {reader.name}: skipped {sentences}", file=sys.stderr)
