"""The operations of an annotator, each a small object that turns sentences into others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, get_args, get_type_hints

from headspan.annotate.confirmations import (
    COLUMNS,
    CONFIRMED,
    HEAD,
    PARSED,
    RELATION,
    SPAN,
    confirmed,
    is_confirmed,
    mark,
    span_of,
    with_comment,
    with_mark,
)
from headspan.annotate.desk import Desk, check_whole, check_word, released
from headspan.annotate.sentence_edits import join_sentences, split_sentence
from headspan.annotate.token_edits import join_token, join_words, split_token, split_word
from headspan.conllu import NO_HEAD, Sentence
from headspan.plumbing import limits
from headspan.plumbing.errors import HeadspanError, shown

ALTERNATIVES = 5
"""The number of best trees among which an annotator can choose."""
_LONGEST = 1000  # characters of a value


@dataclass(frozen=True, slots=True)
class Operation(ABC):
    """A change of one sentence, or of as many as `takes` from that one on."""

    name: ClassVar[str]
    takes: ClassVar[int] = 1
    sentence: int
    """Its number, from 1."""

    @abstractmethod
    def apply(self, sentences: Sequence[Sentence], desk: Desk) -> list[Sentence]:
        """The sentences that take the place of those that it takes; raises HeadspanError."""


@dataclass(frozen=True, slots=True)
class SetHead(Operation):
    """Give a word another head, and perhaps a relation; the rest is parsed again."""

    name = "head"
    word: int
    head: int
    relation: str | None = None

    def apply(self, sentences: Sequence[Sentence], desk: Desk) -> list[Sentence]:
        (sentence,) = sentences
        changed = desk.with_head(desk.opened(sentence), self.word, self.head)
        if self.relation is not None:
            changed = _with_relation(changed, self.word, self.relation, desk.annotator)
        return [changed]


@dataclass(frozen=True, slots=True)
class SetRelation(Operation):
    """Give a word's arc a relation; its head is then confirmed, too."""

    name = "relation"
    word: int
    relation: str

    def apply(self, sentences: Sequence[Sentence], desk: Desk) -> list[Sentence]:
        (sentence,) = sentences
        opened = desk.opened(sentence)
        check_word(opened, self.word)
        return [_with_relation(opened, self.word, self.relation, desk.annotator)]


@dataclass(frozen=True, slots=True)
class SetColumn(Operation):
    """Set the lemma, UPOS, XPOS or features of a word; an empty value is `_`."""

    name = "column"
    word: int
    column: str
    value: str

    def apply(self, sentences: Sequence[Sentence], desk: Desk) -> list[Sentence]:
        (sentence,) = sentences
        if self.column not in COLUMNS:
            raise HeadspanError(
                f"the column is {shown(self.column)}; expected one of {', '.join(COLUMNS)}"
            )
        opened = desk.opened(sentence)
        check_word(opened, self.word)
        value = checked_value(self.value) if self.value.strip() else "_"
        if self.column == "feats":
            value = sorted_features(value)
        elif self.column != "lemmas" and " " in value:
            raise HeadspanError(f"the tag is {shown(value)}; expected one without spaces")
        old = getattr(opened, self.column)
        changed = opened.with_tags(
            **{self.column: (*old[: self.word - 1], value, *old[self.word :])}
        )
        changed = with_mark(changed, self.word, COLUMNS[self.column], desk.annotator)
        if self.column in desk.assistant.parser.vocabularies.columns:
            changed = _parsed_along(changed, desk)
        return [changed]


@dataclass(frozen=True, slots=True)
class ConfirmArc(Operation):
    """Confirm the head and the relation of a word, or take that back."""

    name = "confirm-arc"
    word: int

    def apply(self, sentences: Sequence[Sentence], desk: Desk) -> list[Sentence]:
        (sentence,) = sentences
        opened = desk.opened(sentence)
        check_word(opened, self.word)
        names = (HEAD, RELATION)
        both = all(mark(opened, self.word, name) for name in names)
        for name in names:
            opened = with_mark(opened, self.word, name, None if both else desk.annotator)
        return [_parsed_along(opened, desk) if both else opened]


@dataclass(frozen=True, slots=True)
class ConfirmSpan(Operation):
    """Confirm the headed span of a word, or take that back."""

    name = "confirm-span"
    word: int

    def apply(self, sentences: Sequence[Sentence], desk: Desk) -> list[Sentence]:
        (sentence,) = sentences
        opened = desk.opened(sentence)
        check_word(opened, self.word)
        if mark(opened, self.word, SPAN):
            return [_parsed_along(with_mark(opened, self.word, SPAN, None), desk)]
        if span_of(opened.heads, self.word) is None:
            raise HeadspanError(
                f"the words below word {self.word} have gaps between them; expected a headed span"
            )
        return [with_mark(opened, self.word, SPAN, desk.annotator)]


@dataclass(frozen=True, slots=True)
class ConfirmSentence(Operation):
    """Confirm all of a sentence, or take that back; raises HeadspanError if it is not a tree."""

    name = "confirm-sentence"

    def apply(self, sentences: Sequence[Sentence], desk: Desk) -> list[Sentence]:
        (sentence,) = sentences
        if is_confirmed(sentence):
            return [with_comment(sentence, CONFIRMED, None)]
        whole = desk.shown(sentence)
        check_whole(whole)
        return [with_comment(with_comment(whole, PARSED, None), CONFIRMED, desk.annotator)]


@dataclass(frozen=True, slots=True)
class ChooseTree(Operation):
    """Take another one of the best trees; the arcs by which it differs are confirmed."""

    name = "choose"
    rank: int
    """From 1."""

    def apply(self, sentences: Sequence[Sentence], desk: Desk) -> list[Sentence]:
        (sentence,) = sentences
        opened = desk.opened(sentence)
        trees = desk.assistant.alternatives(opened, confirmed(opened), ALTERNATIVES)
        if not 1 <= self.rank <= len(trees):
            raise HeadspanError(f"there is no tree {self.rank}; the sentence has {len(trees)}")
        tree = trees[self.rank - 1]
        changed = opened.with_parse(tree.heads, tree.deprels)
        for k in range(1, len(opened) + 1):
            if tree.heads[k - 1] != opened.heads[k - 1]:
                changed = with_mark(changed, k, HEAD, desk.annotator)
            elif tree.deprels[k - 1] != opened.deprels[k - 1]:
                for name in (HEAD, RELATION):
                    changed = with_mark(changed, k, name, desk.annotator)
        return [released(opened, changed)]


@dataclass(frozen=True, slots=True)
class Reparse(Operation):
    """Parse all that is not confirmed again, and from now on after each correction."""

    name = "reparse"

    def apply(self, sentences: Sequence[Sentence], desk: Desk) -> list[Sentence]:
        (sentence,) = sentences
        opened = with_comment(desk.opened(sentence), PARSED, desk.assistant.name)
        return [desk.parsed_again(opened)]


@dataclass(frozen=True, slots=True)
class SplitWord(Operation):
    """Divide a word of the text into several that spell it."""

    name = "split-word"
    word: int
    forms: tuple[str, ...]

    def apply(self, sentences: Sequence[Sentence], desk: Desk) -> list[Sentence]:
        (sentence,) = sentences
        divided = split_word(desk.opened(sentence), self.word, self.forms)
        return [_completed(divided, self.word, len(self.forms), desk)]


@dataclass(frozen=True, slots=True)
class SplitToken(Operation):
    """Make a word a multiword token of several words."""

    name = "split-token"
    word: int
    forms: tuple[str, ...]

    def apply(self, sentences: Sequence[Sentence], desk: Desk) -> list[Sentence]:
        (sentence,) = sentences
        divided = split_token(desk.opened(sentence), self.word, self.forms)
        return [_completed(divided, self.word, len(self.forms), desk)]


@dataclass(frozen=True, slots=True)
class JoinWords(Operation):
    """Make a word and the next one a single word."""

    name = "join-words"
    word: int

    def apply(self, sentences: Sequence[Sentence], desk: Desk) -> list[Sentence]:
        (sentence,) = sentences
        return [_completed(join_words(desk.opened(sentence), self.word), self.word, 1, desk)]


@dataclass(frozen=True, slots=True)
class JoinToken(Operation):
    """Make the multiword token around a word a single word."""

    name = "join-token"
    word: int

    def apply(self, sentences: Sequence[Sentence], desk: Desk) -> list[Sentence]:
        (sentence,) = sentences
        opened = desk.opened(sentence)
        joined = join_token(opened, self.word)
        first = next(t.first for t in opened.multiwords if t.first <= self.word <= t.last)
        return [_completed(joined, first, 1, desk)]


@dataclass(frozen=True, slots=True)
class SplitSentence(Operation):
    """Divide a sentence after a word."""

    name = "split-sentence"
    word: int

    def apply(self, sentences: Sequence[Sentence], desk: Desk) -> list[Sentence]:
        (sentence,) = sentences
        too_long = len(sentence) > limits.LONGEST_DENSE and NO_HEAD in sentence.heads
        opened = sentence if too_long else desk.opened(sentence)
        halves = split_sentence(opened, self.word, desk.sent_ids())
        return [_parsed_along(half, desk) for half in halves]


@dataclass(frozen=True, slots=True)
class JoinSentences(Operation):
    """Make a sentence and the next one a single sentence."""

    name = "join-sentences"
    takes = 2

    def apply(self, sentences: Sequence[Sentence], desk: Desk) -> list[Sentence]:
        first, second = map(desk.opened, sentences)
        return [_parsed_along(join_sentences(first, second), desk)]


OPERATIONS: dict[str, type[Operation]] = {
    kind.name: kind
    for kind in (
        SetHead, SetRelation, SetColumn, ConfirmArc, ConfirmSpan, ConfirmSentence, ChooseTree,
        Reparse, SplitWord, SplitToken, JoinWords, JoinToken, SplitSentence, JoinSentences,
    )
}  # fmt: skip
"""All operations by their names."""


def read_operation(table: Mapping[str, Any]) -> Operation:
    """An operation from plain values, as from JSON: `do` is its name; raises HeadspanError."""
    name = table.get("do")
    kind = OPERATIONS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise HeadspanError(f"the operation is {shown(name)}; expected one of "
                            f"{', '.join(OPERATIONS)}")  # fmt: skip
    hints = get_type_hints(kind)
    known = {field.name: hints[field.name] for field in fields(kind)}
    for key in table:
        if key != "do" and key not in known:
            raise HeadspanError(f"{name}: unknown field {shown(key)}")
    values = {}
    for key, hint in known.items():
        if key not in table:
            if type(None) in get_args(hint):
                continue
            raise HeadspanError(f"{name}: the field {key} is missing")
        values[key] = _read(name, key, table[key], hint)
    return kind(**values)


def _read(name: object, key: str, value: Any, hint: Any) -> Any:
    if hint is int:
        if type(value) is int:
            return value
        raise HeadspanError(f"{name}: {key} is {shown(value)}; expected a whole number")
    if hint == tuple[str, ...]:
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return tuple(value)
        raise HeadspanError(f"{name}: {key} is {shown(value)}; expected a list of words")
    if isinstance(value, str) or (value is None and hint is not str):
        return value
    raise HeadspanError(f"{name}: {key} is {shown(value)}; expected a string")


def checked_value(value: str) -> str:
    """A value for a column, without white space around it; raises HeadspanError."""
    value = value.strip()
    if not value or len(value) > _LONGEST or not value.isprintable():
        raise HeadspanError(
            f"the value is {shown(value)}; expected 1 to {_LONGEST:,} printable characters"
        )
    return value


def sorted_features(value: str) -> str:
    """Features in the order of CoNLL-U; raises HeadspanError if they are not features."""
    if value == "_":
        return value
    features = {}
    for feature in value.split("|"):
        key, _, own = feature.partition("=")
        if not key or not own or " " in feature or key in features:
            raise HeadspanError(
                f"the features have {shown(feature)}; expected Name=Value, each name once, "
                "with | between them"
            )
        features[key] = own
    return "|".join(f"{key}={features[key]}" for key in sorted(features, key=str.lower))


def _with_relation(sentence: Sentence, word: int, relation: str, annotator: str) -> Sentence:
    name = checked_value(relation)
    if " " in name or "|" in name:
        raise HeadspanError(f"the relation is {shown(name)}; expected one without spaces or |")
    deprels = (*sentence.deprels[: word - 1], name, *sentence.deprels[word:])
    changed = sentence.with_parse(sentence.heads, deprels)
    return with_mark(with_mark(changed, word, HEAD, annotator), word, RELATION, annotator)


def _parsed_along(sentence: Sentence, desk: Desk) -> Sentence:
    return desk.parsed_again(sentence) if desk.parses_along(sentence) else sentence


def _completed(sentence: Sentence, word: int, count: int, desk: Desk) -> Sentence:
    """A sentence with new words: with tags, and with arcs or relations of the parser."""
    words = range(word, word + count)
    tagged = desk.assistant.tagged(sentence, words)
    if desk.parses_along(tagged):
        return desk.parsed_again(tagged)
    names = desk.assistant.relations(tagged, tagged.heads)
    deprels = [names[k - 1] if k in words[1:] else old for k, old in enumerate(tagged.deprels, 1)]
    return tagged.with_parse(tagged.heads, deprels)
