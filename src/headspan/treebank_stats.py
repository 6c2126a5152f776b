"""Describe a treebank: its size, lengths and relations, and problems that would break training."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

from headspan.conllu import NO_HEAD, Reader, Sentence
from headspan.tree import TreeError, check_tree, nonprojective_arcs

_BINS = (1, 6, 11, 16, 21, 31, 41, 61, 81, 101, 201)

PROBLEMS = {
    "unreadable": "unreadable sentences",
    "no_words": "comments without words",
    "no_heads": "sentences with a word that has no head",
    "no_root": "sentences without a root",
    "several_roots": "sentences with more than one root",
    "cycle": "sentences with a cycle",
}
"""The problems that would break training, and their descriptions."""


@dataclass
class TreebankProblem:
    """The number of occurrences of a problem, and the place of the first."""

    count: int = 0
    first: str = ""


@dataclass
class Stats:
    """Statistics of one treebank file, gathered in one pass."""

    name: str
    sentences: int = 0
    words: int = 0
    multiword_tokens: int = 0
    empty_nodes: int = 0
    nonprojective_arcs: int = 0
    nonprojective_sentences: int = 0
    trees: int = 0
    """Sentences that are trees; the percentages of non-projectivity refer to these."""
    tree_words: int = 0
    longest: int = 0
    longest_place: str = ""
    lengths: Counter[int] = field(default_factory=Counter)
    relations: Counter[str] = field(default_factory=Counter)
    upos: Counter[str] = field(default_factory=Counter)
    problems: dict[str, TreebankProblem] = field(default_factory=dict)

    def add(self, sentence: Sentence) -> None:
        """Add a sentence to the counts."""
        n = len(sentence)
        place = f"sentence {self.sentences + 1}"
        if sentence.sent_id:
            place += f" ({sentence.sent_id})"
        if not n:
            if sentence.comments:
                position = f"after sentence {self.sentences}" if self.sentences else "at the start"
                self._note("no_words", position)
            return
        self.sentences += 1
        self.words += n
        self.multiword_tokens += len(sentence.multiwords)
        self.empty_nodes += len(sentence.empty_nodes)
        self.lengths[n] += 1
        self.relations.update(sentence.deprels)
        self.upos.update(sentence.upos)
        if n > self.longest:
            self.longest, self.longest_place = n, place
        self._add_tree(sentence, place)

    def _add_tree(self, sentence: Sentence, place: str) -> None:
        heads = sentence.heads
        roots = heads.count(0)
        if NO_HEAD in heads:
            self._note("no_heads", f"{place}, word {heads.index(NO_HEAD) + 1}")
            return
        if roots != 1:
            self._note("several_roots" if roots else "no_root", place)
        try:
            check_tree(heads, single_root=False)
        except TreeError as error:
            self._note("cycle", f"{place}: {error}")
            return
        arcs = len(nonprojective_arcs(heads))
        self.trees += 1
        self.tree_words += len(heads)
        self.nonprojective_arcs += arcs
        self.nonprojective_sentences += arcs > 0

    def _note(self, problem: str, place: str) -> None:
        self.problems.setdefault(problem, TreebankProblem(first=place)).count += 1

    def add_unreadable(self, reader: Reader) -> None:
        """Add the sentences that the reader had to skip."""
        if reader.skipped:
            self.problems["unreadable"] = TreebankProblem(reader.skipped, str(reader.errors[0]))

    @property
    def mean_length(self) -> float:
        return self.words / self.sentences if self.sentences else 0.0

    def histogram(self) -> dict[str, int]:
        """Return the number of sentences in each bin of lengths."""
        counts = [0] * len(_BINS)
        for length, count in self.lengths.items():
            counts[bisect_right(_BINS, length) - 1] += count
        names = [f"{low}-{high - 1}" for low, high in pairwise(_BINS)]
        return dict(zip([*names, f"≥{_BINS[-1]}"], counts, strict=True))

    def as_json(self) -> dict[str, Any]:
        """Return the statistics as a dictionary for JSON; shares are in percent."""
        return {
            "file": self.name,
            "sentences": self.sentences,
            "words": self.words,
            "multiword_tokens": self.multiword_tokens,
            "empty_nodes": self.empty_nodes,
            "mean_length": self.mean_length,
            "longest": {"words": self.longest, "place": self.longest_place},
            "lengths": self.histogram(),
            "nonprojective": {
                "arcs": self.nonprojective_arcs,
                "arcs_percent": percent(self.nonprojective_arcs, self.tree_words),
                "sentences": self.nonprojective_sentences,
                "sentences_percent": percent(self.nonprojective_sentences, self.trees),
            },
            "relations": dict(self.relations.most_common()),
            "upos": dict(self.upos.most_common()),
            "problems": {name: asdict(problem) for name, problem in self.problems.items()},
        }


def percent(part: int, whole: int) -> float:
    """Return a share in percent; 0 if the whole is 0."""
    return 100 * part / whole if whole else 0.0


def stats(sentences: Iterable[Sentence], name: str = "") -> Stats:
    """Gather the statistics of a treebank in one pass and constant memory.

    To add the sentences that a Reader skipped, call `add_unreadable` afterwards.
    """
    figures = Stats(name or getattr(sentences, "name", "treebank"))
    for sentence in sentences:
        figures.add(sentence)
    return figures
