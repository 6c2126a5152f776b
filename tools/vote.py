"""Silver trees for self-training: several parsers of one language vote on every sentence of a text.

    python tools/vote.py TEXT -o FILE.conllu --model MODEL --model MODEL … [--words 800000]

TEXT is a file *.txt or *.txt.xz with one paragraph per line. The first model divides it into
sentences and words. Each parser gives its confidence in an arc to that arc, and the tree with the
most votes wins, found exactly; relations, tags and lemmas get the votes of the parsers that chose
them. The mean vote for an arc and its relation is its confidence in MISC, which
`data.silver_confidence` compares.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from headspan import Parser, conllu
from headspan.conllu import Sentence
from headspan.inference import arc
from headspan.model.parse_result import Parse
from sample_text import read_paragraphs, sample

AHEAD = 1000  # sentences
COLUMNS = ("upos", "xpos", "feats", "lemmas")


def elected(parses: Sequence[Parse]) -> Sentence:
    """The sentence with the tree, relations, tags and lemmas that have the most votes."""
    n = len(parses[0])
    votes = np.zeros((n + 1, n + 1))
    relations: dict[tuple[int, int], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for parse in parses:
        sure = parse.confidences or (1.0,) * n
        for k, (head, relation, vote) in enumerate(
            zip(parse.heads, parse.deprels, sure, strict=True), 1
        ):
            votes[head, k] += vote
            relations[head, k][relation] += vote
    heads = arc.best_tree(votes).heads.tolist()
    chosen, misc = [], []
    for k, head in enumerate(heads, 1):
        of = relations.get((head, k)) or {"dep": 0.0}  # nobody chose the arc; a tree needed it
        name = max(of, key=lambda r: (of[r], r))
        chosen.append(name)
        misc.append(f"Confidence={of[name] / len(parses):.3f}")
    tree = parses[0].with_parse(heads, chosen)
    tags = {
        column: [
            _most(values) for values in zip(*(getattr(p, column) for p in parses), strict=True)
        ]
        for column in COLUMNS
    }
    known = ("" if old == "_" else old + "|" for old in parses[0].misc)
    joined = tuple(old + new for old, new in zip(known, misc, strict=True))
    return replace(tree, misc=joined).with_tags(**tags)


def _most(values: Sequence[Any]) -> Any:
    """The commonest value; of several, the first."""
    return max(values, key=values.count)


def voted(parsers: Sequence[Parser], text: str) -> Iterator[Sentence]:
    """The sentences of a text as the parsers vote."""
    sentences = parsers[0].sentences([text])
    while ahead := [s for s in islice(sentences, AHEAD) if len(s)]:
        parsed = [parser.parse(ahead, confidence=True) for parser in parsers]
        yield from map(elected, zip(*parsed, strict=True))


def main() -> None:
    """Run the command."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("text", type=Path, metavar="TEXT")
    options.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.conllu")
    options.add_argument("--model", action="append", required=True, metavar="MODEL")
    options.add_argument("--words", type=int, default=800_000, help="most words of the text")
    chosen = options.parse_args()
    vote(chosen.text, chosen.model, chosen.output, words=chosen.words)


def vote(text: Path, models: Sequence[str | Path], output: Path, *, words: int) -> None:
    """Write the silver trees of a text."""
    parsers = [Parser.load(model) for model in models]
    paragraphs = sample(read_paragraphs(text), words)
    conllu.write(voted(parsers, "\n\n".join(paragraphs)), output)


if __name__ == "__main__":
    main()
