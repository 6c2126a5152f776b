"""The command `headspan`: one file per verb, each a thin layer over the library."""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import Annotated, NoReturn

import typer

from headspan import __version__
from headspan.cli import (
    benchmark,
    convert,
    corpus,
    data,
    draw,
    experiment,
    info,
    parse,
    projectivize,
    score,
    serve,
    stats,
    train,
)
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import reason

app = typer.Typer(
    name="headspan",
    help="Dependency parsing with headed spans.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(parse.parse)
app.command()(parse.evaluate)
app.command()(corpus.corpus)
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
    train.train
)
app.command()(serve.serve)
app.command()(benchmark.benchmark)
app.command()(info.info)
app.command()(score.score)
app.command()(stats.stats)
app.command()(draw.draw)
app.command()(convert.convert)
app.command()(projectivize.projectivize)
app.command()(projectivize.deprojectivize)
app.add_typer(experiment.app, name="experiment")
app.add_typer(data.app, name="data")


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"headspan {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line. A mistake of the user is one line, with exit code 2."""
    # ending with an exception removes temporary files
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # for characters that a terminal lacks
    try:
        app()
        if sys.stdout is not None:
            sys.stdout.flush()
    except HeadspanError as error:
        _fail(str(error))
    except ModuleNotFoundError as error:
        if error.name not in ("fcntl", "resource"):
            raise
        _fail(f"this command needs Linux or macOS: this Python has no module {error.name!r}")
    except BrokenPipeError:  # the reader of our output has stopped
        _drop_output()
        sys.exit(1)
    except OSError as error:  # a full disk, a device that refuses
        _drop_output()
        _fail(f"{error.filename or 'standard output'}: cannot be read or written: {reason(error)}")


def _fail(message: str) -> NoReturn:
    print(f"headspan: {message}", file=sys.stderr)
    sys.exit(2)


def _drop_output() -> None:
    """Discard what is still in the buffer of standard output."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
