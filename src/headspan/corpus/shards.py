"""From a chunk to its shard: a file that is there whole, or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from headspan import conllu
from headspan.corpus import parquet
from headspan.corpus.chunks import Chunk, Problem, Shard
from headspan.corpus.parsing import Options, Parsed, parse_chunk, why_failed
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import open_output, reason

if TYPE_CHECKING:
    from headspan.model.parser import Parser

ShardFormat: TypeAlias = Literal["conllu", "parquet"]
Compression: TypeAlias = Literal["none", "gz", "xz"]


def load(model: str, threads: int) -> Parser:
    """The parser of a model, in a process that keeps to so many threads."""
    import torch

    from headspan.model.parser import Parser

    torch.set_num_threads(threads)
    return Parser.load(model)


@dataclass(frozen=True, slots=True)
class Work:
    """All that a process has to know to turn chunks into shards."""

    model: str
    folder: Path
    format: ShardFormat = "conllu"
    compress: Compression = "none"
    options: Options = field(default_factory=Options)
    threads: int = 1
    load: Callable[[str, int], Parser] = load

    def parser(self) -> Parser:
        """The model, loaded in this process."""
        parser = self.load(self.model, self.threads)
        return parser.use_int8() if self.options.int8 else parser

    def ending(self) -> str:
        """What the names of shards end with."""
        packed = self.format == "conllu" and self.compress != "none"
        return f".{self.format}" + (f".{self.compress}" if packed else "")

    def shard(self, parser: Parser, chunk: Chunk) -> Shard:
        """Parse a chunk and put its shard in place.

        Whatever goes wrong with the chunk is recorded. Raises HeadspanError if the shard cannot be
        written, which is the matter of all chunks.
        """
        try:
            parsed = parse_chunk(parser, chunk, self.options)
            if self.format == "parquet":
                write, good = self._parquet(parsed)
            else:
                write, good = self._conllu(parsed)
        except Exception as error:
            return Shard.failed(chunk, why_failed(error))
        path = self.folder / f"{chunk.name}{self.ending()}"
        try:
            with open_output(path) as stream:
                write(stream)
            sync(self.folder)
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                size = file.tell()
        except OSError as error:
            raise HeadspanError(f"{path}: cannot be written: {reason(error)}") from error
        return Shard(
            chunk.number, chunk.fingerprint(), chunk.place, path.name, size, digest,
            sentences=sum(1 for words in good if words), words=sum(good),
            last=chunk.last, read=chunk.read, problems=tuple(parsed.problems),
        )  # fmt: skip

    def _conllu(self, parsed: Parsed) -> tuple[Callable[..., object], Sequence[int]]:
        """What writes the sentences, and how many words each has."""
        texts: list[bytes] = []
        good: list[int] = []
        for document, parse in parsed.sentences:
            sentence = parse.with_confidences() if self.options.confidence else parse
            try:
                texts.append(conllu.to_text([sentence]).encode())
            except (HeadspanError, UnicodeEncodeError) as error:  # what no file has a place for
                why = why_failed(error)
                parsed.problems.append(
                    Problem(why, document=document, sentence=parse.sent_id or "")
                )
                continue
            good.append(len(parse))
        return lambda stream: stream.write(b"".join(texts)), good

    def _parquet(self, parsed: Parsed) -> tuple[Callable[..., object], Sequence[int]]:
        rows = [(document, parse) for document, parse in parsed.sentences if len(parse)]
        found = parquet.table(rows, confidence=self.options.confidence)
        return lambda stream: parquet.write(found, stream), [len(parse) for _, parse in rows]


def sync(folder: Path) -> None:
    """Make sure that the names in a folder outlive a power failure."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
