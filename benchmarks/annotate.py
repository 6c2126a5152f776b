"""Decisions of a simulated annotator: plain correction, constrained re-parsing, retraining.

    python benchmarks/annotate.py [TREEBANK] [--model en] [--sentences 150] [--retrain 50]

The gold trees answer every question. The annotator reads a sentence from left to right and corrects
the first wrong head, until all heads are right, then wrong relations, then confirms the sentence:
each correction is one decision, and so is the confirmation.

plain: the best tree is corrected as in an editor that knows nothing. A new head keeps the relation
that the word had, and nothing else changes.
constrained: after each corrected head, the rest is parsed again, with all that was corrected.
retrained: the same, the least certain sentence first; after every N sentences, the model is trained
on those that are confirmed, and used if it is better on a fifth of them. It needs torch.

Seconds are those of the engine, without drawing and without a person; those of training are apart.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from headspan import Parser, conllu
from headspan.annotate import ConfirmSentence, Session, SetHead, SetRelation
from headspan.annotate.assistant import Assistant
from headspan.annotate.fine_tuning import improve
from headspan.annotate.work_order import Filters
from headspan.conllu import NO_HEAD, Sentence
from reporting import SHARED, arguments, needed, table, write_json

TREEBANK = SHARED / "treebanks/open/en_gum_open/en_gum_open-ud-dev.conllu"


@dataclass
class Count:
    """What one way of working takes."""

    heads: int = 0
    relations: int = 0
    confirmations: int = 0
    seconds: list[float] = field(default_factory=list)
    """Of each correction of a head."""
    training: float = 0.0
    trained: int = 0
    used: int = 0
    """The models that were trained, and those that were better on held-out sentences."""
    by_sentence: list[int] = field(default_factory=list)
    """The corrections of each sentence, in the order of work."""

    @property
    def decisions(self) -> int:
        return self.heads + self.relations + self.confirmations

    @property
    def corrections(self) -> int:
        return self.heads + self.relations


def bare(sentence: Sentence) -> Sentence:
    """A sentence without its tree."""
    n = len(sentence)
    return sentence.with_parse([NO_HEAD] * n, ["_"] * n)


def plain(parser: Parser, gold: list[Sentence]) -> Count:
    count = Count()
    for sentence, parse in zip(gold, parser.parse([bare(s) for s in gold]), strict=True):
        heads = sum(a != b for a, b in zip(sentence.heads, parse.heads, strict=True))
        relations = sum(a != b for a, b in zip(sentence.deprels, parse.deprels, strict=True))
        count.heads += heads
        count.relations += relations
        count.confirmations += 1
        count.by_sentence.append(heads + relations)
    return count


def correct(session: Session, number: int, gold: Sentence, count: Count) -> None:
    """Do what an annotator would do with one sentence."""
    before = count.corrections
    shown = session.view(number).sentence
    while wrong := [k for k in range(len(gold)) if shown.heads[k] != gold.heads[k]]:
        start = time.perf_counter()
        session.do(SetHead(number, word=wrong[0] + 1, head=gold.heads[wrong[0]]))
        shown = session.sentences[number - 1]
        count.seconds.append(time.perf_counter() - start)
        count.heads += 1
    for k in range(len(gold)):
        if shown.deprels[k] != gold.deprels[k]:
            session.do(SetRelation(number, word=k + 1, relation=gold.deprels[k]))
            count.relations += 1
    session.do(ConfirmSentence(number))
    count.confirmations += 1
    count.by_sentence.append(count.corrections - before)
    done = session.sentences[number - 1]
    if (done.heads, done.deprels) != (gold.heads, gold.deprels):
        raise AssertionError("the simulated annotator did not reach the gold tree")


def constrained(parser: Parser, gold: list[Sentence]) -> Count:
    count = Count()
    session = Session([bare(s) for s in gold], Assistant(parser), annotator="simulated")
    for number, sentence in enumerate(gold, 1):
        correct(session, number, sentence, count)
    return count


def retrained(model: str, gold: list[Sentence], every: int) -> Count:
    count = Count()
    parser = Parser.load(model)
    session = Session([bare(s) for s in gold], Assistant(parser), annotator="simulated")
    unconfirmed = Filters(unconfirmed=True)
    while True:
        while session.look_at_next():
            pass
        rest = session.numbers("confidence", unconfirmed)
        if not rest:
            return count
        for number in rest[:every]:
            correct(session, number, gold[number - 1], count)
        if len(rest) > every:
            start = time.perf_counter()
            better = Parser.load(model)
            improved = improve(better, session.confirmed_sentences())
            count.training += time.perf_counter() - start
            count.trained += 1
            if improved:
                count.used += 1
                session.learn(better)


def main() -> None:
    parser = arguments(__doc__, repeats=1)
    parser.add_argument("treebank", type=Path, nargs="?", default=TREEBANK)
    parser.add_argument("--model", default="en")
    parser.add_argument("--sentences", type=int, default=150, metavar="N", help="at random")
    parser.add_argument("--retrain", type=int, default=50, metavar="N", help="0 leaves it out")
    options = parser.parse_args()
    sentences = [s for s in conllu.read(needed(options.treebank)) if 0 < len(s) <= 100]
    random.Random(1).shuffle(sentences)
    gold = sentences[: options.sentences]
    loaded = Parser.load(options.model)
    counts = {"plain": plain(loaded, gold), "constrained": constrained(loaded, gold)}
    if options.retrain:
        counts["retrained"] = retrained(options.model, gold, options.retrain)
    words = sum(map(len, gold))
    rows = []
    for name, count in counts.items():
        middle = 1000 * median(count.seconds) if count.seconds else None
        slowest = 1000 * max(count.seconds) if count.seconds else None
        rows.append([name, count.heads, count.relations, count.confirmations, count.decisions,
                     100 * count.corrections / words, middle, slowest, count.training,
                     f"{count.used} of {count.trained}"])  # fmt: skip
    table(
        f"{len(gold)} sentences, {words:,} words, model {options.model}",
        ["", "heads", "relations", "confirmed", "decisions", "corrections per 100 words",
         "ms per head", "longest", "training s", "models used"],
        rows,
    )  # fmt: skip
    write_json(options.json, {
        "model": options.model, "sentences": len(gold), "words": words,
        "ways": {
            name: {
                "heads": c.heads, "relations": c.relations, "confirmations": c.confirmations,
                "decisions": c.decisions, "seconds": sum(c.seconds), "training": c.training,
                "trained": c.trained, "used": c.used,
                "by sentence": c.by_sentence,
            }
            for name, c in counts.items()
        },
    })  # fmt: skip


if __name__ == "__main__":
    main()
