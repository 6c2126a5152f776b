"""headspan info."""

from __future__ import annotations

import json
import platform
from typing import Annotated, Any

import typer

from headspan import __version__
from headspan.cli.options import Json, show, terminal


def info(
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL",
            help="Model folder, or the name of a model that comes with headspan; without it, "
            "the installation is described.",
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Describe a model, or list the versions of this installation."""
    from rich.markup import escape
    from rich.table import Table

    facts = _installation() if model is None else _model(model)
    if json_:
        print(json.dumps(facts, ensure_ascii=False, indent=2))
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in facts.items():
        table.add_row(name, escape(f"{value:,}" if isinstance(value, int) else str(value)))
    show(terminal(), table)


def _installation() -> dict[str, Any]:
    from importlib.metadata import version

    packages = ("numpy", "numba", "torch", "transformers")
    return {
        "headspan": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }


def _model(folder: str) -> dict[str, Any]:
    from headspan.model.parser import Parser

    parser = Parser.load(folder)
    m, e = parser.config.model, parser.config.model.embeddings
    inputs = [m.encoder.name] if m.encoder.name else []
    inputs += [f"words ({len(parser.vocabularies.words.names):,})"] if e.words else []
    inputs += ["characters"] if e.characters else []
    inputs += e.columns
    return {
        "model": folder,
        "structure": m.structure,
        "loss": m.loss,
        "decoder": m.decoder,
        "inputs": ", ".join(inputs),
        "predicts": ", ".join(["heads", "relations", *m.tagger.columns]),
        "raw text": "yes" if parser.segmenter else "no",
        "BiLSTM": f"{m.lstm_layers} × {m.lstm_size}",
        "non-projective trees": parser.config.data.nonprojective,
        "temperature of confidences": parser.temperature,
        "relations": len(parser.vocabularies.labels.names),
        "parameters": sum(p.numel() for p in parser.network.parameters()),
    }
