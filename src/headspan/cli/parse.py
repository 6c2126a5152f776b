"""headspan parse and headspan evaluate: a model at work."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from headspan import conllu
from headspan.cli.options import Force, Json, Output, terminal, with_progress
from headspan.conllu import Sentence

if TYPE_CHECKING:
    from headspan.parser import Parser

_Model = Annotated[str, typer.Option("--model", "-m", metavar="MODEL", help="A model folder.")]
_Punct = Literal["keep", "upos", "chars", "ptb", "ctb"]


def parse(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT…",
            help="Files in CoNLL-U or CoNLL-X, - for standard input, or text: a sentence a line, "
            "words separated by spaces.",
        ),
    ],
    model: _Model,
    output: Output = "-",
    format: Annotated[
        Literal["conllu", "conllx", "json"], typer.Option(help="What to write.")
    ] = "conllu",
    force: Force = False,
) -> None:
    """Parse sentences: fill in HEAD and DEPREL, leave everything else as it is."""
    parser = _load(model)
    sentences = chain.from_iterable(_sentences(name) for name in inputs)
    parsed = with_progress(parser.pipe(sentences), "sentences")
    if format != "json":
        conllu.write(parsed, output, format=format, overwrite=force)
        return
    from headspan.files import open_output

    with open_output(output, overwrite=force) as stream:
        for sentence in parsed:
            stream.write(json.dumps(_as_json(sentence), ensure_ascii=False).encode() + b"\n")


def evaluate(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="A treebank.")],
    model: _Model,
    punct: Annotated[
        _Punct | None, typer.Option(help="Punctuation, as for score; default: as in training.")
    ] = None,
    json_: Json = False,
) -> None:
    """Parse a treebank's words and score the result against its trees."""
    from headspan import scoring
    from headspan.scoring import report

    parser = _load(model)
    with conllu.read(gold) as reader:
        sentences = [s for s in reader if len(s)]
    parsed = with_progress(parser.pipe(sentences), "sentences")
    result = scoring.score(
        sentences, parsed, punct=punct or parser.config.data.punct, names=(gold, model)
    )
    if json_:
        print(json.dumps(report.as_json(result), ensure_ascii=False, indent=2))
    else:
        terminal().print(report.score_table(result))


def _load(model: str) -> Parser:
    from headspan.parser import Parser

    return Parser.load(model)


def _sentences(name: str) -> Iterator[Sentence]:
    if name == "-" or Path(name).exists():
        yield from conllu.read(name)
    else:
        yield from (Sentence.from_words(line.split()) for line in name.splitlines() if line.strip())


def _as_json(sentence: Sentence) -> dict[str, object]:
    return {
        "id": sentence.sent_id,
        "text": sentence.text,
        "words": sentence.forms,
        "heads": sentence.heads,
        "relations": sentence.deprels,
    }
