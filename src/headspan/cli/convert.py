"""headspan convert: convert between CoNLL-U and CoNLL-X."""

from __future__ import annotations

from typing import Annotated, get_args

import typer

from headspan import conllu
from headspan.cli.options import Force, Input, Output, SkipBad, report_skipped, with_progress
from headspan.cli.output_format import output_format
from headspan.conllu import Format


def convert(
    source: Input,
    output: Output = "-",
    from_: Annotated[
        Format | None,
        typer.Option("--from", help="Format of IN. Default: recognised by content or name."),
    ] = None,
    to: Annotated[
        Format | None,
        typer.Option(
            help="Format of OUT. Default: conllx if OUT ends in .conllx or .conll, else conllu."
        ),
    ] = None,
    skip_bad: SkipBad = False,
    force: Force = False,
) -> None:
    """Convert a treebank between CoNLL-U and CoNLL-X.

    CoNLL-U to CoNLL-U gives the same bytes. CoNLL-X cannot hold comments, multiword tokens, empty
    nodes, DEPS and MISC. Its columns PHEAD and PDEPREL are kept in MISC of CoNLL-U.
    """
    target = output_format(output, to, get_args(Format), option="--to")
    with conllu.read(source, format=from_, skip_bad=skip_bad) as reader:
        sentences = with_progress(reader, "sentences")
        conllu.write(sentences, output, format=target, overwrite=force)
        report_skipped(reader)
