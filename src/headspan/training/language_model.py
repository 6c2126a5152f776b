"""A finished model of a language: scored on the test parts of its treebanks, with a card, packaged.

Scores are those of the CoNLL 2018 evaluation: with punctuation, relations without subtypes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path

from headspan.conllu import Sentence
from headspan.model.folder import CARD
from headspan.model.model_package import ModelPackage
from headspan.model.parser import Parser
from headspan.model.throughput import measure
from headspan.plumbing.errors import warn
from headspan.scoring import Evaluation, Score, score
from headspan.text import raw_text
from headspan.text.language import LANGUAGES
from headspan.training.language_card import ALL, Measured, language_card
from headspan.training.loop import MODEL, Trainer
from headspan.training.treebank import read_treebank
from headspan.training.ud_folders import UdTreebank, spdx

PACKAGE = "package"
"""The name of the model package in the folder of a run."""
LARGEST = 15_000_000
"""The most bytes that a model without an encoder should have."""
_OF_COLUMN = {"upos": "upos", "xpos": "xpos", "feats": "ufeats", "lemmas": "lemmas"}
_SEGMENTED = ("tokens", "words", "sentences")
_TREES = ("uas", "las", "clas")
_SPEED_SENTENCES = 600


@dataclass(frozen=True)
class LanguageModel:
    """A model package that was made, and what was measured of it."""

    package: Path
    measured: Measured


def about_package(
    treebanks: Sequence[UdTreebank], *, name: str = "", licence: str = "", encoder: str = ""
) -> ModelPackage:
    """What a package says of a model of these treebanks.

    name: by default the language's ISO code. licence: by default that of the treebanks. encoder:
    the name of the one that becomes part of the model; then there is no default licence.
    """
    code = treebanks[0].language
    return ModelPackage(
        name or code,
        language=LANGUAGES.get(code, code),
        licence=licence or ("" if encoder else spdx(treebanks)),
        sources=(
            *(
                f"UD {treebank.name}" + (f" ({treebank.licence})" if treebank.licence else "")
                for treebank in treebanks
                if treebank.train
            ),
            *([f"the encoder {encoder}, under its own licence"] if encoder else ()),
        ),
    )


def package_model(
    trainer: Trainer,
    treebanks: Sequence[UdTreebank],
    about: ModelPackage,
    *,
    path: Path | None = None,
    memory: int = 0,
) -> LanguageModel:
    """Score the best model of a finished run, and write it as a package, with a card.

    path: that of the package; by default `package` in the folder of the run. memory: the most
    that training took, in bytes. The scores are of the model as it is stored, in little space.
    """
    target = path or trainer.folder / PACKAGE
    best = Parser.load(trainer.folder / MODEL)
    with about.written(target) as folder:
        best.save(folder, small=True)
        parser = Parser.load(folder)
        size = sum(file.stat().st_size for file in folder.iterdir())
        measured = _measured(parser, treebanks, trainer.dev, size, memory)
        parser.card = language_card(parser.config, trainer, treebanks, about, measured)
        (folder / CARD).write_text(parser.card, encoding="utf-8")
    best.card = parser.card
    best.save(trainer.folder / MODEL)
    if size > LARGEST and not trainer.config.model.encoder.name:
        warn(
            f"{target}: the model has {size / 1e6:.1f} MB; smaller model.lstm_size or a larger "
            "model.embeddings.min_count make it smaller"
        )
    return LanguageModel(target, measured)


def _measured(
    parser: Parser,
    treebanks: Sequence[UdTreebank],
    dev: Sequence[Sentence],
    size: int,
    memory: int,
) -> Measured:
    """The scores of a model on every test part, or on dev if there is none, and its speed."""
    parts = {t.name: read_treebank(t.test, "test") for t in treebanks if t.test}
    part = "test" if parts else "dev"
    parts = parts or {t.name: read_treebank(t.dev, "dev") for t in treebanks if t.dev}
    metrics = [_OF_COLUMN[column] for column in parser.config.model.tagger.columns] + [*_TREES]
    in_text = [*_SEGMENTED, *metrics]
    from_words: dict[str, Mapping[str, Score]] = {}
    from_text: dict[str, Mapping[str, Score]] = {}
    for name, gold in parts.items():
        parsed = parser.parse_stream(gold, retag=True)
        from_words[name] = _scores(_evaluation(gold, parsed), metrics)
        if parser.segmenter is not None:
            parsed = parser.parse_stream(parser.sentences([raw_text(gold)]))
            from_text[name] = _scores(_evaluation(gold, parsed), in_text)
    (speed,) = measure(parser, list(dev[:_SPEED_SENTENCES]), threads=(1,))
    return Measured(
        part=part,
        from_words=_with_sum(from_words),
        from_text=_with_sum(from_text),
        words_per_second=round(speed.words_per_second),
        size=size,
        memory=memory,
    )


def _evaluation(gold: Sequence[Sentence], parsed: Iterable[Sentence]) -> Evaluation:
    return score(gold, parsed, punct="keep", subtypes="strip")


def _scores(evaluation: Evaluation, metrics: Sequence[str]) -> dict[str, Score]:
    return {metric: evaluation[metric] for metric in metrics}


def _with_sum(scores: Mapping[str, Mapping[str, Score]]) -> dict[str, dict[str, float]]:
    """F1 by treebank and metric; if there are several treebanks, also of all together."""
    rows = {name: {m: s.f1 for m, s in of.items()} for name, of in scores.items()}
    if len(scores) > 1:
        first = next(iter(scores.values()))
        rows[ALL] = {m: reduce(add, (of[m] for of in scores.values())).f1 for m in first}
    return rows
