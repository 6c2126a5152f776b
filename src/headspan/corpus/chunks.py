"""Chunks: the pieces into which a corpus is cut, each of which becomes a shard.

Where a corpus is cut depends only on its text and on the size of a chunk. So chunk k is the same in
every run, whichever process parses it and whatever happened before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, TypeAlias

from headspan.conllu import Format

_CHARACTERS_PER_LINE = 6
"""The text that a line of CoNLL counts as: a word and a space."""
_MOST_SKIPPED = 1000
"""Skipped inputs that a chunk records; if there are more, they go into the next one."""


@dataclass(frozen=True, slots=True)
class SkippedInput:
    """A piece of input that could not be read or parsed, and why. The run continued without it."""

    reason: str
    file: str = ""
    line: int = 0
    """0 if it is not a particular line."""
    document: str = ""
    sentence: str = ""
    """The sent_id, if it is a sentence."""

    kind: ClassVar = "Problem"
    """The name of the class in fingerprints, as with the parts."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """A document of running text, or a part of one that is longer than a chunk."""

    document: str
    text: str
    file: str
    line: int
    offset: int = 0
    """The position of its first character in the document."""
    first: bool = True
    """Whether it is the first part of the document."""
    begins_paragraph: bool = True

    kind: ClassVar = "Text"

    @property
    def size(self) -> int:
        return len(self.text) + 1


@dataclass(frozen=True, slots=True)
class WordsPart:
    """A document, or a part of one, whose sentences and words are given."""

    document: str
    sentences: tuple[tuple[str, ...], ...]
    file: str
    line: int
    first: bool = True
    """Whether it is the first part of the document."""

    kind: ClassVar = "Words"

    @property
    def size(self) -> int:
        return 1 + sum(len(word) + 1 for words in self.sentences for word in words)


@dataclass(frozen=True, slots=True)
class ConllPart:
    """The lines of a sentence in a CoNLL file, and the document that the file says it is in."""

    document: str
    data: bytes
    file: str
    line: int
    format: Format | None

    kind: ClassVar = "Conll"

    @property
    def size(self) -> int:
        return _CHARACTERS_PER_LINE * self.data.count(b"\n") + 1


Part: TypeAlias = TextPart | WordsPart | ConllPart


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a corpus, and the input around it that could not be read."""

    number: int
    """0, 1, 2 … in the order of the corpus."""
    parts: tuple[Part, ...]
    skipped: tuple[SkippedInput, ...] = ()
    last: bool = False
    """Whether it is the last chunk of the corpus; even an empty corpus has one."""
    bytes_read: int = field(default=0, compare=False)
    """Bytes of the input files that it took, compressed if they are."""

    @property
    def name(self) -> str:
        """The name of its shard, without the suffix."""
        return f"part-{self.number:05}"

    @property
    def location(self) -> str:
        """The place in the corpus where it begins, for messages."""
        if not self.parts:
            return "the end" if self.last else self.name
        return f"{self.parts[0].file}:{self.parts[0].line}"

    def to_json(self) -> str:
        """All of it as text, for another process: nothing is ever unpickled."""
        parts = [{"kind": part.kind, **asdict(part)} for part in self.parts]
        for part in parts:
            if isinstance(part.get("data"), bytes):
                part["data"] = part["data"].decode("latin-1")
        return json.dumps({**asdict(self), "parts": parts})

    @classmethod
    def from_json(cls, text: str) -> Chunk:
        """The chunk from which `to_json` made the text."""
        table = json.loads(text)
        table["parts"] = tuple(map(_part_from_table, table["parts"]))
        table["skipped"] = tuple(SkippedInput(**skipped) for skipped in table["skipped"])
        return cls(**table)

    def fingerprint(self) -> str:
        """The SHA-256 of everything that its parse depends on."""
        content = [self.last, *map(_values, self.parts), *map(_values, self.skipped)]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _part_from_table(table: Mapping[str, Any]) -> Part:
    fields = {name: value for name, value in table.items() if name != "kind"}
    if table["kind"] == TextPart.kind:
        return TextPart(**fields)
    if table["kind"] == WordsPart.kind:
        return WordsPart(**{**fields, "sentences": tuple(map(tuple, fields["sentences"]))})
    return ConllPart(**{**fields, "data": fields["data"].encode("latin-1")})


def _values(item: Part | SkippedInput) -> list[object]:
    values = [getattr(item, name) for name in item.__slots__]
    if isinstance(item, ConllPart):
        values.append(item.data.decode("latin-1"))
        values.remove(item.data)
    return [item.kind, *values]


@dataclass(frozen=True, slots=True)
class Shard:
    """The outcome of a chunk: a file, unless the chunk as a whole failed."""

    number: int
    input_sha256: str
    """The chunk's fingerprint."""
    start: str
    """The place in the corpus where the chunk begins."""
    name: str = ""
    """The name of the file; empty if the chunk as a whole failed."""
    size: int = 0
    """The size of the file, in bytes."""
    sha256: str = ""
    sentences: int = 0
    words: int = 0
    last: bool = False
    bytes_read: int = 0
    skipped: tuple[SkippedInput, ...] = ()

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Shard:
        """Make a shard from its fields in JSON."""
        skipped = tuple(SkippedInput(**fields) for fields in table["skipped"])
        return cls(**{**table, "skipped": skipped})

    @classmethod
    def failed(cls, chunk: Chunk, reason: str) -> Shard:
        """The outcome of a chunk that could not be parsed at all."""
        skipped = SkippedInput(f"{chunk.name} is missing: {reason}")
        for part in chunk.parts[:1]:
            skipped = SkippedInput(skipped.reason, part.file, part.line, part.document)
        return cls(
            chunk.number, chunk.fingerprint(), chunk.location, last=chunk.last,
            bytes_read=chunk.bytes_read, skipped=(*chunk.skipped, skipped),
        )  # fmt: skip


class Packer:
    """Packs parts into chunks of at most `size` characters, or of one part that has more."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._number = 0
        self._parts: list[Part] = []
        self._skipped: list[SkippedInput] = []
        self._filled = 0

    def add(self, item: Part | SkippedInput) -> Iterator[Chunk]:
        """Take a part or a skipped input; yields the chunk that was full before it, if any."""
        size = 0 if isinstance(item, SkippedInput) else item.size
        full = self._filled and self._filled + size > self.size
        if full or len(self._skipped) >= _MOST_SKIPPED:
            yield self._chunk(last=False)
        if isinstance(item, SkippedInput):
            self._skipped.append(item)
        else:
            self._parts.append(item)
            self._filled += size

    def last(self) -> Chunk:
        """The last chunk."""
        return self._chunk(last=True)

    def _chunk(self, *, last: bool) -> Chunk:
        chunk = Chunk(self._number, tuple(self._parts), tuple(self._skipped), last)
        self._number += 1
        self._parts, self._skipped, self._filled = [], [], 0
        return chunk
