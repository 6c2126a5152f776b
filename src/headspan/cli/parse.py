"""headspan parse and headspan evaluate: a model at work."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.text import Text

from headspan import conllu
from headspan.cli.input_files import sentences
from headspan.cli.options import (
    Force,
    Int8,
    Json,
    Lines,
    Model,
    Output,
    Pretokenized,
    Retag,
    terminal,
    with_progress,
)
from headspan.cli.tree_text import tree_text
from headspan.conllu import Sentence
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import open_output
from headspan.treebank_conventions import Punct, Subtypes

if TYPE_CHECKING:
    from headspan.model.parse_result import Parse
    from headspan.model.parser import Parser

_Format = Literal["conllu", "conllx", "json", "tree"]


def parse(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT…",
            help="Files, - for standard input, or text. Files are CoNLL-U, CoNLL-X or plain text, "
            "which is seen from their first lines; .gz and .xz are unpacked.",
        ),
    ],
    model: Model = "en",
    output: Output = "-",
    format: Annotated[
        _Format,
        typer.Option(help="What to write; json has a line a sentence, tree is for reading."),
    ] = "conllu",
    pretokenized: Pretokenized = False,
    lines: Lines = False,
    confidence: Annotated[
        bool,
        typer.Option("--confidence", help="Say how probable each arc is: in MISC, or as JSON."),
    ] = False,
    best: Annotated[
        int, typer.Option(metavar="K", min=1, help="The K best trees of each sentence, as JSON.")
    ] = 1,
    retag: Retag = False,
    int8: Int8 = False,
    force: Force = False,
) -> None:
    """Parse text or treebanks.

    HEAD and DEPREL are filled in, and tags where the model predicts them; comments, multiword
    tokens, empty nodes and columns that are filled already stay as they are.
    """
    if best > 1 and format != "json":
        raise HeadspanError("--best needs --format json: other formats hold one tree a sentence")
    if confidence and format == "conllx":
        raise HeadspanError("--confidence needs another --format: CoNLL-X has no place for it")
    parser = _load(model, int8)
    segment = partial(parser.sentences, lines=lines, pretokenized=pretokenized)
    found = chain.from_iterable(sentences(name, segment) for name in inputs)
    tagged = _tagged(found, parser.config.model.embeddings.columns)
    parsed = with_progress(
        parser.pipe(tagged, confidence=confidence, k=best, retag=retag), "sentences"
    )
    if format == "tree":
        _write_trees(parsed, output, force)
    elif format == "json":
        with open_output(output, overwrite=force) as stream:
            for parse in parsed:
                stream.write(json.dumps(parse.as_json(), ensure_ascii=False).encode() + b"\n")
    else:
        written = (p.with_confidences() for p in parsed) if confidence else parsed
        conllu.write(written, output, format=format, overwrite=force)


def evaluate(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="A treebank.")],
    model: Model = "en",
    punct: Annotated[
        Punct | None, typer.Option(help="Punctuation, as for score; default: as in training.")
    ] = None,
    subtypes: Annotated[
        Subtypes,
        typer.Option(help="strip compares relations up to the colon, as the CoNLL 2018 task did."),
    ] = "keep",
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Start from the treebank's text instead of from its words."),
    ] = False,
    int8: Int8 = False,
    json_: Json = False,
) -> None:
    """Parse a treebank's words, or its raw text, and score the result against its trees.

    Tags that the model predicts are predicted and scored, too. `--raw --punct keep --subtypes
    strip` gives the figures of the CoNLL 2018 evaluation.
    """
    from headspan import scoring
    from headspan.scoring import report
    from headspan.text import raw_text

    parser = _load(model, int8)
    with conllu.read(gold) as reader:
        treebank = [s for s in reader if len(s)]
    if raw and parser.segmenter is None:
        raise HeadspanError(
            f"{model}: has no segmenter; --raw needs one (data.segment in training)"
        )
    given = parser.sentences([raw_text(treebank)]) if raw else treebank
    parsed = with_progress(parser.pipe(given, retag=True), "sentences")
    result = scoring.score(
        treebank,
        parsed,
        punct=punct or parser.config.data.punct,
        subtypes=subtypes,
        names=(gold, model),
    )
    if json_:
        print(json.dumps(report.as_json(result), ensure_ascii=False, indent=2))
    else:
        terminal().print(report.score_table(result))


def _load(model: str, int8: bool) -> Parser:
    from headspan.model.parser import Parser

    parser = Parser.load(model)
    return parser.use_int8() if int8 else parser


def _tagged(found: Iterator[Sentence], columns: Sequence[str]) -> Iterator[Sentence]:
    """The sentences; says once if they lack tags that the model reads."""
    said = False
    for sentence in found:
        missing = [c.upper() for c in columns if set(getattr(sentence, c)) == {"_"}]
        if missing and not said:
            print(
                f"headspan: the model reads {', '.join(missing)}, which the input does not have; "
                "expect more mistakes",
                file=sys.stderr,
            )
            said = True
        yield sentence


def _write_trees(parsed: Iterator[Parse], output: str, force: bool) -> None:
    console = terminal()
    with open_output(output, overwrite=force) as stream:
        for number, parse in enumerate(parsed):
            drawn = tree_text(parse)
            if number:
                drawn = Text("\n") + drawn
            if output == "-" and console.is_terminal:
                console.print(drawn, end="")
            else:
                plain = (line.rstrip() for line in drawn.plain.splitlines())
                stream.write("".join(f"{line}\n" for line in plain).encode())
