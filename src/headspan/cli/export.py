"""headspan export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headspan.cli.options import Model


def export(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="New folder to write.")
    ],
    model: Model = "en",
    int8: Annotated[
        bool, typer.Option("--int8", help="Linear maps in 8-bit integers: smaller and faster.")
    ] = False,
) -> None:
    """Write a model as ONNX files, for other programs and other languages.

    FOLDER gets the network, its relations and the segmenter as ONNX, the model's vocabularies and
    tokenizer as JSON, and a README.md with the inputs and outputs. headspan itself needs none of
    it: it makes the same graphs from a model folder when it parses.
    """
    from headspan.model.exporting import export as write

    write(model, output, int8=int8)
    print(output)
