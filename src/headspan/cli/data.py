"""headspan data: corpora from what their owners have."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from headspan.experiments.corpora import Prepared

app = typer.Typer(
    help="Prepare corpora from what their owners have.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
_Output = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="FOLDER", help="Where the corpora go, as plans expect."),
]


@app.command()
def ud(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE", help="A release's .tgz, or a folder with treebanks of a release."
        ),
    ],
    output: _Output = Path("data"),
    treebanks: Annotated[
        str, typer.Option(metavar="NAME,NAME…", help="Which; default: the paper's twelve.")
    ] = "",
    release: Annotated[str, typer.Option(help="Which release it must be.")] = "2.2",
) -> None:
    """Universal Dependencies: FOLDER/ud-2.2/en_ewt/en_ewt-ud-train.conllu and so on.

    The paper's `NO-rrt` is no treebank (RRT is Romanian); no_bokmaal is taken for it.
    """
    from headspan.experiments.ud import prepare_ud

    names = [name.strip() for name in treebanks.split(",")] if treebanks else []
    _say(prepare_ud(source, output, treebanks=names, release=release))


@app.command()
def ptb(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE", help="A folder with the Stanford converter's CoNLL-X output."
        ),
    ],
    output: _Output = Path("data"),
) -> None:
    """Penn Treebank: sections 2-21, 22, 23 as FOLDER/ptb/train, dev and test.conllx.

    SOURCE has Stanford Dependencies 3.3.0, a file a section (02.conllx) or a file for each
    wsj_SSNN.
    """
    from headspan.experiments.penn import prepare_ptb

    _say(prepare_ptb(source, output))


@app.command()
def ctb(
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="A folder with Penn2Malt's output.")
    ],
    output: _Output = Path("data"),
    encoding: Annotated[str, typer.Option(help="Of Penn2Malt's output.")] = "utf-8",
) -> None:
    """Chinese Treebank 5.1, split by file number, as FOLDER/ctb/train, dev and test.conllx.

    SOURCE has a file for each chtb_NNN, with word, tag, head and label.
    """
    from headspan.experiments.penn import prepare_ctb

    _say(prepare_ctb(source, output, encoding=encoding))


def _say(prepared: Prepared) -> None:
    """What was written; then what is wrong, with exit code 1 if something is missing."""
    for path, counts in prepared.files.items():
        print(f"{path}: {counts.sentences:,} sentences, {counts.words:,} words")
    for warning in prepared.warnings:
        print(f"headspan: warning: {warning}", file=sys.stderr)
    for lack in prepared.lacks:
        print(f"headspan: missing: {lack}", file=sys.stderr)
    if prepared.lacks:
        raise typer.Exit(1)
