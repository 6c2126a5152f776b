"""The command headspan corpus, for corpora of any size."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer
from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from headspan.cli.options import Int8, Lines, Model, Pretokenized, Retag
from headspan.cli.output_format import output_format
from headspan.plumbing.errors import HeadspanError

if TYPE_CHECKING:
    from headspan.corpus import CorpusProgress, CorpusSummary

_STARTING = "loading the model and parsing the first shard"


def corpus(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT…",
            help="Files, folders, or - for standard input: text, CoNLL-U, CoNLL-X, JSON lines "
            "(.jsonl) or .parquet, also compressed (.gz, .xz, .bz2, .zst).",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the shards.")
    ],
    model: Model = "en",
    format: Annotated[
        Literal["conllu", "parquet"] | None,
        typer.Option(
            help="Format of the shards; parquet has one row per sentence. Default: parquet if "
            "FOLDER ends in .parquet, else conllu."
        ),
    ] = None,
    compress: Annotated[
        Literal["none", "gz", "xz"], typer.Option(help="Compression of CoNLL-U shards.")
    ] = "none",
    pretokenized: Pretokenized = False,
    lines: Lines = False,
    confidence: Annotated[
        bool,
        typer.Option("--confidence", help="Add the probability of each arc, head and relation."),
    ] = False,
    retag: Retag = False,
    int8: Int8 = None,
    shard_size: Annotated[
        int, typer.Option(metavar="K", min=1, help="Text per shard, in thousands of characters.")
    ] = 100,
    processes: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Number of processes; by default one per core, if memory allows.",
        ),
    ] = None,
    engine: Annotated[
        Literal["local", "ray"],
        typer.Option(help="Parse in processes of this machine, or on a Ray cluster."),
    ] = "local",
    address: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="Address of the Ray cluster; by default one is started here."
        ),
    ] = "",
) -> None:
    """Parse a corpus of any size into FOLDER/part-00000.conllu and so on, with a manifest.

    After Ctrl-C, a crash or a power failure the same command resumes, and the result is the same,
    byte for byte, as without the interruption. Input that cannot be read or parsed is listed in
    FOLDER/errors.jsonl, and the exit code is then 1.
    """
    from headspan.corpus import parse_corpus
    from headspan.corpus.parsing import CorpusOptions
    from headspan.corpus.shards import ShardFormat

    if address and engine != "ray":
        raise HeadspanError("--address is the address of a Ray cluster; it needs --engine ray")
    kind = output_format(str(output), format, get_args(ShardFormat))
    cluster = None
    if engine == "ray":
        from headspan.integrations.ray import ray_engine

        cluster = ray_engine(address=address or None, workers=processes)
    with _interruptible(output), _bar() as watch:
        summary = parse_corpus(
            inputs, output, model=model, format=kind, compress=compress,
            options=CorpusOptions(lines, pretokenized, confidence, retag, int8),
            shard_size=shard_size, processes=processes, engine=cluster, watch=watch,
        )  # fmt: skip
    _print_summary(output, summary)


def _print_summary(output: Path, summary: CorpusSummary) -> None:
    counts = {"shard": summary.shards, "sentence": summary.sentences, "word": summary.words}
    listed = (f"{count:,} {name}{'' if count == 1 else 's'}" for name, count in counts.items())
    print(f"{output}: {', '.join(listed)}")
    if summary.errors:
        errors = "1 error" if summary.errors == 1 else f"{summary.errors:,} errors"
        print(f"headspan: {errors}, listed in {output / 'errors.jsonl'}", file=sys.stderr)
        raise typer.Exit(1)


@contextmanager
def _interruptible(output: Path) -> Iterator[None]:
    """If Ctrl-C or SIGTERM ends the run, print how to resume it."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit) as error:
        print(f"headspan: interrupted; the same command resumes in {output}", file=sys.stderr)
        if isinstance(error, SystemExit):
            raise
        raise typer.Exit(128 + signal.SIGINT) from error


@contextmanager
def _bar() -> Iterator[Callable[[CorpusProgress], None] | None]:
    """A bar on standard error, if that is a terminal: words, words per second, time left.

    Before the first shard is finished, the spinner, the clock and a pulsing bar show that it runs.
    """
    console = Console(file=sys.stderr)
    if not console.is_terminal:
        yield None
        return
    columns = (
        SpinnerColumn(), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn(),
    )  # fmt: skip
    with Bars(*columns, console=console, transient=True) as bars:
        task = bars.add_task(_STARTING, total=None)

        def watch(progress: CorpusProgress) -> None:
            if not progress.words:
                return
            text = f"{progress.words:,} words, {progress.words_per_second:,.0f} per second"
            if progress.bytes_total:
                text = f"{min(1, progress.bytes_read / progress.bytes_total):.0%}, {text}"
            if progress.seconds_left is not None:
                text += f", {_duration(progress.seconds_left)} left"
            total, completed = progress.bytes_total, progress.bytes_read
            bars.update(task, total=total, completed=completed, description=text)

        yield watch


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    if minutes < 100:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 60 * 100 else f"{minutes // (60 * 24)} days"
