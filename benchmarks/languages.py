"""A model of a language beside UDPipe 1: accuracy on test parts, and speed, in one run.

    python benchmarks/languages.py --model NAME [--udpipe FILE] FOLDER [FOLDER …]

A FOLDER has a treebank of Universal Dependencies; its test part is parsed from its words and from
its raw text, and scored as in the CoNLL 2018 evaluation. The parsers take turns on one thread;
speed is words per second of CPU time from raw text, as the median over the turns. FILE is made by
tools/train_udpipe.py --ud.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # before any library starts its threads

import headspan
from headspan import conllu
from headspan.conllu import Sentence
from headspan.plumbing.threads import set_threads
from headspan.scoring import score
from headspan.text import raw_text
from peers import udpipe_parser, udpipe_pipeline
from reporting import arguments, needed, table, write_json

Parse = Callable[[Any], Sequence[Sentence]]


@dataclass(frozen=True)
class Row:
    """What was measured of one parser on one treebank."""

    treebank: str
    parser: str
    las_words: float
    las_text: float
    upos_text: float
    words_f1: float
    sentences_f1: float
    words_per_second: float
    """Of CPU time, from raw text."""


def headspan_parser(name: str) -> tuple[Parse, Parse]:
    """A model of headspan: from words, and from text."""
    parser = headspan.load(name)
    return (
        lambda gold: list(parser.parse_stream(gold, retag=True)),
        lambda text: list(parser.parse_stream(parser.sentences([text]))),
    )


def udpipe(path: str) -> tuple[Parse, Parse]:
    """A model of UDPipe 1, from words and from raw text."""
    pipeline = udpipe_pipeline(path, "tokenizer")
    return udpipe_parser(path), lambda text: list(conllu.parse(pipeline.process(text)))


def measured(
    parsers: dict[str, tuple[Parse, Parse]], treebank: str, gold: list[Sentence], turns: int
) -> list[Row]:
    """The rows of a treebank; the parsers take turns."""
    text = raw_text(gold)
    seconds: dict[str, list[float]] = {name: [] for name in parsers}
    parsed: dict[str, Sequence[Sentence]] = {}
    for turn in range(turns + 1):
        for name, (_, from_text) in parsers.items():
            started = time.process_time()
            parsed[name] = from_text(text)
            if turn:  # the first one loads and compiles
                seconds[name].append(time.process_time() - started)
    rows = []
    for name, (from_words, _) in parsers.items():
        raw = score(gold, parsed[name], punct="keep", subtypes="strip")
        words = score(gold, from_words(gold), punct="keep", subtypes="strip")
        speed = sum(map(len, parsed[name])) / median(seconds[name])
        rows.append(
            Row(treebank, name, words["las"].f1, raw["las"].f1, raw["upos"].f1, raw["words"].f1,
                raw["sentences"].f1, speed)
        )  # fmt: skip
    return rows


def main() -> None:
    options = arguments(__doc__, repeats=3)
    options.add_argument("--model", required=True, metavar="NAME")
    options.add_argument("--udpipe", metavar="FILE")
    options.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    chosen = options.parse_args()
    set_threads(1)
    parsers = {f"headspan {Path(chosen.model).name}": headspan_parser(chosen.model)}
    if chosen.udpipe:
        parsers["UDPipe 1"] = udpipe(chosen.udpipe)
    rows = []
    for folder in chosen.folders:
        (path,) = needed(folder).glob("*-ud-test.conllu")
        gold = [s for s in conllu.read(path) if len(s)]
        rows += measured(parsers, path.name.partition("-ud-")[0], gold, chosen.repeats)
    table(
        "test parts, one thread",
        ["", "", "LAS, words", "LAS, raw text", "UPOS", "Words", "Sentences", "words per CPU s"],
        [
            [r.treebank, r.parser, *(f"{value:.2f}" for value in
             (r.las_words, r.las_text, r.upos_text, r.words_f1, r.sentences_f1)),
             f"{r.words_per_second:,.0f}"]
            for r in rows
        ],
    )  # fmt: skip
    write_json(chosen.json, [asdict(row) for row in rows])


if __name__ == "__main__":
    main()
