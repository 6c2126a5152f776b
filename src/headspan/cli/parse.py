"""headspan parse and headspan evaluate."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Annotated, get_args

import typer

from headspan import conllu
from headspan.cli.input_files import Inputs
from headspan.cli.options import (
    AsText,
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
from headspan.cli.output_format import output_format
from headspan.cli.parse_output import OutputFormat, write_parses
from headspan.conllu import Sentence
from headspan.plumbing.errors import HeadspanError
from headspan.treebank_conventions import Punct, Subtypes


def parse(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INPUT…",
            help="Files, - for standard input, or text. The first lines of a file decide whether "
            "it is CoNLL-U, CoNLL-X or plain text; compressed files are unpacked. By default "
            "standard input.",
        ),
    ] = None,
    model: Model = "en",
    output: Output = "-",
    format: Annotated[
        OutputFormat | None,
        typer.Option(
            help="Output format; json has one line per sentence, tree is a drawing in text. "
            "Default: as the name of OUT ends (.conllu, .conllx, .conll, .json, .jsonl), else "
            "conllu."
        ),
    ] = None,
    text: AsText = False,
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
        typer.Option("--confidence", help="Add the probability of each arc, head and relation."),
    ] = False,
    best: Annotated[
        int,
        typer.Option(
            metavar="K",
            min=1,
            help="Number of best trees per sentence, each with its probability; above 1, not for "
            "CoNLL-X.",
        ),
    ] = 1,
    retag: Retag = False,
    int8: Int8 = None,
    force: Force = False,
) -> None:
    """Parse text or treebanks.

    The parser fills in HEAD and DEPREL, and empty columns of tags and lemmas that the model
    predicts. Comments, multiword tokens, empty nodes and all other columns are kept.
    """
    kind = output_format(output, format, get_args(OutputFormat))
    if best > 1 and kind == "conllx":
        raise HeadspanError("--best needs another --format: CoNLL-X has one tree per sentence")
    if confidence and kind == "conllx":
        raise HeadspanError("--confidence needs another --format: CoNLL-X has no column for it")
    sources = Inputs(inputs or ["-"], text=text)
    parser = load_parser(model, int8)
    segment = partial(parser.sentences, lines=lines, wrapped=wrapped, pretokenized=pretokenized)
    with closing(sources.sentences(segment)) as sentences:
        tagged = _tagged(sentences, parser.config.model.embeddings.columns)
        parsed = parser.parse_stream(tagged, confidence=confidence, k=best, retag=retag)
        write_parses(with_progress(parsed, "sentences"), output, kind, overwrite=force)


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
    int8: Int8 = None,
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
