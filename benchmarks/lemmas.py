"""Lemmas without a network: the scripts and the dictionary of a treebank, and what they can reach.

    python benchmarks/lemmas.py TRAIN.conllu DEV.conllu

The ceiling is the share of DEV's words whose lemma is in the dictionary or is made by a script; it
is lower if the dictionary comes first and is wrong. The baselines take the dictionary and else the
most frequent script of words with the same UPOS, or with the same UPOS and last characters; UPOS is
DEV's own. Words without a lemma do not count. `--model` also parses DEV, with the dictionary of a
model and without it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from headspan import Parser, conllu
from headspan.conllu import Sentence
from headspan.lemmas import NO_LEMMA, Lemmatizer, apply
from headspan.scoring import score
from reporting import arguments, medians, needed, table, write_json

Word: TypeAlias = tuple[str, str, str]
"""Form, lemma, UPOS."""
SUFFIX = 4


def words(path: Path) -> list[Word]:
    """The words of a treebank that have a lemma."""
    return [
        word
        for s in conllu.read(path)
        for word in zip(s.forms, s.lemmas, s.upos, strict=True)
        if word[1] != NO_LEMMA or word[0] == NO_LEMMA
    ]


def script_by_ending(
    train: Sequence[Word], scripts: Sequence[str], lemmatizer: Lemmatizer, most: int
) -> Callable[[str, str], str]:
    """The most frequent script of words with the same UPOS and the longest ending that is known."""
    counts: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    for form, lemma, upos in train:
        rank = lemmatizer.rank(form, lemma)
        for size in range(most + 1) if rank >= 0 else ():
            counts[upos, form.lower()[len(form) - size :]][rank] += 1
    best = {key: min(found, key=lambda r: (-found[r], r)) for key, found in counts.items()}

    def script(form: str, upos: str) -> str:
        endings = (form.lower()[len(form) - size :] for size in range(most, -1, -1))
        return scripts[next((best[upos, end] for end in endings if (upos, end) in best), 0)]

    return script


def accuracy(dev: Sequence[Word], lemma_of: Callable[[str, str], str]) -> float:
    return sum(lemma_of(form, upos) == lemma for form, lemma, upos in dev) / len(dev)


def of_model(parser: Parser, dev: Sequence[Sentence]) -> dict[str, float]:
    """The scores of a model's lemmas, and of those that its scripts alone would give."""
    if parser.vocabularies.lemmatizer is None:
        sys.exit("the model predicts no lemmas")
    results = {}
    for name, dictionary in (
        ("model", parser.vocabularies.lemmatizer.dictionary),
        ("model, scripts alone", {}),
    ):
        lemmatizer = Lemmatizer(parser.vocabularies.tags["lemmas"].names, dictionary)
        parser.vocabularies = replace(parser.vocabularies, lemmatizer=lemmatizer)
        results[name] = score(dev, parser.parse_stream(dev, retag=True))["lemmas"].f1 / 100
    return results


def shown(figure: float) -> str:
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:.2%}"


def main() -> None:
    options = arguments(__doc__, repeats=5)
    options.add_argument("train", type=Path, metavar="TRAIN")
    options.add_argument("dev", type=Path, metavar="DEV")
    options.add_argument("--model", metavar="MODEL", help="also score the lemmas of a model")
    chosen = options.parse_args()
    train, dev = words(needed(chosen.train)), words(needed(chosen.dev))
    if not train or not dev:
        sys.exit("a treebank has no lemmas")
    scripts, lemmatizer = Lemmatizer.learn(train)
    known = lemmatizer.dictionary
    entered = [lemmatizer.entry(form, upos) for form, _, upos in dev]
    scripted = [lemmatizer.rank(form, lemma) >= 0 for form, lemma, _ in dev]
    looked_up = [e == lemma for e, (_, lemma, _) in zip(entered, dev, strict=True) if e]
    right = [(e == lemma, e is None) for e, (_, lemma, _) in zip(entered, dev, strict=True)]
    reached = sum(entry or s for (entry, _), s in zip(right, scripted, strict=True))
    first = sum(entry or (none and s) for (entry, none), s in zip(right, scripted, strict=True))
    by_tag = script_by_ending(train, scripts, lemmatizer, 0)
    by_ending = script_by_ending(train, scripts, lemmatizer, SUFFIX)
    forms, tags = [form for form, _, _ in dev], [upos for _, _, upos in dev]
    predicted = [by_ending(form, tag) for form, tag in zip(forms, tags, strict=True)]
    lemmatizer.lemmas(forms, tags, predicted)
    seconds = medians({"x": lambda: lemmatizer.lemmas(forms, tags, predicted)}, chosen.repeats)["x"]
    untrained = sum(lemmatizer.rank(form, lemma) < 0 for form, lemma, _ in train)
    results = {
        "scripts": len(scripts),
        "words of TRAIN without a script": untrained,
        "dictionary, entries": sum(map(len, known.values())),
        "dictionary, bytes": len(json.dumps(lemmatizer.to_json(), ensure_ascii=False).encode()),
        "words of DEV": len(dev),
        "lemma made by a script": sum(scripted) / len(dev),
        "in the dictionary": len(looked_up) / len(dev),
        "right in the dictionary": sum(looked_up) / max(len(looked_up), 1),
        "ceiling": reached / len(dev),
        "ceiling, dictionary first": first / len(dev),
        "form as it is": accuracy(dev, lambda form, _: form),
        "script of UPOS": accuracy(dev, lambda f, u: apply(by_tag(f, u), f)),
        "script of UPOS and ending": accuracy(dev, lambda f, u: apply(by_ending(f, u), f)),
        "dictionary, script of UPOS": accuracy(
            dev, lambda f, u: lemmatizer.lemmas([f], [u], [by_tag(f, u)])[0]
        ),
        "dictionary, script of UPOS and ending": accuracy(
            dev, lambda f, u: lemmatizer.lemmas([f], [u], [by_ending(f, u)])[0]
        ),
        "nanoseconds per word": round(1e9 * seconds / len(dev)),
    }
    if chosen.model:
        results |= of_model(Parser.load(chosen.model), list(conllu.read(chosen.dev)))
    table(f"lemmas of {chosen.dev.name}", ["", ""], [[n, shown(v)] for n, v in results.items()])
    write_json(chosen.json, results)


if __name__ == "__main__":
    main()
