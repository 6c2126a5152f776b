"""Agreement with a second annotator: attachment scores, and kappa against chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headspan.conllu import NO_HEAD, Sentence


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two annotators agree, over the words of sentences that both have with a tree."""

    sentences: int
    words: int
    uas: float
    """The share of words with the same head."""
    las: float
    """The share of words with the same head and relation."""
    kappa: float
    """Cohen's kappa of relations: 1 for full agreement, 0 for that of chance. NaN if undefined."""
    differing: int
    """The sentences of the other file that have other words here, and do not count."""


class OtherAnnotator:
    """The sentences of another annotator's file, found by sent_id, or by their words."""

    def __init__(self, sentences: Iterable[Sentence], name: str) -> None:
        self.name = name
        self._by_id: dict[str, Sentence] = {}
        self._by_words: dict[tuple[str, ...], list[Sentence]] = {}
        for sentence in sentences:
            if not len(sentence):
                continue
            if sentence.sent_id is not None:
                self._by_id.setdefault(sentence.sent_id, sentence)
            self._by_words.setdefault(sentence.forms, []).append(sentence)

    def counterpart(self, sentence: Sentence) -> Sentence | None:
        """The other annotator's sentence with the same words, or None."""
        same = self._by_id.get(sentence.sent_id or "")
        if same is not None:
            return same if same.forms == sentence.forms else None
        candidates = self._by_words.get(sentence.forms, [])
        return candidates[0] if len(candidates) == 1 else None

    def has(self, sentence: Sentence) -> bool:
        """Whether there is a sentence with this sent_id, whatever its words are."""
        return (sentence.sent_id or "") in self._by_id


def agreement(sentences: Sequence[Sentence], other: OtherAnnotator) -> Agreement:
    """How far sentences agree with those of another annotator."""
    pairs: list[tuple[tuple[int, str], tuple[int, str]]] = []
    compared = differing = 0
    for sentence in sentences:
        theirs = other.counterpart(sentence)
        if theirs is None:
            differing += other.has(sentence)
        elif NO_HEAD not in sentence.heads and NO_HEAD not in theirs.heads:
            compared += 1
            arcs = (zip(one.heads, one.deprels, strict=True) for one in (sentence, theirs))
            pairs += zip(*arcs, strict=True)
    words = len(pairs)
    if not words:
        nan = float("nan")
        return Agreement(compared, 0, nan, nan, nan, differing)
    return Agreement(
        sentences=compared,
        words=words,
        uas=sum(one[0] == two[0] for one, two in pairs) / words,
        las=sum(one == two for one, two in pairs) / words,
        kappa=cohens_kappa([(one[1], two[1]) for one, two in pairs]),
        differing=differing,
    )


def cohens_kappa(pairs: Sequence[tuple[str, str]]) -> float:
    """Cohen's kappa of two annotators who gave each item a category; NaN if it is undefined.

    It is (p − e) / (1 − e), where p is the share of equal categories and e the share that would be
    equal if both drew theirs at random, as often as they used them.
    """
    total = len(pairs)
    if not total:
        return float("nan")
    equal = sum(one == two for one, two in pairs) / total
    ours, theirs = Counter(one for one, _ in pairs), Counter(two for _, two in pairs)
    expected = sum(count * theirs[name] for name, count in ours.items()) / total**2
    return (equal - expected) / (1 - expected) if expected < 1 else float("nan")
