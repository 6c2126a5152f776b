"""Lemmas by edit scripts: what turns a form into its lemma, as a label that can be predicted.

A script changes the case of the form, cuts characters off both ends and puts others in their place:
`l0-3+0:y` turns *Flies* into *fly* (lower case, none off the front, three off the back, none of the
new characters in front, y behind). A script `=be` gives the lemma whatever the form is. Where a
script does not fit a form, the form in the script's case is the lemma.

Scripts are learned from a treebank. Besides, a dictionary has the words that training saw with one
lemma only. It also shows which lemmas there are, and how words with a certain ending change: for a
word that it does not have, a script that makes no known lemma gives way to one that does. Addresses
are their own lemmas.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Any, NamedTuple

from headspan.plumbing.errors import HeadspanError, shown

NO_LEMMA = "_"
LONGEST = 100
"""The most characters of a script that is learned, and of a form or lemma in a dictionary."""
_MIN_COUNT = 3  # words that need a script for it to be learned
_MOST_LEARNED = 24_000  # entries of a dictionary; there is less to gain from rarer words
_MOST_READ = 1 << 20
_CACHED = 1 << 15  # words whose lemmas are kept
_ENDINGS = (5, 4, 3)  # characters, the longest of which a dictionary has words tells most
_FEW = 3  # words with an ending that tell enough
_USUAL = 0.1  # the least share of words with an ending for a change to be usual there
_COMPARED = 300  # characters; of longer words, only the beginnings are compared
_REPLACED = 3  # characters of a word that another word may replace, as *ils* is a form of *lui*
_PROPER = "PROPN"
_CERTAIN = 2  # occurrences of a proper noun for it to be entered
_SHORT = 2  # characters of an abbreviated proper noun that may stand for too many things
_ADDRESS = re.compile(r"://|^www\.|[^@]@[^@]+\.", re.IGNORECASE)  # of a page or of a person
_ANY = ""  # any tag
_WHOLE = "="
_SCRIPT = re.compile(r"([lacu])(0|[1-9]\d{0,2})-(0|[1-9]\d{0,2})\+(0|[1-9]\d{0,2}):", re.ASCII)
_MOST_CUT = 999  # characters, as in the expression
_UNWRITABLE = re.compile("[\\t\\n\\0\\ud800-\\udfff]")
_CASES: Mapping[str, Callable[[str], str]] = {
    "l": str.lower,
    "a": str,
    "c": lambda form: form[:1].upper() + form[1:].lower(),
    "u": str.upper,
}
"""Lower, as it is, with a capital, upper."""


class _Edit(NamedTuple):
    """A script in parts."""

    case: str
    front: int
    """The number of characters to remove at the front."""
    back: int
    """The number of characters to remove at the back."""
    prefix: str
    """The characters to add at the front."""
    suffix: str
    """The characters to add at the back."""

    def __str__(self) -> str:
        added = f"{len(self.prefix)}:{self.prefix}{self.suffix}"
        return f"{self.case}{self.front}-{self.back}+{added}"

    @property
    def cost(self) -> int:
        return len(self.prefix) + len(self.suffix) + (self.front > 0) + (self.back > 0)


def script(form: str, lemma: str) -> str:
    """The script that turns the form into the lemma with the fewest changes.

    If they are as many as the lemma has characters, the script is the lemma itself. The lemma must
    not be empty.
    """
    edits = _edits(form, lemma)
    best = min(edits, key=lambda edit: edit.cost, default=None)
    return _WHOLE + lemma if best is None or best.cost > len(lemma) else str(best)


def scripts(form: str, lemma: str) -> list[str]:
    """All scripts that make the lemma of the form and keep as much of it as they can.

    The lemma itself is one of them unless nothing but the case has to change.
    """
    edits = dict.fromkeys(_edits(form, lemma))
    whole = [_WHOLE + lemma] * all(edit.cost for edit in edits)
    return [*map(str, edits), *whole]


def apply(script: str, form: str) -> str:
    """The lemma that a script makes of a form; never empty. What is no script changes nothing."""
    if script.startswith(_WHOLE):
        return script[len(_WHOLE) :] or form or NO_LEMMA
    edit = _read(script)
    if edit is None:
        return form or NO_LEMMA
    changed = _CASES[edit.case](form)
    end = len(changed) - edit.back
    if edit.front >= end:
        return changed or NO_LEMMA
    return edit.prefix + changed[edit.front : end] + edit.suffix


def is_script(text: str) -> bool:
    """Return whether this is a script that can have been learned."""
    whole = text.startswith(_WHOLE) and len(text) > len(_WHOLE)
    return len(text) <= LONGEST and (whole or _read(text) is not None)


def learn_scripts(pairs: Mapping[tuple[str, str], int]) -> list[str]:
    """The scripts for pairs of form and lemma that occur so often; those for most pairs first.

    Many scripts can make the same lemma. So that a few suffice for a treebank, the one that fits
    most pairs is taken first, then the one that fits most of the rest, and so on. Scripts that are
    left with few words are not learned.
    """
    fitting: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for pair in pairs:
        for candidate in scripts(*pair):
            if len(candidate) <= LONGEST:
                fitting[candidate].append(pair)
    left = set(pairs)

    def entry(candidate: str) -> tuple[int, int, bool, int, str]:
        rest = fitting[candidate] = [pair for pair in fitting[candidate] if pair in left]
        words, is_whole = sum(pairs[pair] for pair in rest), candidate.startswith(_WHOLE)
        return -len(rest), -words, is_whole, len(candidate), candidate

    queue = [entry(candidate) for candidate in fitting]
    heapq.heapify(queue)
    learned: list[str] = []
    while queue:
        *_, candidate = queue[0]
        now = entry(candidate)
        if not fitting[candidate]:
            heapq.heappop(queue)
        elif now != queue[0]:  # others have taken some of its pairs
            heapq.heapreplace(queue, now)
        else:
            heapq.heappop(queue)
            left.difference_update(fitting[candidate])
            if -now[1] >= _MIN_COUNT or not learned:
                learned.append(candidate)
    return learned


class Lemmatizer:
    """The scripts and the dictionary of a model.

    scripts: in the order of preference. dictionary: lemmas by UPOS and form, in lower case; a
    dictionary without UPOS has all of them under `_`.
    """

    def __init__(self, scripts: Sequence[str], dictionary: Mapping[str, Mapping[str, str]]) -> None:
        self.dictionary = dictionary
        self._rank = {script: rank for rank, script in enumerate(scripts)}
        self._untagged = set(dictionary) == {NO_LEMMA}
        self._cache: dict[tuple[str, str, str], str] = {}
        self._ranks: dict[tuple[str, str], int] = {}
        self._lemmas: dict[str, frozenset[str]] = {}
        self._words: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self._counted: dict[tuple[str, str], Counter[tuple[int, str]]] = {}

    @classmethod
    def learn(cls, words: Iterable[tuple[str, str, str]]) -> tuple[list[str], Lemmatizer]:
        """The scripts and the lemmatizer of a treebank's words: form, lemma and UPOS.

        Words without a lemma (`_`) teach nothing.
        """
        counts = Counter(word for word in words if word[1] != NO_LEMMA or word[0] == NO_LEMMA)
        pairs = Counter[tuple[str, str]]()
        for (form, lemma, _), count in counts.items():
            pairs[form, lemma] += count
        learned = learn_scripts(pairs)
        lemmatizer = cls(learned, {})
        lacking = {pair for pair in pairs if lemmatizer.rank(*pair) < 0}
        return learned, cls(learned, _dictionary(counts, lacking))

    def rank(self, form: str, lemma: str) -> int:
        """The number of the script to learn for a word; −1 if no script makes its lemma."""
        found = self._ranks.get((form, lemma))
        if found is None:
            known = [self._rank[s] for s in scripts(form, lemma) if s in self._rank]
            found = self._ranks[form, lemma] = min(known, default=-1)
        return found

    def lemmas(
        self, forms: Sequence[str], upos: Sequence[str], scripts: Sequence[str]
    ) -> list[str]:
        """The lemmas of words with these tags and predicted scripts."""
        known = self._cache
        found = []
        for word in zip(forms, upos, scripts, strict=True):
            lemma = known.get(word)
            if lemma is None:
                lemma = self._lemma(*word)
                if len(word[0]) <= LONGEST:
                    if len(known) >= _CACHED:
                        known.clear()
                    known[word] = lemma
            found.append(lemma)
        return found

    def _lemma(self, form: str, upos: str, script: str) -> str:
        tag = NO_LEMMA if self._untagged else upos
        entry = self.entry(form, tag)
        if entry is not None:
            return entry
        return form if _ADDRESS.search(form) else self._sensible(script, form, tag)

    def entry(self, form: str, tag: str) -> str | None:
        """The dictionary's lemma of a word; None if it has none.

        A proper noun that is the same but for its case keeps the case that its script gives it,
        unless it is written in lower case.
        """
        lemma = self.dictionary.get(tag, {}).get(form.lower())
        if (
            lemma is not None
            and tag == _PROPER
            and form != form.lower()
            and _equal_but_for_case(form, lemma)
        ):
            return None
        return lemma

    def _sensible(self, script: str, form: str, tag: str) -> str:
        """What a word that the dictionary does not have becomes, by this script or a usual one.

        A script that replaces the end of the word should make a lemma that is known, with this tag
        or else with another. If neither it nor a change that is usual for the ending does, it
        should be one that words with this ending have. *Staged* becomes *stage*, not *stag*.
        A script that replaces the whole word should make a lemma that is known with this tag or
        begins like the word, unless the word is very short. Digits are never changed.
        """
        lemma = apply(script, form)
        if _digits(lemma) != _digits(form):
            return form or NO_LEMMA
        edit = None if script.startswith(_WHOLE) else _read(script)
        if edit is not None and not edit.back:
            return lemma
        if not self._lemmas:
            self._index()
        of_tag = self._lemmas.get(tag, frozenset())
        if lemma in of_tag:
            return lemma
        if edit is None:
            may_be = len(form) <= _REPLACED or form[0].lower() == lemma[0].lower()
            return lemma if may_be and tag != _PROPER else form
        changes = self._changes(tag, form.lower())
        least = _USUAL * changes.total()
        usual = [
            apply(str(edit._replace(back=back, suffix=suffix)), form)
            for (back, suffix), count in changes.most_common()
            if count >= least
        ]
        for known in (of_tag, self._lemmas[_ANY]):
            for candidate in (lemma, *usual):
                if candidate in known:
                    return candidate
        return lemma if (edit.back, edit.suffix) in changes or not usual else usual[0]

    def _index(self) -> None:
        """List the dictionary's lemmas, and its words by their endings."""
        shortest = min(_ENDINGS)
        for tag, entries in self.dictionary.items():
            self._lemmas[tag] = frozenset(entries.values())
            for form, lemma in entries.items():
                if len(form) > shortest:
                    self._words.setdefault((tag, form[-shortest:]), []).append((form, lemma))
        self._lemmas[_ANY] = frozenset[str]().union(*self._lemmas.values())

    def _changes(self, tag: str, form: str) -> Counter[tuple[int, str]]:
        """How known words that end like a form change at the end.

        That is, how many characters they lose, and which they get instead.
        """
        found = Counter[tuple[int, str]]()
        for size in _ENDINGS:
            if len(form) > size:
                found = self._changes_of(tag, form[-size:])
                if found.total() >= _FEW:
                    break
        return found

    def _changes_of(self, tag: str, ending: str) -> Counter[tuple[int, str]]:
        found = self._counted.get((tag, ending))
        if found is None:
            found = self._counted[tag, ending] = Counter()
            for form, lemma in self._words.get((tag, ending[-min(_ENDINGS) :]), []):
                same = _common_start(form, lemma.lower())
                if same and len(form) > len(ending) and form.endswith(ending):
                    found[len(form) - same, lemma[same:]] += 1
        return found

    def to_json(self) -> dict[str, Any]:
        return {"dictionary": self.dictionary}

    @classmethod
    def from_json(cls, data: Any, scripts: Sequence[str]) -> Lemmatizer:
        """Read the result of `to_json`. Raises HeadspanError for anything else."""
        for text in scripts:
            if not is_script(text):
                raise HeadspanError(f"lemmas has {shown(text)}, which is not a script")
        dictionary = data.get("dictionary") if isinstance(data, dict) and len(data) == 1 else None
        if not isinstance(dictionary, dict) or not all(
            isinstance(entries, dict) for entries in dictionary.values()
        ):
            raise HeadspanError(
                f"the lemmas are {shown(data)}; expected a dictionary of lemmas by tag and form"
            )
        if sum(map(len, dictionary.values())) > _MOST_READ:
            raise HeadspanError(f"the dictionary of lemmas has more than {_MOST_READ:,} entries")
        for entries in dictionary.values():
            for form, lemma in entries.items():
                if not isinstance(lemma, str) or not _can_be_entered(form, lemma):
                    raise HeadspanError(
                        f"the lemma of {shown(form)} is {shown(lemma)}; expected a word of at most "
                        f"{LONGEST} characters that a file can hold"
                    )
        return cls(scripts, dictionary)


def _edits(form: str, lemma: str) -> list[_Edit]:
    """The edits that keep the longest common substring, for every case of the form.

    If lower case keeps as much as the other cases, it is the only one: it gives the same lemma
    wherever a word stands in a sentence, and so is easier to predict.
    """
    found: list[_Edit] = []
    lower = 0
    for case, change in _CASES.items():
        changed = change(form)
        size, places = _longest_common(changed, lemma)
        if size > lower:
            lower = size if case == "l" else lower
            edits = [
                _Edit(case, i, len(changed) - i - size, lemma[:j], lemma[j + size :])
                for i, j in places
            ]
            found += [e for e in edits if max(e.front, e.back, len(e.prefix)) <= _MOST_CUT]
    return found


def _longest_common(one: str, other: str) -> tuple[int, list[tuple[int, int]]]:
    """The length of the longest common substring, and its places in both; none if it is empty."""
    if one == other or max(len(one), len(other)) > _COMPARED:
        return _common_start(one, other), [(0, 0)]
    longest, places = 0, list[tuple[int, int]]()
    before = [0] * (len(other) + 1)
    for i, character in enumerate(one, 1):
        row = [0] * (len(other) + 1)
        for j, another in enumerate(other, 1):
            if character == another:
                row[j] = size = before[j - 1] + 1
                if size > longest:
                    longest, places = size, []
                if size == longest:
                    places.append((i - size, j - size))
        before = row
    return longest, places


def _digits(word: str) -> list[str]:
    return [character for character in word if character.isdigit()]


def _common_start(one: str, other: str) -> int:
    """The number of characters that two words have in common before they differ."""
    return sum(takewhile(bool, (a == b for a, b in zip(one, other, strict=False))))


@lru_cache(maxsize=4096)
def _read(script: str) -> _Edit | None:
    match = _SCRIPT.match(script)
    if match is None:
        return None
    case, front, back, size = match.groups()
    added = script[match.end() :]
    if int(size) > len(added):
        return None
    return _Edit(case, int(front), int(back), added[: int(size)], added[int(size) :])


def _dictionary(
    counts: Mapping[tuple[str, str, str], int], lacking: set[tuple[str, str]]
) -> dict[str, dict[str, str]]:
    """The lemmas of words that always have the same one: first those that lack a script.

    Proper nouns are entered if training saw them often enough, and if they are long enough to be
    told from other words when they are written in lower case.
    """
    lemmas: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    needed = set[tuple[str, str]]()
    for (form, lemma, upos), count in counts.items():
        word = (upos, form.lower())
        lemmas[word][lemma] += count
        if (form, lemma) in lacking:
            needed.add(word)
    chosen = [
        (word not in needed, -count, word, lemma)
        for word, found in lemmas.items()
        for lemma, count in found.items()
        if len(found) == 1
        and (word[0] != _PROPER or (count >= _CERTAIN and _is_distinct(word[1], lemma)))
        and _can_be_entered(word[1], lemma)
    ]
    dictionary: dict[str, dict[str, str]] = defaultdict(dict)
    for *_, (upos, form), lemma in sorted(sorted(chosen)[:_MOST_LEARNED], key=lambda e: e[2]):
        dictionary[upos][form] = lemma
    return dict(dictionary)


def _is_distinct(form: str, lemma: str) -> bool:
    """Whether the form of a proper noun hardly stands for several things, as an initial would."""
    return len(form) > _SHORT or _equal_but_for_case(form, lemma)


def _equal_but_for_case(form: str, lemma: str) -> bool:
    return form.lower() == lemma.lower()


def _can_be_entered(form: str, lemma: str) -> bool:
    return (
        0 < len(lemma) <= LONGEST
        and 0 < len(form) <= LONGEST
        and _UNWRITABLE.search(form + lemma) is None
    )
