"""Who confirmed what, as it is stored in CoNLL-U: names in MISC, and comments of a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from headspan.conllu import NO_HEAD, Sentence
from headspan.plumbing.errors import HeadspanError, shown

HEAD, RELATION, SPAN = "HeadBy", "RelationBy", "SpanBy"
"""The names in MISC of who confirmed a word's head, its relation and its headed span."""
COLUMNS = {"lemmas": "LemmaBy", "upos": "UposBy", "xpos": "XposBy", "feats": "FeatsBy"}
"""The names in MISC of who set a column, by the column."""
CONFIRMED = "confirmed_by"
"""The comment that says who confirmed a whole sentence."""
PARSED = "parsed_by"
"""The comment that says which model made the arcs of a sentence that nobody has confirmed."""
MARKS = (HEAD, RELATION, SPAN, *COLUMNS.values())
_ANNOTATOR = re.compile(r"[^\s|=]{1,80}")


def check_annotator(name: str) -> str:
    """The name of an annotator; raises HeadspanError if MISC cannot hold it."""
    if not _ANNOTATOR.fullmatch(name) or not name.isprintable():
        raise HeadspanError(
            f"the annotator is {shown(name)}; expected a name of 1 to 80 characters without white "
            "space, | and ="
        )
    return name


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The decisions of people about the tree of a sentence."""

    heads: dict[int, int]
    """The head of each word whose head is confirmed."""
    relations: frozenset[int]
    """The words whose relation is confirmed."""
    spans: dict[int, tuple[int, int]]
    """The ends of each confirmed headed span, by its head."""


def confirmed(sentence: Sentence) -> Confirmed:
    """The decisions that a sentence's MISC states; all arcs if the whole sentence is confirmed."""
    words = range(1, len(sentence) + 1)
    whole = is_confirmed(sentence)
    heads = {
        k: sentence.heads[k - 1]
        for k in words
        if (whole or mark(sentence, k, HEAD)) and sentence.heads[k - 1] != NO_HEAD
    }
    relations = frozenset(k for k in words if whole or mark(sentence, k, RELATION))
    spans = {}
    for k in words:
        if mark(sentence, k, SPAN) and (ends := span_of(sentence.heads, k)):
            spans[k] = ends
    return Confirmed(heads, relations, spans)


def span_of(heads: Sequence[int], word: int) -> tuple[int, int] | None:
    """The fenceposts around a word and all below it; None if words between them are not below it.

    It is defined for all heads, also those of a sentence that is only half a tree.
    """
    below = {word}
    grown = True
    while grown:
        more = {k for k, head in enumerate(heads, 1) if head in below} - below
        below |= more
        grown = bool(more)
    left, right = min(below) - 1, max(below)
    return (left, right) if right - left == len(below) else None


def is_confirmed(sentence: Sentence) -> bool:
    """Whether somebody has confirmed the whole sentence."""
    return sentence.comment(CONFIRMED) is not None


def mark(sentence: Sentence, word: int, name: str) -> str | None:
    """The annotator that MISC names for this decision about a word, or None."""
    for entry in sentence.misc[word - 1].split("|"):
        key, equals, value = entry.partition("=")
        if equals and key == name:
            return value
    return None


def with_mark(sentence: Sentence, word: int, name: str, annotator: str | None) -> Sentence:
    """The sentence with a decision about a word in MISC, at the end of it; None removes it."""
    old = sentence.misc[word - 1]
    entries = [] if old == "_" else old.split("|")
    kept = [entry for entry in entries if entry.partition("=")[0] != name]
    if annotator is not None:
        kept.append(f"{name}={annotator}")
    misc = (*sentence.misc[: word - 1], "|".join(kept) or "_", *sentence.misc[word:])
    return replace(sentence, misc=misc)


def without_marks(misc: str) -> str:
    """A value of MISC without any decision."""
    kept = (entry for entry in misc.split("|") if entry.partition("=")[0] not in MARKS)
    return "|".join(kept) or "_"


def with_comment(sentence: Sentence, key: str, value: str | None) -> Sentence:
    """The sentence with the comment `# key = value` in its old place or at the end, or without."""
    line = f"# {key} = {value}"
    comments = list(_replaced(sentence.comments, key, line if value is not None else None))
    if value is not None and line not in comments:
        comments.append(line)
    return replace(sentence, comments=tuple(comments))


def _replaced(comments: Sequence[str], key: str, line: str | None) -> Iterator[str]:
    for comment in comments:
        name, equals, _ = comment[1:].partition("=")
        if not (equals and name.strip() == key):
            yield comment
        elif line is not None:
            yield line
            line = None
