"""headspan data: corpora from what their owners have."""

from __future__ import annotations

import typer

app = typer.Typer(
    help="Prepare corpora from what their owners have.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
