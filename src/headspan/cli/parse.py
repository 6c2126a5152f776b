"""headspan parse and headspan evaluate."""

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
    load_parser,
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

_Format = Literal["conllu", "conllx", "json", "tree"]


def parse(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT…",
            help="Files, - for standard input, or text. The first lines of a file decide whether "
            "it is CoNLL-U, CoNLL-X or plain text; compressed files are unpacked.",
        ),
    ],
    model: Model = "en",
    output: Output = "-",
    format: Annotated[
        _Format,
        typer.Option(
            help="Output format; json has one line per sentence, tree is a drawing in text."
        ),
    ] = "conllu",
    pretokenized: Pretokenized = False,
    lines: Lines = False,
    wrapped: Annotated[
        bool,
        typer.Option(
            "--wrapped",
            help="Single line ends mean nothing: only blank lines end a sentence by themselves.",
        ),
    ] = False,
    confidence: Annotated[
        bool,
        typer.Option("--confidence", help="Add the probability of each arc, in MISC or in JSON."),
    ] = False,
    best: Annotated[
        int,
        typer.Option(
            metavar="K",
            min=1,
            help="Number of best trees per sentence; above 1, it needs --format json.",
        ),
    ] = 1,
    retag: Retag = False,
    int8: Int8 = False,
    force: Force = False,
) -> None:
    """Parse text or treebanks.

    The parser fills in HEAD and DEPREL, and empty columns of tags and lemmas that the model
    predicts. Comments,
    multiword tokens, empty nodes and all other columns are kept.
    """
    if best > 1 and format != "json":
        raise HeadspanError("--best needs --format json: other formats have one tree per sentence")
    if confidence and format == "conllx":
        raise HeadspanError("--confidence needs another --format: CoNLL-X has no column for it")
    parser = load_parser(model, int8)
    segment = partial(parser.sentences, lines=lines, wrapped=wrapped, pretokenized=pretokenized)
    read = chain.from_iterable(sentences(name, segment) for name in inputs)
    tagged = _tagged(read, parser.config.model.embeddings.columns)
    parsed = with_progress(
        parser.parse_stream(tagged, confidence=confidence, k=best, retag=retag), "sentences"
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
    gold: Annotated[
        str, typer.Argument(metavar="GOLD", help="Gold treebank, in CoNLL-U or CoNLL-X.")
    ],
    model: Model = "en",
    punct: Annotated[
        Punct | None,
        typer.Option(
            help="Punctuation to leave out of the scores, as in `headspan score`; by default as in "
            "training."
        ),
    ] = None,
    subtypes: Annotated[
        Subtypes,
        typer.Option(
            help="Whether relations are compared with their subtypes; strip ignores everything "
            "from the colon, as the CoNLL 2018 shared task did."
        ),
    ] = "keep",
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Parse the raw text of the treebank instead of its words."),
    ] = False,
    int8: Int8 = False,
    json_: Json = False,
) -> None:
    """Parse the words or the raw text of a treebank, and score the result against its trees.

    Tags and lemmas that the model predicts are predicted and scored, too; those that it does not
    predict have no score (–, in JSON null). `--raw --punct keep --subtypes
    strip` computes the scores of the CoNLL 2018 shared task.
    """
    from headspan import scoring
    from headspan.scoring import report
    from headspan.text import raw_text

    parser = load_parser(model, int8)
    with conllu.read(gold) as reader:
        treebank = [s for s in reader if len(s)]
    if raw and parser.segmenter is None:
        raise HeadspanError(
            f"{model}: has no segmenter, which --raw needs (train with data.segment)"
        )
    unparsed = parser.sentences([raw_text(treebank)]) if raw else treebank
    parsed = with_progress(parser.parse_stream(unparsed, retag=True), "sentences")
    result = scoring.score(
        treebank,
        parsed,
        punct=punct or parser.config.data.punct,
        subtypes=subtypes,
        names=(gold, model),
        predicted=parser.config.model.tagger.columns,
    )
    if json_:
        print(json.dumps(report.as_json(result), ensure_ascii=False, indent=2))
    else:
        terminal().print(report.score_table(result))


def _tagged(read: Iterator[Sentence], columns: Sequence[str]) -> Iterator[Sentence]:
    """Pass sentences on, and warn once if they lack tags that the model reads."""
    warned = False
    for sentence in read:
        missing = [c.upper() for c in columns if set(getattr(sentence, c)) == {"_"}]
        if missing and not warned:
            print(
                f"headspan: the model reads {', '.join(missing)}, which the input does not have; "
                "expect more mistakes",
                file=sys.stderr,
            )
            warned = True
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
