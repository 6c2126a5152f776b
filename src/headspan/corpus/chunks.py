"""Chunks: the pieces into which a corpus is cut, each of which becomes a shard.

How a corpus is cut depends on its text and on the size of a chunk alone. So chunk k is the same in
every run, whoever parses it, and whatever happened before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

from headspan.conllu import Format

_LINE_OF_CONLL = 6  # characters of text that a line of CoNLL counts as: a word and a space


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read or parsed, and why. The rest went on."""

    reason: str
    file: str = ""
    line: int = 0
    """0 if it is not about a line."""
    document: str = ""
    sentence: str = ""
    """A sent_id, if it is about a sentence."""


@dataclass(frozen=True, slots=True)
class Text:
    """A document of running text, or a part of one that is longer than a chunk."""

    document: str
    text: str
    file: str
    line: int
    offset: int = 0
    """Of its first character in the document."""
    first: bool = True
    """Whether it is the document's first part."""
    begins: bool = True
    """Whether it begins with a paragraph."""

    @property
    def size(self) -> int:
        return len(self.text) + 1


@dataclass(frozen=True, slots=True)
class Words:
    """A document whose sentences and words are given."""

    document: str
    sentences: tuple[tuple[str, ...], ...]
    file: str
    line: int
    first: bool = True

    @property
    def size(self) -> int:
        return 1 + sum(len(word) + 1 for words in self.sentences for word in words)


@dataclass(frozen=True, slots=True)
class Conll:
    """A sentence as its lines in a CoNLL file, and the document that it is said to be in."""

    document: str
    data: bytes
    file: str
    line: int
    format: Format | None

    @property
    def size(self) -> int:
        return _LINE_OF_CONLL * self.data.count(b"\n") + 1


Part: TypeAlias = Text | Words | Conll


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a corpus, and what could not be read around it."""

    number: int
    """0, 1, 2 … in the order of the corpus."""
    parts: tuple[Part, ...]
    problems: tuple[Problem, ...] = ()
    last: bool = False
    """Whether it is the corpus's last; there is one even in an empty corpus."""
    read: int = field(default=0, compare=False)
    """How many bytes of the files it took, as they lie on the disk."""

    @property
    def name(self) -> str:
        """What its shard is called, but for the ending."""
        return f"part-{self.number:05}"

    @property
    def place(self) -> str:
        """Where it begins, for a message."""
        if not self.parts:
            return "the end" if self.last else self.name
        return f"{self.parts[0].file}:{self.parts[0].line}"

    def to_json(self) -> str:
        """All of it, for another process."""
        parts = [{"kind": type(part).__name__, **asdict(part)} for part in self.parts]
        for part in parts:
            if isinstance(part.get("data"), bytes):
                part["data"] = part["data"].decode("latin-1")
        return json.dumps({**asdict(self), "parts": parts})

    @classmethod
    def from_json(cls, text: str) -> Chunk:
        """What `to_json` gave."""
        table = json.loads(text)
        parts = tuple(map(_part, table["parts"]))
        return cls(**{**table, "parts": parts, "problems": _problems(table)})

    def fingerprint(self) -> str:
        """The SHA-256 of all that its parse depends on."""
        content = [self.last, *map(_values, self.parts), *map(_values, self.problems)]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _part(table: Mapping[str, Any]) -> Part:
    given = {name: value for name, value in table.items() if name != "kind"}
    if table["kind"] == "Text":
        return Text(**given)
    if table["kind"] == "Words":
        return Words(**{**given, "sentences": tuple(map(tuple, given["sentences"]))})
    return Conll(**{**given, "data": given["data"].encode("latin-1")})


def _problems(table: Mapping[str, Any]) -> tuple[Problem, ...]:
    return tuple(Problem(**problem) for problem in table["problems"])


def _values(item: Part | Problem) -> list[object]:
    values = [getattr(item, name) for name in item.__slots__]
    if isinstance(item, Conll):
        values.append(item.data.decode("latin-1"))
        values.remove(item.data)
    return [type(item).__name__, *values]


@dataclass(frozen=True, slots=True)
class Shard:
    """What became of a chunk."""

    number: int
    input: str
    """The chunk's fingerprint."""
    start: str
    """Where it begins in the corpus."""
    name: str = ""
    """Of the file; empty if the chunk as a whole failed."""
    size: int = 0
    """Of the file, in bytes."""
    sha256: str = ""
    sentences: int = 0
    words: int = 0
    last: bool = False
    read: int = 0
    problems: tuple[Problem, ...] = ()

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Shard:
        """From its fields as they stand in JSON."""
        return cls(**{**table, "problems": _problems(table)})

    @classmethod
    def failed(cls, chunk: Chunk, reason: str) -> Shard:
        """For a chunk that could not be parsed at all."""
        why = f"{chunk.name} is missing: {reason}"
        problem = Problem(why)
        for part in chunk.parts[:1]:
            problem = Problem(why, part.file, part.line, part.document)
        return cls(
            chunk.number, chunk.fingerprint(), chunk.place, last=chunk.last, read=chunk.read,
            problems=(*chunk.problems, problem),
        )  # fmt: skip


class Packer:
    """Puts parts together to chunks of at most `size` characters, unless one part has more."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._number = 0
        self._parts: list[Part] = []
        self._problems: list[Problem] = []
        self._filled = 0

    def add(self, item: Part | Problem) -> Iterator[Chunk]:
        """Take a part, or what could not be read; gives the chunk that was full before, if any."""
        more = 0 if isinstance(item, Problem) else item.size
        if (self._filled and self._filled + more > self.size) or len(self._problems) >= 1000:
            yield self._chunk(last=False)
        if isinstance(item, Problem):
            self._problems.append(item)
        else:
            self._parts.append(item)
            self._filled += more

    def rest(self) -> Chunk:
        """The last chunk."""
        return self._chunk(last=True)

    def _chunk(self, *, last: bool) -> Chunk:
        chunk = Chunk(self._number, tuple(self._parts), tuple(self._problems), last)
        self._number += 1
        self._parts, self._problems, self._filled = [], [], 0
        return chunk
