"""headspan benchmark."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from headspan import conllu
from headspan.cli.input_files import is_conll, read_text
from headspan.cli.options import Int8, Json, Model, load_parser, show, terminal
from headspan.plumbing.errors import HeadspanError

if TYPE_CHECKING:
    from headspan.model.throughput import Speed


def benchmark(
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="Treebank, whose words are parsed, or text file.")
    ],
    model: Model = "en",
    int8: Int8 = None,
    threads: Annotated[
        str, typer.Option(metavar="N,N…", help="Numbers of threads to try, separated by commas.")
    ] = "1,2",
    repeat: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of measured runs; medians are shown.")
    ] = 3,
    json_: Json = False,
) -> None:
    """Measure the words per second on a file, and the share of time of each stage of parsing.

    A treebank's own words are parsed; a text is segmented first. The numbers of threads take
    turns, after one warm-up run that is not counted.
    """
    try:
        counts = [int(part) for part in threads.split(",")]
    except ValueError:
        counts = [0]
    if min(counts) < 1:
        raise HeadspanError(f"--threads {threads}: expected numbers such as 1,2")
    from headspan.model.throughput import measure

    work = [s for s in conllu.read(source) if len(s)] if is_conll(source) else read_text(source)
    if not work:
        raise HeadspanError(f"{source}: has no sentences")
    speeds = measure(load_parser(model, int8), work, threads=counts, repeat=repeat)
    if json_:
        print(json.dumps([_as_json(speed) for speed in speeds], indent=2))
    else:
        _show(speeds)


def _show(speeds: list[Speed]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for speed in speeds:
        table.add_column(f"{speed.threads} thread{'s' * (speed.threads > 1)}", justify="right")
    table.add_row("words per second", *(f"{speed.words_per_second:,.0f}" for speed in speeds))
    table.add_row(
        "words per CPU second", *(f"{speed.words_per_cpu_second:,.0f}" for speed in speeds)
    )
    for name in speeds[0].stages:
        table.add_row(name, *(f"{speed.stages[name] / speed.seconds:.1%}" for speed in speeds))
    show(terminal(), table)


def _as_json(speed: Speed) -> dict[str, object]:
    return {
        "threads": speed.threads,
        "words": speed.words,
        "seconds": speed.seconds,
        "words_per_second": speed.words_per_second,
        "words_per_cpu_second": speed.words_per_cpu_second,
        "stages": speed.stages,
    }
