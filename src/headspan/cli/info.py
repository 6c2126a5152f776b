"""headspan info."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from headspan import __version__
from headspan.cli.options import Json, show, terminal
from headspan.plumbing.errors import HeadspanError


def info(
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL",
            help="Model folder, or the name of an embedded or installed model; without it, "
            "the installation is described.",
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Describe a model, or list this installation's versions and models.

    The list has, for every model, its size, its LAS on a test treebank from the treebank's words
    and from raw text, and the words per second on one thread of the machine that measured it.
    """
    from rich.markup import escape
    from rich.table import Table

    facts = _installation() if model is None else _model(model)
    models = _models() if model is None else []
    if json_:
        more = {"models": models} if model is None else {}
        print(json.dumps({**facts, **more}, ensure_ascii=False, indent=2))
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in facts.items():
        table.add_row(name, escape(f"{value:,}" if isinstance(value, int) else str(value)))
    show(terminal(), table, *([""] * bool(models)), *_model_table(models))


def _models() -> list[dict[str, Any]]:
    """The embedded and installed models, and what their cards say of them."""
    from headspan.model.folder import EMBEDDED, embedded_models, installed_models

    models = [
        _listed(name, EMBEDDED / name, f"headspan {__version__}") for name in embedded_models()
    ]
    return models + [_listed(n, m.folder, m.package) for n, m in installed_models().items()]


def _listed(name: str, folder: Path, package: str) -> dict[str, Any]:
    from headspan.model.folder import CARD, Figures, has_file, read_text

    size = sum(file.lstat().st_size for file in folder.iterdir())
    card = ""
    with suppress(HeadspanError):  # a card that cannot be read says nothing
        card = read_text(folder, CARD) if has_file(folder, CARD) else ""
    return {"model": name, "package": package, "bytes": size, **asdict(Figures.of(card))}


def _model_table(models: Sequence[dict[str, Any]]) -> list[RenderableType]:
    from rich.table import Table

    if not models:
        return []
    table = Table(box=None, pad_edge=False)
    table.add_column("model")
    table.add_column("language")
    for heading in ("size", "LAS", "LAS, raw text", "words per second"):
        table.add_column(heading, justify="right")
    table.add_column("package")
    for m in models:
        table.add_row(
            m["model"],
            m["language"],
            f"{m['bytes'] / 1e6:.0f} MB",
            *("–" if m[name] is None else f"{m[name]:.2f}" for name in ("las", "raw_las")),
            "–" if m["words_per_second"] is None else f"{m['words_per_second']:,}",
            m["package"],
        )
    return [table]


def _installation() -> dict[str, Any]:
    from importlib.metadata import PackageNotFoundError, version

    found = {"headspan": __version__, "python": platform.python_version()}
    for name in ("numpy", "numba", "onnxruntime", "torch", "transformers"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


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
        "temperatures of confidences": f"{parser.temperatures.trees} for heads, "
        f"{parser.temperatures.relations} for relations",
        "relations": len(parser.vocabularies.relations),
        "parameters": parser.network.parameters_count,
    }
