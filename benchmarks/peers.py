"""The accuracy and speed of headspan's English models beside those of other parsers.

    python benchmarks/peers.py [--spacy MODEL]… [--udpipe FILE]… [--treebank FOLDER] [--figure FILE]

All parse the test part of a treebank from its words, predict tags and lemmas along with the trees,
and take turns on one thread; speed is words per second of CPU time, as the median over the turns,
and LAS that of the CoNLL 2018 evaluation. A MODEL of spaCy is a package or a folder; `MODEL=speed`
leaves LAS out, for models whose relations are not those of Universal Dependencies. A FILE is a
model of UDPipe 1 that was trained on the same treebank, by tools/train_udpipe.py.
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

import torch

import headspan
from headspan import conllu
from headspan.conllu import Sentence
from headspan.model.folder import embedded_models
from headspan.runtime import int8
from headspan.scoring import score
from reporting import (
    SHARED,
    arguments,
    needed,
    pyplot,
    save_figure,
    table,
    write_json,
)

TREEBANK = SHARED / "treebanks" / "ud-2.16" / "en_ewt"
Parse = Callable[[Sequence[Sentence]], Sequence[Sentence]]


@dataclass(frozen=True)
class Figure:
    """What was measured of one parser."""

    words_per_second: float
    """Of CPU time."""
    las: float | None


def headspan_parsers() -> dict[str, Parse]:
    """The embedded models, in float32 and in int8."""
    kinds = (False, True) if int8.is_available() else (False,)
    return {
        f"headspan {name}, {'int8' if kind else 'float32'}": _headspan(name, kind)
        for name in embedded_models()
        for kind in kinds
    }


def _headspan(name: str, kind: bool) -> Parse:
    parser = headspan.load(name, int8=kind)
    return lambda sentences: list(parser.parse_stream(sentences, retag=True))


def spacy_parser(name: str) -> Parse:
    """A pipeline of spaCy, without its recogniser of names."""
    import spacy
    from spacy.tokens import Doc

    nlp = spacy.load(name, exclude=["ner"])

    def parse(sentences: Sequence[Sentence]) -> list[Sentence]:
        docs = [
            # each sentence is one: else the parser would divide some
            Doc(nlp.vocab, words=list(s.forms), sent_starts=[True, *[False] * (len(s) - 1)])
            for s in sentences
        ]
        return [_from_spacy(doc) for doc in nlp.pipe(docs, batch_size=256)]

    return parse


def _from_spacy(doc: Any) -> Sentence:
    return Sentence.from_words(
        [token.text for token in doc],
        heads=[0 if token.head.i == token.i else token.head.i + 1 for token in doc],
        deprels=[token.dep_.lower() or "_" for token in doc],
        upos=[token.pos_ or "_" for token in doc],
        lemmas=[token.lemma_ or "_" for token in doc],
    )


def udpipe_pipeline(path: str, reader: str) -> Any:
    """All that a model of UDPipe 1 does, from input in the form that the reader takes."""
    from ufal.udpipe import Model, Pipeline

    model = Model.load(str(needed(Path(path))))
    if model is None:
        raise SystemExit(f"{path}: is not a model of UDPipe")
    pipeline = Pipeline(model, reader, Pipeline.DEFAULT, Pipeline.DEFAULT, "conllu")
    pipeline.model = model  # a pipeline does not keep its model alive by itself
    return pipeline


def udpipe_parser(path: str) -> Parse:
    """A model of UDPipe 1, for sentences whose words are given."""
    pipeline = udpipe_pipeline(path, "horizontal")

    def parse(sentences: Sequence[Sentence]) -> list[Sentence]:
        # in this format, spaces end words; some numbers have them
        lines = (
            " ".join(form.replace(" ", "\N{NO-BREAK SPACE}") for form in s.forms) for s in sentences
        )
        parsed = list(conllu.parse(pipeline.process("\n".join(lines) + "\n")))
        return [s.with_parse(p.heads, p.deprels) for s, p in zip(sentences, parsed, strict=True)]

    return parse


def measured(
    parsers: dict[str, Parse], test: Sequence[Sentence], turns: int, without_las: set[str]
) -> dict[str, Figure]:
    """The figures of every parser, which take turns."""
    words = sum(map(len, test))
    seconds: dict[str, list[float]] = {name: [] for name in parsers}
    las: dict[str, float] = {}
    for turn in range(turns + 1):
        for name, parse in parsers.items():
            started = time.process_time()
            parsed = parse(test)
            if turn:  # the first one loads and compiles
                seconds[name].append(time.process_time() - started)
            elif name not in without_las:
                las[name] = score(test, parsed, punct="keep", subtypes="strip")["las"].f1
    return {name: Figure(words / median(seconds[name]), las.get(name)) for name in parsers}


def draw(figures: dict[str, Figure], path: Path) -> None:
    """LAS against speed."""
    plot = pyplot()
    figure, axes = plot.subplots(figsize=(7, 4.5), layout="constrained")
    axes.margins(y=0.25)
    for name, of in figures.items():
        if of.las is not None:
            color = "C0" if name.startswith("headspan") else "C1"
            axes.scatter(of.words_per_second, of.las, color=color, zorder=3)
            axes.annotate(
                name.removeprefix("headspan "), (of.words_per_second, of.las),
                xytext=(0, 7), textcoords="offset points", ha="center", fontsize=9,
            )  # fmt: skip
    for name, of in figures.items():
        if of.las is None:
            axes.axvline(of.words_per_second, color="0.7", linestyle=":")
            axes.text(of.words_per_second, sum(axes.get_ylim()) / 2, f"{name} ", fontsize=8,
                      rotation=90, va="center", ha="right", color="0.4")  # fmt: skip
    axes.set_xlim(0, 1.15 * max(of.words_per_second for of in figures.values()))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("words per second of CPU time, one thread")
    axes.set_ylabel("LAS, from words")
    axes.grid(alpha=0.3)
    save_figure(figure, path)


def main() -> None:
    options = arguments(__doc__, repeats=5)
    options.add_argument("--spacy", action="append", default=[], metavar="MODEL")
    options.add_argument("--udpipe", action="append", default=[], metavar="FILE")
    options.add_argument("--treebank", type=Path, default=TREEBANK, metavar="FOLDER")
    options.add_argument("--sentences", type=int, metavar="N", help="only the first ones")
    options.add_argument("--figure", type=Path, metavar="FILE", help="draw LAS against speed")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    path = needed(chosen.treebank / f"{chosen.treebank.name}-ud-test.conllu")
    test = [s for s in conllu.read(path) if len(s)][: chosen.sentences]
    parsers = headspan_parsers()
    without_las = set()
    for argument in chosen.spacy:
        model, _, only = argument.partition("=")
        name = f"spaCy {Path(model).name}"
        parsers[name] = spacy_parser(model)
        without_las |= {name} if only == "speed" else set()
    for model in chosen.udpipe:
        parsers[f"UDPipe 1 {Path(model).stem}"] = udpipe_parser(model)
    figures = measured(parsers, test, chosen.repeats, without_las)
    base = figures["headspan en, float32"].words_per_second
    table(
        f"{path.name}, from words, one thread",
        ["", "LAS", "words per CPU second", "times en in float32"],
        [
            [name, "–" if f.las is None else f"{f.las:.2f}", round(f.words_per_second),
             f"{f.words_per_second / base:.2f}"]
            for name, f in figures.items()
        ],
    )  # fmt: skip
    write_json(chosen.json, {name: asdict(of) for name, of in figures.items()})
    if chosen.figure:
        draw(figures, chosen.figure)


if __name__ == "__main__":
    main()
