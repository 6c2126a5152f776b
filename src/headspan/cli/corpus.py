"""headspan corpus: corpora of any size."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

from headspan.cli.options import Int8, Lines, Model, Pretokenized, Retag
from headspan.plumbing.errors import HeadspanError

if TYPE_CHECKING:
    from headspan.corpus import Progress, Summary


def corpus(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT…",
            help="Files, folders, - for standard input: text, CoNLL-U, CoNLL-X, JSON lines "
            "(.jsonl) or .parquet; .gz, .xz, .bz2 and .zst are unpacked.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the shards go.")
    ],
    model: Model = "en",
    format: Annotated[
        Literal["conllu", "parquet"],
        typer.Option(help="What to write; parquet has a row a sentence."),
    ] = "conllu",
    compress: Annotated[
        Literal["none", "gz", "xz"], typer.Option(help="How to compress CoNLL-U.")
    ] = "none",
    pretokenized: Pretokenized = False,
    lines: Lines = False,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Say how probable each arc is.")
    ] = False,
    retag: Retag = False,
    int8: Int8 = False,
    shard_size: Annotated[
        int, typer.Option(metavar="K", min=1, help="Thousands of characters that make a shard.")
    ] = 100,
    processes: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Default: what suits the machine.")
    ] = None,
    engine: Annotated[
        Literal["local", "ray"], typer.Option(help="This machine's processes, or a Ray cluster.")
    ] = "local",
    address: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Of the Ray cluster; default: start one here.")
    ] = "",
) -> None:
    """Parse a corpus of any size into FOLDER/part-00000.conllu and so on, with a manifest.

    After Ctrl-C, a crash or a power failure the same command goes on; the result is the same, byte
    for byte, as without. What cannot be read or parsed is recorded in FOLDER/errors.jsonl, and the
    exit code is then 1.
    """
    from headspan.corpus import parse_corpus
    from headspan.corpus.parsing import Options

    if address and engine != "ray":
        raise HeadspanError("--address is that of a Ray cluster; it needs --engine ray")
    chosen = None
    if engine == "ray":
        from headspan.integrations.ray import ray_engine

        chosen = ray_engine(address=address or None, workers=processes)
    with _interruptible(output), _bar() as watch:
        summary = parse_corpus(
            inputs, output, model=model, format=format, compress=compress,
            options=Options(lines, pretokenized, confidence, retag, int8), shard_size=shard_size,
            processes=processes, engine=chosen, watch=watch,
        )  # fmt: skip
    _say(output, summary)


def _say(output: Path, summary: Summary) -> None:
    counts = f"{summary.shards:,} shards, {summary.sentences:,} sentences, {summary.words:,} words"
    print(f"{output}: {counts}")
    if summary.errors:
        things = "1 thing" if summary.errors == 1 else f"{summary.errors:,} things"
        where = output / "errors.jsonl"
        print(f"headspan: {things} could not be read or parsed: {where} says why", file=sys.stderr)
        raise typer.Exit(1)


@contextmanager
def _interruptible(output: Path) -> Iterator[None]:
    """Say how to go on if Ctrl-C or SIGTERM ends the run."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit) as error:
        print(f"headspan: interrupted; the same command goes on in {output}", file=sys.stderr)
        if isinstance(error, SystemExit):
            raise
        raise typer.Exit(128 + signal.SIGINT) from error


@contextmanager
def _bar() -> Iterator[Callable[[Progress], None] | None]:
    """A bar on standard error, if that is a terminal: words, words a second, time left."""
    console = Console(file=sys.stderr)
    if not console.is_terminal:
        yield None
        return
    columns = (BarColumn(), TextColumn("{task.percentage:.0f}%"), TextColumn("{task.description}"))
    with Bars(*columns, console=console, transient=True) as bars:
        task = bars.add_task("loading the model", total=None)

        def watch(progress: Progress) -> None:
            said = "loading the model"
            if progress.words:
                said = f"{progress.words:,} words, {progress.words_a_second:,.0f} a second"
            if progress.seconds_left is not None:
                said += f", {_duration(progress.seconds_left)} left"
            bars.update(task, total=progress.bytes, completed=progress.read, description=said)

        yield watch


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    if minutes < 100:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 60 * 100 else f"{minutes // (60 * 24)} days"
