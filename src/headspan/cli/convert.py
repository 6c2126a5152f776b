"""headspan convert: convert between CoNLL-U and CoNLL-X."""

from __future__ import annotations

from typing import Annotated

import typer

from headspan import conllu
from headspan.cli.options import Force, Input, Output, SkipBad, report_skipped, with_progress
from headspan.conllu import Format, format_of_name


def convert(
    source: Input,
    output: Output = "-",
    from_: Annotated[
        Format | None, typer.Option("--from", help="Format of IN. Default: recognised.")
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
    target = to or format_of_name(output)
    with conllu.read(source, format=from_, skip_bad=skip_bad) as reader:
        sentences = with_progress(reader, "sentences")
        conllu.write(sentences, output, format=target, overwrite=force)
        report_skipped(reader)
