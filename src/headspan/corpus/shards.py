"""From a chunk to its shard: a file that is complete, or does not exist."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from headspan import conllu
from headspan.corpus import parquet
from headspan.corpus.chunks import Chunk, Shard, SkippedInput
from headspan.corpus.parsing import CorpusOptions, ParsedChunk, parse_chunk, why_failed
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import open_output, reason, sync
from headspan.plumbing.threads import set_threads

if TYPE_CHECKING:
    from headspan.model.parser import Parser

ShardFormat: TypeAlias = Literal["conllu", "parquet"]
Compression: TypeAlias = Literal["none", "gz", "xz"]


def load_parser(model: str, threads: int) -> Parser:
    """Load the parser of a model, and limit this process to a number of threads."""
    from headspan.model.parser import Parser

    set_threads(threads)
    return Parser.load(model)


@dataclass(frozen=True, slots=True)
class ShardWriter:
    """Turns chunks into shards: everything that a process has to know for that."""

    model: str
    folder: Path
    format: ShardFormat = "conllu"
    compress: Compression = "none"
    options: CorpusOptions = field(default_factory=CorpusOptions)
    threads: int = 1
    load: Callable[[str, int], Parser] = load_parser

    def parser(self) -> Parser:
        """Load the model in this process."""
        parser = self.load(self.model, self.threads)
        return parser if self.options.int8 is None else parser.use_int8(self.options.int8)

    def write(self, parser: Parser, chunk: Chunk) -> Shard:
        """Parse a chunk and put its shard in place.

        Everything that goes wrong with the chunk is recorded. Raises HeadspanError if the shard
        cannot be written, which would happen to all chunks.
        """
        try:
            parsed = parse_chunk(parser, chunk, self.options)
            if self.format == "parquet":
                write_to, lengths = self._parquet(parsed)
            else:
                write_to, lengths = self._conllu(parsed)
        except Exception as error:
            return Shard.failed(chunk, why_failed(error))
        path = self.folder / f"{chunk.name}{self._suffix()}"
        try:
            with open_output(path) as stream:
                write_to(stream)
            sync(self.folder)
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                size = file.tell()
        except OSError as error:
            raise HeadspanError(f"{path}: cannot be written: {reason(error)}") from error
        return Shard(
            chunk.number, chunk.fingerprint(), chunk.location, path.name, size, digest,
            sentences=sum(1 for length in lengths if length), words=sum(lengths),
            last=chunk.last, bytes_read=chunk.bytes_read, skipped=tuple(parsed.skipped),
        )  # fmt: skip

    def _suffix(self) -> str:
        compressed = self.format == "conllu" and self.compress != "none"
        return f".{self.format}" + (f".{self.compress}" if compressed else "")

    def _conllu(self, parsed: ParsedChunk) -> tuple[Callable[..., object], Sequence[int]]:
        """A function that writes the sentences, and the number of words of each."""
        texts: list[bytes] = []
        lengths: list[int] = []
        for document, parse in parsed.sentences:
            sentence = parse.with_confidences() if self.options.confidence else parse
            try:
                texts.append(conllu.to_text([sentence]).encode())
            except (HeadspanError, UnicodeEncodeError) as error:  # it cannot be written as CoNLL-U
                why = why_failed(error)
                parsed.skipped.append(
                    SkippedInput(why, document=document, sentence=parse.sent_id or "")
                )
                continue
            lengths.append(len(parse))
        return lambda stream: stream.write(b"".join(texts)), lengths

    def _parquet(self, parsed: ParsedChunk) -> tuple[Callable[..., object], Sequence[int]]:
        """The same for Parquet, which leaves out sentences without words."""
        rows = [(document, parse) for document, parse in parsed.sentences if len(parse)]
        table = parquet.table(rows, confidence=self.options.confidence)
        return lambda stream: parquet.write(table, stream), [len(parse) for _, parse in rows]
