"""UAS, LAS and related metrics, computed from aligned words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from headspan.conllu import Sentence
from headspan.plumbing.errors import check_choice
from headspan.scoring.alignment import UNALIGNED, align
from headspan.scoring.flat import ROOT, Flat, ScoringError, flatten
from headspan.treebank_conventions import Punct, Subtypes, base_relation, is_punctuation

_CONTENT = frozenset(
    "nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod discourse nmod "
    "appos nummod acl amod conj fixed flat compound list parataxis orphan goeswith reparandum "
    "root dep".split()
)
_FUNCTION = frozenset("aux cop mark det clf case cc".split())
_UNIVERSAL_FEATURES = frozenset(
    "PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite Degree VerbForm "
    "Mood Tense Aspect Voice Evident Polarity Person Polite".split()
)

METRICS: Mapping[str, str] = {
    "uas": "words with the right head",
    "las": "words with the right head and relation",
    "label_accuracy": "words with the right relation, whatever their head",
    "ucm": "sentences without a wrong head",
    "lcm": "sentences without a wrong head or relation",
    "clas": "content words with the right head and relation",
    "mlas": "CLAS, with tags, features and function words also right",
    "blex": "CLAS, with the lemma also right",
    "upos": "words with the right UPOS",
    "xpos": "words with the right XPOS",
    "ufeats": "words with the right universal features",
    "alltags": "words with UPOS, XPOS and features right",
    "lemmas": "words with the right lemma",
    "tokens": "tokens with the right boundaries",
    "sentences": "sentences with the right boundaries",
    "words": "words that match a gold word",
}
"""The metrics and their descriptions."""
_DEPENDENT = {
    "upos": ("upos", "alltags", "mlas"),
    "xpos": ("xpos", "alltags"),
    "feats": ("ufeats", "alltags", "mlas"),
    "lemmas": ("lemmas", "blex"),
}
"""The metrics in which a column is compared."""


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of right, gold and system items; precision, recall and F1 in percent."""

    correct: int
    """The system's items that are right."""
    gold: int
    system: int
    recalled: int = -1
    """The gold items that the system got right; −1 means as many as `correct`. The two differ only
    in bins, since each side is binned by its own tree.
    """

    @property
    def precision(self) -> float:
        return 100 * self.correct / self.system if self.system else 0.0

    @property
    def recall(self) -> float:
        return 100 * self.counts[3] / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """The four counts: correct, gold, system, recalled."""
        recalled = self.correct if self.recalled < 0 else self.recalled
        return self.correct, self.gold, self.system, recalled

    def __add__(self, other: Score) -> Score:
        return Score(*(a + b for a, b in zip(self.counts, other.counts, strict=True)))


@dataclass(frozen=True)
class Evaluation:
    """A system's parses compared with the gold treebank. `evaluation["las"]` is a Score."""

    gold: Flat
    system: Flat
    punct: Punct
    subtypes: Subtypes
    gold_of: list[int]
    """The gold word of each system word, or UNALIGNED."""
    gold_counts: list[bool]
    """Whether each gold word counts; punctuation that is left out does not."""
    system_counts: list[bool]
    unscored: frozenset[str] = frozenset()
    """The metrics that say nothing, since they compare columns that the system did not predict."""

    def __getitem__(self, metric: str) -> Score:
        return self.scores[metric]

    @cached_property
    def head_right(self) -> list[bool]:
        """For each system word, whether its gold word has the same head."""
        return [
            g != UNALIGNED and self.gold.heads[g] == self._gold_word(self.system.heads[s])
            for s, g in enumerate(self.gold_of)
        ]

    @cached_property
    def label_right(self) -> list[bool]:
        """For each system word, whether its gold word has the same relation."""
        gold, system = self.gold_labels, self.system_labels
        return [g != UNALIGNED and gold[g] == system[s] for s, g in enumerate(self.gold_of)]

    @cached_property
    def both_right(self) -> list[bool]:
        return [h and r for h, r in zip(self.head_right, self.label_right, strict=True)]

    @cached_property
    def gold_labels(self) -> list[str]:
        return self._labels(self.gold)

    @cached_property
    def system_labels(self) -> list[str]:
        return self._labels(self.system)

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the aligned words as (gold, system)."""
        return ((g, s) for s, g in enumerate(self.gold_of) if g != UNALIGNED)

    @cached_property
    def scores(self) -> Mapping[str, Score]:
        return {
            "uas": self._counted(self.head_right),
            "las": self._counted(self.both_right),
            "label_accuracy": self._counted(self.label_right),
            "ucm": self._complete(self.head_right),
            "lcm": self._complete(self.both_right),
            **self._content_scores(),
            **self._tag_scores(),
            "tokens": _same_ranges(self.gold.token_ranges, self.system.token_ranges),
            "sentences": _same_ranges(self.gold.sentence_ranges, self.system.sentence_ranges),
            "words": Score(sum(1 for _ in self.pairs()), len(self.gold), len(self.system)),
        }

    def _gold_word(self, system_word: int) -> int:
        return ROOT if system_word == ROOT else self.gold_of[system_word]

    def _labels(self, side: Flat) -> list[str]:
        return (
            [base_relation(r) for r in side.deprels] if self.subtypes == "strip" else side.deprels
        )

    def _counted(self, right: list[bool]) -> Score:
        return Score(
            sum(r and counts for r, counts in zip(right, self.system_counts, strict=True)),
            sum(self.gold_counts),
            sum(self.system_counts),
        )

    def _complete(self, right: list[bool]) -> Score:
        """Count gold sentences that the system has, too, with all words that count right."""
        gold, system = self.gold, self.system
        wrong = [False] * len(gold.sentences)
        system_of = dict(self.pairs())
        for g, counts in enumerate(self.gold_counts):
            if counts and not (g in system_of and right[system_of[g]]):
                wrong[gold.sentence_of[g]] = True
        system_lengths = {
            r: len(sentence)
            for r, sentence in zip(system.sentence_ranges, system.sentences, strict=True)
        }
        complete = sum(
            not bad and system_lengths.get(r) == len(sentence)
            for bad, r, sentence in zip(wrong, gold.sentence_ranges, gold.sentences, strict=True)
        )
        return Score(complete, len(gold.sentences), len(system.sentences))

    def _content_scores(self) -> dict[str, Score]:
        """Return CLAS, MLAS and BLEX, which count words with the relation of a content word."""
        gold, system = self.gold, self.system
        g_content = _content(gold, self.gold_counts)
        s_content = _content(system, self.system_counts)
        g_features, s_features = _features(gold), _features(system)
        g_function, s_function = _function_children(gold), _function_children(system)

        def same_morphology(g: int, s: int) -> bool:
            if (gold.upos[g], g_features[g]) != (system.upos[s], s_features[s]):
                return False
            return [
                (c, self.gold_labels[c], gold.upos[c], g_features[c]) for c in g_function[g]
            ] == [
                (self.gold_of[c], self.system_labels[c], system.upos[c], s_features[c])
                for c in s_function[s]
            ]

        right = [(g, s) for g, s in self.pairs() if g_content[g] and self.both_right[s]]
        totals = sum(g_content), sum(s_content)
        return {
            "clas": Score(len(right), *totals),
            "mlas": Score(sum(same_morphology(g, s) for g, s in right), *totals),
            "blex": Score(
                sum(gold.lemmas[g] in ("_", system.lemmas[s]) for g, s in right), *totals
            ),
        }

    def _tag_scores(self) -> dict[str, Score]:
        gold, system = self.gold, self.system
        g_features, s_features = _features(gold), _features(system)
        same: dict[str, Callable[[int, int], bool]] = {
            "upos": lambda g, s: gold.upos[g] == system.upos[s],
            "xpos": lambda g, s: gold.xpos[g] == system.xpos[s],
            "ufeats": lambda g, s: g_features[g] == s_features[s],
        }
        same["alltags"] = lambda g, s: all(same[tag](g, s) for tag in ("upos", "xpos", "ufeats"))
        same["lemmas"] = lambda g, s: gold.lemmas[g] in ("_", system.lemmas[s])
        return {
            metric: Score(sum(right(g, s) for g, s in self.pairs()), len(gold), len(system))
            for metric, right in same.items()
        }


def score(
    gold: Iterable[Sentence],
    system: Iterable[Sentence],
    *,
    punct: Punct = "keep",
    subtypes: Subtypes = "keep",
    names: tuple[str, str] = ("the gold treebank", "the system's output"),
    predicted: Collection[str] | None = None,
) -> Evaluation:
    """Compare a system's trees with the gold trees.

    Words and sentences may differ as long as the text is the same; scores are then F1.

    punct: `keep` counts punctuation. The other values leave it out of the attachment scores, where
        punctuation is a word with the gold UPOS `PUNCT` (`upos`), a word of only Unicode
        punctuation characters (`chars`), a word with one of the tags `` `` '' : , . `` (`ptb`), or
        a word with the tag `PU` (`ctb`). A system's word counts if its gold word does; a word
        without a gold word is judged by its own form and tags.
    subtypes: `strip` compares relations up to the colon, as the CoNLL 2018 shared task does.
    names: the names of the two treebanks in messages.
    predicted: which of the columns `upos`, `xpos`, `feats` and `lemmas` the system predicted; all
        by default. Reports show no scores for the others.
    """
    check_choice("punct", punct, Punct)
    check_choice("subtypes", subtypes, Subtypes)
    flat_gold, flat_system = flatten(gold, names[0]), flatten(system, names[1])
    if not len(flat_gold):
        raise ScoringError(f"{names[0]} has no words")
    gold_of = align(flat_gold, flat_system)
    gold_counts = [not mark for mark in _punctuation(flat_gold, punct)]
    system_marks = _punctuation(flat_system, punct)
    system_counts = [
        not system_marks[s] if g == UNALIGNED else gold_counts[g] for s, g in enumerate(gold_of)
    ]
    unscored = frozenset(
        metric
        for column, metrics in _DEPENDENT.items()
        if predicted is not None and column not in predicted
        for metric in metrics
    )
    return Evaluation(
        flat_gold, flat_system, punct, subtypes, gold_of, gold_counts, system_counts, unscored
    )


def _punctuation(side: Flat, punct: Punct) -> list[bool]:
    words = zip(side.forms, side.upos, side.xpos, strict=True)
    return [is_punctuation(punct, form, upos, xpos) for form, upos, xpos in words]


def _content(side: Flat, counts: list[bool]) -> list[bool]:
    return [
        base_relation(relation) in _CONTENT and counting
        for relation, counting in zip(side.deprels, counts, strict=True)
    ]


def _features(side: Flat) -> list[list[str]]:
    """Return the universal features of each word, sorted."""
    return [
        sorted(f for f in feats.split("|") if f.partition("=")[0] in _UNIVERSAL_FEATURES)
        for feats in side.feats
    ]


def _function_children(side: Flat) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in range(len(side))]
    for word, (head, relation) in enumerate(zip(side.heads, side.deprels, strict=True)):
        if head != ROOT and base_relation(relation) in _FUNCTION:
            children[head].append(word)
    return children


def _same_ranges(gold: list[tuple[int, int]], system: list[tuple[int, int]]) -> Score:
    return Score(len(set(gold) & set(system)), len(gold), len(system))
