"""The words of a multiword token: those that training saw, or else by rules that it learned.

A token that training saw gets the words it had there. Others are split by rules that several of
training's tokens share. A rule is the beginning and the end of a token, and its words with one gap
for whatever is in between (`…n't` is `…` + `n't`, `…ê-lo` is `…er` + `lo`). A rule needs two tokens
that differ in the gap.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from headspan.conllu import Sentence
from headspan.plumbing.errors import HeadspanError, shown

_GAP = "\0"
_UNWRITABLE = re.compile("[\t\n\ud800-\udfff]")
_SAME = str.maketrans("’‘ʼ", "'''")  # one character for one, so that positions stay


class _Rule(NamedTuple):
    before: str
    after: str
    words: tuple[str, ...]
    """Exactly one of them contains the gap."""


class Multiwords:
    """Expands multiword tokens."""

    def __init__(
        self, seen: dict[str, tuple[str, ...]], rules: Sequence[tuple[str, str, tuple[str, ...]]]
    ) -> None:
        self._seen = seen
        self._lower = dict(  # of forms that differ only in case, the first wins
            reversed([(_plain(form), tuple(map(_plain, seen[form]))) for form in seen])
        )
        self._rules = [_Rule(*rule) for rule in rules]

    @classmethod
    def learn(cls, sentences: Iterable[Sentence]) -> Multiwords:
        counts: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
        for sentence in sentences:
            for token in sentence.multiwords:
                words = sentence.forms[token.first - 1 : token.last]
                if len(words) > 1 and all(words):
                    counts[" ".join(token.form.split())][words] += 1
        by_frequency = sorted(counts.items(), key=lambda item: (-item[1].total(), item[0]))
        seen = {form: _most_frequent(words) for form, words in by_frequency}
        gaps: dict[_Rule, set[str]] = defaultdict(set)
        for form, words in seen.items():
            for rule, gap in _rules(_plain(form), tuple(map(_plain, words))):
                gaps[rule].add(gap)
        shared = [rule for rule, fillers in gaps.items() if len(fillers) > 1]
        shared.sort(key=lambda r: (-len(gaps[r]), -len(r.before + r.after), r))
        return cls(seen, shared)

    def words(self, form: str) -> tuple[str, ...]:
        """The words of a token, at least one."""
        if words := self._seen.get(form):
            return words
        plain = _plain(form)
        if words := self._lower.get(plain):
            if "".join(words) == plain:
                return _cut(form, map(len, words))
            return tuple(_in_case(words, form))
        for rule in self._rules:
            if _fits(rule, plain):
                gap = form[len(rule.before) : len(form) - len(rule.after)]
                words = tuple(word.replace(_GAP, gap) for word in rule.words)
                if "".join(rule.words) == rule.before + _GAP + rule.after:
                    return _cut(form, map(len, words))
                return tuple(_in_case(words, form))
        return (form,)

    def to_json(self) -> dict[str, Any]:
        return {
            "seen": {form: list(words) for form, words in self._seen.items()},
            "rules": [[rule.before, rule.after, list(rule.words)] for rule in self._rules],
        }

    @classmethod
    def from_json(cls, data: Any) -> Multiwords:
        """Read the result of `to_json`. Raises HeadspanError for anything else."""
        try:
            seen, rules = data["seen"], data["rules"]
            good = len(data) == 2 and all(_are_words(words) for words in seen.values()) and all(
                len(rule) == 3 and all(isinstance(part, str) for part in rule[:2])
                and _are_words(rule[2], gaps=1)
                for rule in rules
            )  # fmt: skip
        except (AttributeError, KeyError, TypeError):
            good = False
        if not good:
            raise HeadspanError(
                f"the segmenter's multiword tokens are {shown(data)}; "
                "expected forms with their words (seen), and rules"
            )
        return cls(
            {form: tuple(words) for form, words in seen.items()},
            [(before, after, tuple(words)) for before, after, words in rules],
        )


def _are_words(data: Any, *, gaps: int = 0) -> bool:
    """Check that these are two or more words that any file can hold, with that many gaps."""
    if not isinstance(data, list) or len(data) < 2:
        return False
    if not all(isinstance(word, str) and word for word in data):
        return False
    text = "".join(data)
    return text.count(_GAP) == gaps and not _UNWRITABLE.search(text)


def _most_frequent(words: Counter[tuple[str, ...]]) -> tuple[str, ...]:
    return min(words, key=lambda w: (-words[w], w))


def _plain(form: str) -> str:
    """In lower case, except for characters that this would lengthen, so that positions stay."""
    return "".join(c if len(c.lower()) > 1 else c.lower() for c in form).translate(_SAME)


def _rules(form: str, words: tuple[str, ...]) -> Iterator[tuple[_Rule, str]]:
    """The rules that would split a token into these words, and what would fill the gap."""
    if "".join(words) == form:
        start = 0
        for k, word in enumerate(words):
            end = start + len(word)
            template = (*words[:k], _GAP, *words[k + 1 :])
            if word:
                yield _Rule(form[:start], form[end:], template), word
            start = end
        return
    for k, word in ((0, words[0]), (len(words) - 1, words[-1])):
        common = 0
        if k == 0:
            while common < min(len(form), len(word)) and form[common] == word[common]:
                common += 1
            rest, gap = word[common:], form[:common]
            rule = _Rule("", form[common:], (_GAP + rest, *words[1:]))
        else:
            while common < min(len(form), len(word)) and form[-common - 1] == word[-common - 1]:
                common += 1
            rest, gap = word[: len(word) - common], form[len(form) - common :]
            rule = _Rule(form[: len(form) - common], "", (*words[:-1], rest + _GAP))
        if common > 1 and len(gap) < len(form):
            yield rule, gap


def _fits(rule: _Rule, plain: str) -> bool:
    return (
        len(plain) > len(rule.before) + len(rule.after)
        and plain.startswith(rule.before)
        and plain.endswith(rule.after)
    )


def _cut(form: str, lengths: Iterable[int]) -> tuple[str, ...]:
    """Cut the token itself into pieces, which keep its case and its apostrophes."""
    ends = [0, *accumulate(lengths)]
    return tuple(form[start:end] for start, end in pairwise(ends))


def _in_case(words: Sequence[str], form: str) -> Iterator[str]:
    """The words in the case of the token: capitals, an initial capital, or neither."""
    if len(form) > 1 and form.isupper():
        yield from (word.upper() for word in words)
    else:
        yield words[0][:1].upper() + words[0][1:] if form[:1].isupper() else words[0]
        yield from words[1:]
