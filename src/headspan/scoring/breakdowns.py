"""Break scores down by length, distance, headed span, relation and tag.

The bins are those of the paper's error analysis, after McDonald and Nivre (2011). Precision is
computed over the system's words in a bin and recall over the gold words in it; each side is binned
by its own tree.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from headspan.plumbing.errors import HeadspanError
from headspan.scoring.alignment import UNALIGNED
from headspan.scoring.flat import ROOT, Flat
from headspan.scoring.metrics import Evaluation, Score

Bins: TypeAlias = Sequence[int]
"""The lower ends of bins; the last bin is open."""
_Key = TypeVar("_Key", int, str)


Rows: TypeAlias = dict[str, dict[str, Score]]
"""The measures of each bin, relation or tag."""


def _sentence_lengths(side: Flat) -> list[int]:
    return [len(side.sentences[k]) for k in side.sentence_of]


def _dependency_lengths(side: Flat) -> list[int]:
    """Return the length of each arc; 0 for an arc from the root, which has no length."""
    return [0 if head == ROOT else abs(head - word) for word, head in enumerate(side.heads)]


def _root_distances(side: Flat) -> list[int]:
    return side.depths


def _span_lengths(side: Flat) -> list[int]:
    return [last - first + 1 for first, last in side.spans]


@dataclass(frozen=True)
class _ByNumber:
    """A breakdown by a number that a tree assigns to each word."""

    title: str
    number: Callable[[Flat], list[int]]
    bins: Bins
    first_name: str | None = None
    """The name of the first bin, if it is the default one."""

    def name(self, bins: Bins, at: int) -> str:
        if at == 0 and self.first_name and tuple(bins[:2]) == self.bins[:2]:
            return self.first_name
        if at == len(bins) - 1:
            return f"≥{bins[at]}"
        low, high = bins[at], bins[at + 1] - 1
        return str(low) if low == high else f"{low}-{high}"


_NUMBERS: Mapping[str, _ByNumber] = {
    "sentence_length": _ByNumber("Sentence length", _sentence_lengths, (1, 10, 20, 30, 40)),
    "root_distance": _ByNumber(
        "Distance to root", _root_distances, (0, 1, 2, 3, 4, 5, 6, 7), first_name="ROOT"
    ),
    "dependency_length": _ByNumber(
        "Dependency length", _dependency_lengths, (1, 2, 3, 4, 5, 6, 7, 8)
    ),
    "span_length": _ByNumber("Headed-span length", _span_lengths, (1, 11, 21, 31, 41)),
}

BREAKDOWNS: Mapping[str, str] = {
    **{name: by.title for name, by in _NUMBERS.items()},
    "relation": "Relation",
    "upos": "UPOS",
}
"""The available breakdowns and their titles."""
MEASURES: Mapping[str, tuple[str, ...]] = {
    by: ("spans",) if by == "span_length" else ("uas", "las") for by in BREAKDOWNS
}
"""The measures of each breakdown."""


def breakdown(evaluation: Evaluation, by: str, *, bins: Bins | None = None) -> Rows:
    """Return scores by one of BREAKDOWNS, as rows of measures.

    by: `sentence_length`, `root_distance`, `dependency_length` (without arcs from the root),
        `relation` and `upos` (the gold tag) give `uas` and `las`. `span_length` gives `spans`: the
        headed spans whose first word, last word and head are right.
    bins: the lower ends of the bins of a breakdown by a number; by default those of the paper.
    """
    e = evaluation
    attachment = {"uas": e.head_right, "las": e.both_right}
    if by == "relation":
        return _most_frequent_first(_rows(e, e.gold_labels, e.system_labels, attachment))
    if by == "upos":
        tags = [
            e.system.upos[s] if g == UNALIGNED else e.gold.upos[g] for s, g in enumerate(e.gold_of)
        ]
        return _most_frequent_first(_rows(e, e.gold.upos, tags, attachment))
    if by not in _NUMBERS:
        raise HeadspanError(f"by is {by!r}; expected one of {', '.join(BREAKDOWNS)}")
    number = _NUMBERS[by]
    ends = number.bins if bins is None else bins
    measures = {"spans": _spans_right(e)} if MEASURES[by] == ("spans",) else attachment
    by_bin = _rows(
        e,
        [bisect_right(ends, value) - 1 for value in number.number(e.gold)],
        [bisect_right(ends, value) - 1 for value in number.number(e.system)],
        measures,
    )
    return {
        number.name(ends, at): by_bin.get(at, dict.fromkeys(measures, Score(0, 0, 0)))
        for at in range(len(ends))
    }


def confusion(evaluation: Evaluation) -> list[tuple[str, str, int]]:
    """Return the confused relations as (gold, system, count), the most frequent first."""
    e = evaluation
    wrong = Counter(
        (e.gold_labels[g], e.system_labels[s])
        for g, s in e.pairs()
        if e.gold_counts[g] and not e.label_right[s]
    )
    ordered = sorted(wrong.items(), key=lambda item: (-item[1], item[0]))
    return [(gold, system, count) for (gold, system), count in ordered]


def _rows(
    e: Evaluation,
    gold_keys: Sequence[_Key],
    system_keys: Sequence[_Key],
    measures: Mapping[str, list[bool]],
) -> dict[_Key, dict[str, Score]]:
    """Return the measures of each key; a measure says which of the system's words are right."""
    system_of = dict(e.pairs())
    rows: dict[_Key, dict[str, Score]] = {}
    gold_words: dict[_Key, list[int]] = defaultdict(list)
    system_words: dict[_Key, list[int]] = defaultdict(list)
    for g, key in enumerate(gold_keys):
        if e.gold_counts[g]:
            gold_words[key].append(g)
    for s, key in enumerate(system_keys):
        if e.system_counts[s]:
            system_words[key].append(s)
    for key in gold_words.keys() | system_words.keys():
        rows[key] = {
            measure: Score(
                correct=sum(right[s] for s in system_words[key]),
                gold=len(gold_words[key]),
                system=len(system_words[key]),
                recalled=sum(g in system_of and right[system_of[g]] for g in gold_words[key]),
            )
            for measure, right in measures.items()
        }
    return rows


def _most_frequent_first(rows: dict[str, dict[str, Score]]) -> Rows:
    return dict(sorted(rows.items(), key=lambda row: (-row[1]["las"].gold, row[0])))


def _spans_right(e: Evaluation) -> list[bool]:
    """Tell for each system word whether its gold word has the same headed span."""
    return [
        g != UNALIGNED and e.gold.spans[g] == (e.gold_of[first], e.gold_of[last])
        for g, (first, last) in zip(e.gold_of, e.system.spans, strict=True)
    ]
