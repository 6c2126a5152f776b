"""Session: a file that is being annotated, with all that was changed, undone and saved."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headspan import conllu
from headspan.annotate.agreement import Agreement, OtherAnnotator, agreement
from headspan.annotate.assistant import Assistant, Opinion
from headspan.annotate.confirmations import (
    Confirmed,
    check_annotator,
    confirmed,
    is_confirmed,
)
from headspan.annotate.desk import Desk
from headspan.annotate.journal import Journal
from headspan.annotate.opening import opened
from headspan.annotate.operations import ALTERNATIVES, ConfirmSentence, Operation
from headspan.annotate.validation import UPOS, Lists, Problem, problems
from headspan.annotate.work_order import Entry, Filters, Order, numbers
from headspan.conllu import Sentence
from headspan.model.parse_result import Tree
from headspan.model.parser import Parser
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import open_output

_EVERYTHING = Filters()


class StaleError(HeadspanError):
    """A change that was meant for an older state: another window has changed the file since."""


@dataclass(frozen=True, slots=True)
class Change:
    """Some sentences, from a number on, and those that took their place."""

    at: int
    before: tuple[Sentence, ...]
    after: tuple[Sentence, ...]
    name: str
    """The name of the operation."""

    @property
    def reversed(self) -> Change:
        """The change that takes it back."""
        return Change(self.at, self.after, self.before, self.name)


@dataclass(frozen=True, slots=True)
class View:
    """A sentence as an annotator sees it."""

    number: int
    sentence: Sentence
    confirmed: Confirmed
    parses_along: bool
    """Whether what is not confirmed is the parser's, and parsed again after each correction."""
    opinion: Opinion | None
    """None if the sentence is too long for the parser."""
    problems: list[Problem]
    before: Sentence | None
    """The sentence before the last change, if it has the same words."""
    other: Sentence | None
    """The second annotator's sentence."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How much is done."""

    sentences: int
    confirmed: int
    words: int
    """The words of confirmed sentences."""
    looked_at: int
    """The sentences whose certainty is known."""
    corrections: list[int] = field(default_factory=list)
    """For each sentence confirmed in this session, the arcs that differ from the first proposal."""


class Session:
    """The sentences of a file, their history, and the journal; it can be shared among threads.

    Each change is in the journal before it is made, and the output is written by `save`. Raises
    HeadspanError where a change is not possible; then nothing has changed.
    """

    def __init__(
        self,
        sentences: Iterable[Sentence],
        assistant: Assistant,
        *,
        annotator: str,
        journal: Journal | None = None,
        other: OtherAnnotator | None = None,
    ) -> None:
        self.annotator = check_annotator(annotator)
        self.assistant = assistant
        self.other = other
        self._entries = [Entry(sentence) for sentence in sentences]
        self._journal = journal
        self._lock = threading.RLock()
        self._done: list[Change] = []
        self._undone: list[Change] = []
        self._revision = 0
        self._agreement: tuple[int, Agreement] | None = None  # and its revision
        self._unsaved = False
        self._stamp = self._file_stamp()
        self._first: dict[str | int, Sentence] = {}
        self._corrections: list[int] = []
        self._desk = Desk(assistant, annotator, self._sent_ids)
        self.lists = Lists(entry.sentence for entry in self._entries)
        self.lists.offer("upos", UPOS)
        vocabularies = assistant.parser.vocabularies
        self.lists.offer("deprels", vocabularies.relations)
        for column in {"xpos", "feats"} & set(vocabularies.tags):
            self.lists.offer(column, vocabularies.tags[column].names)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        parser: Parser,
        *,
        annotator: str,
        output: str | os.PathLike[str] | None = None,
        against: str | os.PathLike[str] | None = None,
        model: str = "headspan",
    ) -> Session:
        """A session over a CoNLL-U or text file, new or resumed.

        output: the file to write, `NAME.annotated.conllu` by default; if it is there, the work in
        it goes on. It is not the input unless it is named so. against: a second annotator's file.
        model: the model's name. Raises HeadspanError.
        """
        check_annotator(annotator)
        other = None
        if against is not None:
            other = OtherAnnotator(conllu.read(against), os.fspath(against))
        sentences, journal, changes = opened(Path(path), parser, output)
        assistant = Assistant(parser, model)
        session = cls(sentences, assistant, annotator=annotator, journal=journal, other=other)
        session._resume(*changes)
        return session

    # Reading.

    @property
    def revision(self) -> int:
        """A number that grows with each change."""
        return self._revision

    @property
    def sentences(self) -> list[Sentence]:
        """The sentences as they are in the file now."""
        with self._lock:
            return [entry.sentence for entry in self._entries]

    @property
    def output(self) -> Path | None:
        """The file that is written."""
        return self._journal.output if self._journal else None

    @property
    def unsaved(self) -> bool:
        """Whether there are changes that only the journal has."""
        return self._unsaved

    @property
    def can_undo(self) -> bool:
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        return bool(self._undone)

    def view(self, number: int) -> View:
        """A sentence with all that is known about it."""
        with self._lock:
            entry = self._entry(number)
            last = next((c for c in reversed(self._done) if c.at == number), None)
        sentence, opinion = entry.sentence, None
        fixed = confirmed(sentence)
        if len(sentence):
            try:
                sentence = self._desk.shown(sentence)
                fixed = confirmed(sentence)
                opinion = self.assistant.opinion(sentence, fixed)
            except HeadspanError:  # too long, or not a tree
                opinion = None
        with self._lock:
            if self._entries[number - 1 : number] == [entry]:
                _note(entry, sentence, opinion, fixed)
                self._first.setdefault(_key(entry.sentence, number), sentence)
        before = None
        if last is not None and len(last.before) == len(last.after) == 1:
            before = self._desk.shown(last.before[0])
        return View(
            number=number,
            sentence=sentence,
            confirmed=fixed,
            parses_along=self._desk.parses_along(sentence),
            opinion=opinion,
            problems=problems(sentence, self.lists),
            before=before if before and before.forms == sentence.forms else None,
            other=self.other.counterpart(sentence) if self.other else None,
        )

    def alternatives(self, number: int) -> list[Tree]:
        """The best trees of a sentence with all that is confirmed; none if it is too long."""
        with self._lock:
            sentence = self._entry(number).sentence
        if not len(sentence):
            return []
        try:
            shown = self._desk.shown(sentence)
            return self.assistant.alternatives(shown, confirmed(shown), ALTERNATIVES)
        except HeadspanError:
            return []

    def best(self, number: int) -> Sentence | None:
        """The sentence with the best tree that has all that is confirmed, if there is one."""
        with self._lock:
            sentence = self._entry(number).sentence
        try:
            shown = self._desk.shown(sentence)
            tree = self.assistant.tree(shown, confirmed(shown))
            return shown.with_parse(tree.heads, tree.deprels)
        except HeadspanError:
            return None

    def numbers(self, order: Order = "file", filters: Filters = _EVERYTHING) -> list[int]:
        """The numbers of sentences to work on, in an order."""
        with self._lock:
            return numbers(self._entries, order, filters)

    def entry(self, number: int) -> Entry:
        """What is known about a sentence without asking the parser."""
        with self._lock:
            return self._entry(number)

    def progress(self) -> Progress:
        """How much is done."""
        with self._lock:
            entries = [entry for entry in self._entries if len(entry.sentence)]
            done = [entry for entry in entries if is_confirmed(entry.sentence)]
            return Progress(
                sentences=len(entries),
                confirmed=len(done),
                words=sum(len(entry.sentence) for entry in done),
                looked_at=sum(entry.lowest is not None for entry in entries),
                corrections=list(self._corrections),
            )

    def agreement(self) -> Agreement | None:
        """How far the file agrees with the second annotator's, if there is one."""
        if self.other is None:
            return None
        with self._lock:
            if self._agreement is None or self._agreement[0] != self._revision:
                self._agreement = self._revision, agreement(self.sentences, self.other)
            return self._agreement[1]

    def confirmed_sentences(self) -> list[Sentence]:
        """The sentences that are confirmed, to learn from."""
        return [sentence for sentence in self.sentences if is_confirmed(sentence)]

    def look_at_next(self) -> bool:
        """Find out how certain the parser is of one more sentence; False if all are known."""
        with self._lock:
            entry = next((e for e in self._entries if len(e.sentence) and e.lowest is None), None)
        if entry is None:
            return False
        try:
            shown = self._desk.shown(entry.sentence)
            fixed = confirmed(shown)
            _note(entry, shown, self.assistant.opinion(shown, fixed), fixed)
        except HeadspanError:
            _note(entry, entry.sentence, None, confirmed(entry.sentence))
        return True

    def learn(self, parser: Parser) -> None:
        """Go on with a better parser; certainties are found out again."""
        with self._lock:
            self.assistant.learn(parser)
            for entry in self._entries:
                if not is_confirmed(entry.sentence):
                    entry.shown = entry.lowest = entry.entropy = None

    # Changing.

    def do(self, operation: Operation, *, revision: int | None = None) -> Change:
        """Make a change; raises StaleError if the revision is not the current one."""
        with self._lock:
            self._check(revision)
            first = operation.sentence - 1
            taken = self._entries[first : first + operation.takes] if first >= 0 else []
            if len(taken) < operation.takes:
                raise HeadspanError(
                    f"there is no sentence {operation.sentence + operation.takes - 1}; "
                    f"the file has {len(self._entries)}"
                )
            before = tuple(entry.sentence for entry in taken)
            for number, sentence in enumerate(before, operation.sentence):
                if not len(sentence):
                    raise HeadspanError(
                        f"sentence {number} is a block of comments; expected one with words"
                    )
            after = tuple(operation.apply(before, self._desk))
            change = Change(operation.sentence, before, after, operation.name)
            self._record(_as_table(change))
            self._done.append(change)
            self._undone.clear()
            self._put(change)
            if isinstance(operation, ConfirmSentence) and is_confirmed(after[0]):
                self._count_corrections(operation.sentence, before[0], after[0])
            return change

    def undo(self, *, revision: int | None = None) -> Change:
        """Take the last change back; returns what that changed."""
        return self._step(self._done, self._undone, "undo", revision)

    def redo(self, *, revision: int | None = None) -> Change:
        """Make the change again that was taken back last."""
        return self._step(self._undone, self._done, "redo", revision)

    def _step(
        self, source: list[Change], target: list[Change], name: str, revision: int | None
    ) -> Change:
        with self._lock:
            self._check(revision)
            if not source:
                raise HeadspanError(f"there is nothing to {name}")
            self._record({"step": name})
            change = source.pop()
            target.append(change)
            made = change.reversed if name == "undo" else change
            self._put(made)
            return made

    def _put(self, change: Change) -> None:
        first = change.at - 1
        self._entries[first : first + len(change.before)] = map(Entry, change.after)
        for sentence in change.after:
            self.lists.use(sentence)
        self._revision += 1
        self._unsaved = True

    def _record(self, table: dict[str, Any]) -> None:
        if self._journal is not None:
            self._journal.add(table)

    def _check(self, revision: int | None) -> None:
        if revision is not None and revision != self._revision:
            raise StaleError("another window has changed the file; it is shown as it is now")

    def _entry(self, number: int) -> Entry:
        if not 1 <= number <= len(self._entries):
            raise HeadspanError(f"there is no sentence {number}; the file has {len(self._entries)}")
        return self._entries[number - 1]

    def _sent_ids(self) -> set[str]:
        return {e.sentence.sent_id for e in self._entries if e.sentence.sent_id is not None}

    def _count_corrections(self, number: int, before: Sentence, after: Sentence) -> None:
        first = self._first.get(_key(before, number))
        if first is not None and first.forms == after.forms:
            arcs = zip(first.heads, first.deprels, after.heads, after.deprels, strict=True)
            self._corrections.append(sum((h, r) != (g, s) for h, r, g, s in arcs))

    # Saving.

    def save(self) -> None:
        """Write the output, whole or not at all; raises HeadspanError if another program did."""
        with self._lock:
            if self._journal is None or not self._unsaved:
                return
            if self._file_stamp() != self._stamp:
                raise HeadspanError(
                    f"{self._journal.output}: was changed by another program; your work is in "
                    f"{self._journal.path.name}, and the file is not written over"
                )
            content = conllu.to_text(self.sentences).encode()
            self._journal.announce(content)
            with open_output(self._journal.output) as stream:
                stream.write(content)
            self._stamp = self._file_stamp()
            self._unsaved = False

    def close(self) -> None:
        """Write the output and end the session; the journal is then no longer needed."""
        self.save()
        with self._lock:
            if self._journal is not None:
                self._journal.remove()
                self._journal = None

    def abandon(self) -> None:
        """End the session without writing; what is in the journal is found when it is resumed."""
        with self._lock:
            if self._journal is not None:
                self._journal.close()
                self._journal = None

    def _file_stamp(self) -> tuple[int, int, int] | None:
        if self._journal is None or not self._journal.output.exists():
            return None
        status = self._journal.output.stat()
        return status.st_ino, status.st_size, status.st_mtime_ns

    def _resume(self, changes: Sequence[dict[str, Any]], saved: int) -> None:
        """Make the changes of an interrupted session again; the file has some of them already."""
        for table in changes[:saved]:
            self._replay(table, known=True)
        for table in changes[saved:]:
            self._replay(table, known=False)
        self._unsaved = len(changes) > saved

    def _replay(self, table: dict[str, Any], *, known: bool) -> None:
        step = table.get("step")
        if step is None:
            made = change = _from_table(table)
            self._done.append(change)
            self._undone.clear()
        else:
            source, target = self._done, self._undone
            if step == "redo":
                source, target = target, source
            change = source.pop()
            target.append(change)
            made = change.reversed if step == "undo" else change
        if not known:
            self._put(made)


def _note(entry: Entry, shown: Sentence, opinion: Opinion | None, fixed: Confirmed) -> None:
    entry.shown = shown
    entry.lowest, entry.weakest, entry.entropy = 1.0, 0, 0.0
    if opinion is None or is_confirmed(shown):
        return
    entry.entropy = opinion.entropy
    open_words = [
        k for k in range(1, len(shown) + 1) if k not in fixed.heads or k not in fixed.relations
    ]
    if open_words:
        entry.weakest = min(open_words, key=lambda k: opinion.confidences[k - 1])
        entry.lowest = opinion.confidences[entry.weakest - 1]


def _key(sentence: Sentence, number: int) -> str | int:
    return sentence.sent_id or number


def _as_table(change: Change) -> dict[str, Any]:
    return {
        "at": change.at,
        "before": [conllu.to_text([sentence]) for sentence in change.before],
        "after": [conllu.to_text([sentence]) for sentence in change.after],
        "name": change.name,
    }


def _from_table(table: dict[str, Any]) -> Change:
    sides = []
    for side in ("before", "after"):
        sentences = tuple(next(iter(conllu.parse(text))) for text in table[side])
        sides.append(sentences)
    return Change(table["at"], sides[0], sides[1], table["name"])
