"""Options and output that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich.console import Console, RenderableType
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from headspan.conllu import Reader

if TYPE_CHECKING:
    from headspan.model.parser import Parser

Input = Annotated[
    str,
    typer.Argument(
        metavar="IN",
        help="CoNLL-U or CoNLL-X file, which may be compressed (.gz, .xz); - is standard input.",
    ),
]
Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="Output file, compressed if it ends in .gz or .xz; - is standard output.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite OUT if it exists.")]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad",
        help="Skip sentences that are not well-formed, and report them, instead of stopping.",
    ),
]
Model = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        metavar="MODEL",
        help="Model folder, or the name of an embedded or installed model.",
    ),
]
Int8 = Annotated[
    bool | None,
    typer.Option(
        "--int8/--no-int8",
        help="Compute in 8-bit integers, faster and with nearly the same results, or in float32. "
        "Default: as the model is stored, if the processor is fast at it.",
        show_default=False,
    ),
]
AsText = Annotated[
    bool,
    typer.Option("--text", help="Every INPUT is text, even if it looks like the name of a file."),
]
Pretokenized = Annotated[
    bool,
    typer.Option(
        "--pretokenized", help="The text has one sentence per line, with spaces between words."
    ),
]
Lines = Annotated[
    bool,
    typer.Option("--lines", help="The text has one sentence per line, not split into words."),
]
Retag = Annotated[
    bool, typer.Option("--retag", help="Predict tags and lemmas even where the input has them.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]

_T = TypeVar("_T")
_REASONS = 10  # printed before the total


def load_parser(model: str, int8: bool | None) -> Parser:
    """Load a parser as the options --model and --int8 say."""
    from headspan.model.parser import Parser

    return Parser.load(model, int8=int8)


def terminal() -> Console:
    """The console for tables and drawings: in colour in a terminal, plain and wide in a pipe."""
    console = Console(highlight=False, soft_wrap=True, emoji=False)
    if not console.is_terminal:
        console.width = 120
    return console


def show(console: Console, *things: RenderableType) -> None:
    """Print tables and lines; in a pipe, without trailing spaces."""
    if console.is_terminal:
        console.print(*things, sep="\n")
        return
    with console.capture() as captured:
        console.print(*things, sep="\n")
    for line in captured.get().split("\n")[:-1]:
        console.out(line.rstrip())


def with_progress(items: Iterable[_T], what: str) -> Iterator[_T]:
    """Pass items on, and count them on standard error if that is a terminal."""
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
    """Report skipped sentences on standard error: those of the reader, and others."""
    reasons = [*map(str, reader.errors), *others]
    for why in reasons[:_REASONS]:
        print(f"headspan: skipped: {why}", file=sys.stderr)
    if total := reader.skipped + len(others):
        sentences = "1 sentence" if total == 1 else f"{total:,} sentences"
        print(f"headspan: {reader.name}: skipped {sentences}", file=sys.stderr)
