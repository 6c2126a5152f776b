"""All commands, under one name."""

from __future__ import annotations

from typing import Annotated

import typer

from headspan import __version__
from headspan.cli import (
    annotate,
    benchmark,
    convert,
    corpus,
    data,
    draw,
    experiment,
    export,
    info,
    parse,
    projectivize,
    score,
    serve,
    stats,
    train,
)
from headspan.cli.help_text import PlainCommand

app = typer.Typer(
    name="headspan",
    help="Dependency parsing with headed spans.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(parse.parse)
app.command()(parse.evaluate)
app.command()(corpus.corpus)
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
    train.train
)
app.command()(serve.serve)
app.command()(annotate.annotate)
app.command()(benchmark.benchmark)
app.command()(info.info)
app.command()(export.export)
app.command()(score.score)
app.command()(stats.stats)
app.command()(draw.draw)
app.command()(convert.convert)
app.command()(projectivize.projectivize)
app.command()(projectivize.deprojectivize)
for name, group in (("experiment", experiment.app), ("data", data.app)):
    app.add_typer(group, name=name, short_help=group.info.help)
for group in (app, experiment.app, data.app):
    for command in group.registered_commands:
        command.cls = PlainCommand


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
