"""The command `headspan`: a verb a file, each a thin layer over a function of the library."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from headspan import __version__
from headspan.cli import convert, draw, pseudoprojective, score, stats
from headspan.errors import HeadspanError

app = typer.Typer(
    name="headspan",
    help="Dependency parsing with headed spans.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(score.score)
app.command()(stats.stats)
app.command()(draw.draw)
app.command()(convert.convert)
app.command()(pseudoprojective.projectivize)
app.command()(pseudoprojective.deprojectivize)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"headspan {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line. What a user can mend is said in one line, with exit code 2."""
    try:
        app()
        sys.stdout.flush()
    except HeadspanError as error:
        print(f"headspan: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # whoever read our output has stopped: not our business any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
