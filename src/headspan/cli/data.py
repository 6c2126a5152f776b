"""headspan data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from headspan.experiments.corpora import Prepared

app = typer.Typer(
    help="Prepare corpora for experiments.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
_Output = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the prepared corpora."),
]


@app.command()
def ud(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE", help="Archive (.tgz) of a release, or folder with its treebanks."
        ),
    ],
    output: _Output = Path("data"),
    treebanks: Annotated[
        str,
        typer.Option(
            metavar="NAME,NAME…", help="Treebanks to prepare; by default the paper's twelve."
        ),
    ] = "",
    release: Annotated[
        str,
        typer.Option(
            metavar="RELEASE", help="Expected release of UD; any other release is an error."
        ),
    ] = "2.2",
) -> None:
    """Prepare Universal Dependencies: FOLDER/ud-2.2/en_ewt/en_ewt-ud-train.conllu and so on.

    The paper's `NO-rrt` is not a treebank (RRT is Romanian); no_bokmaal is used instead.
    """
    from headspan.experiments.ud import prepare_ud

    names = [name.strip() for name in treebanks.split(",")] if treebanks else []
    _report(prepare_ud(source, output, treebanks=names, release=release))


@app.command()
def ptb(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE", help="Folder with the Stanford converter's output, in CoNLL-X."
        ),
    ],
    output: _Output = Path("data"),
) -> None:
    """Prepare the Penn Treebank: sections 2-21, 22 and 23 as FOLDER/ptb/train, dev, test.conllx.

    SOURCE has Stanford Dependencies 3.3.0, one file per section (02.conllx) or one per wsj_SSNN.
    """
    from headspan.experiments.penn import prepare_ptb

    _report(prepare_ptb(source, output))


@app.command()
def ctb(
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="Folder with Penn2Malt's output.")
    ],
    output: _Output = Path("data"),
    encoding: Annotated[
        str, typer.Option(metavar="NAME", help="Encoding of Penn2Malt's output.")
    ] = "utf-8",
) -> None:
    """Prepare the Chinese Treebank 5.1, split by file number: FOLDER/ctb/train, dev, test.conllx.

    SOURCE has one file per chtb_NNN, with word, tag, head and label.
    """
    from headspan.experiments.penn import prepare_ctb

    _report(prepare_ctb(source, output, encoding=encoding))


def _report(prepared: Prepared) -> None:
    """Print what was written and what is wrong; exit with code 1 if something is missing."""
    for path, counts in prepared.files.items():
        print(f"{path}: {counts.sentences:,} sentences, {counts.words:,} words")
    for warning in prepared.warnings:
        print(f"headspan: warning: {warning}", file=sys.stderr)
    for lack in prepared.lacks:
        print(f"headspan: missing: {lack}", file=sys.stderr)
    if prepared.lacks:
        raise typer.Exit(1)
