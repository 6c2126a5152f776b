"""Arrow tables of documents into tables of sentences, for engines whose workers take tables.

`parse_batches` can be passed to Spark's `mapInArrow`; the Ray integration uses `TableParser`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from headspan.corpus import parquet
from headspan.corpus.chunks import Chunk, Part, SkippedInput
from headspan.corpus.documents import document_parts
from headspan.corpus.parsing import CorpusOptions, parse_chunk
from headspan.corpus.shards import load_parser
from headspan.plumbing.errors import HeadspanError

if TYPE_CHECKING:
    import pyarrow as pa

    from headspan.model.parse_result import Parse
    from headspan.model.parser import Parser

_PART = 100_000
"""Most characters of a document that are parsed together."""
ROWS = 64
"""Documents whose sentences are parsed together."""


def schema(*, confidence: bool = False) -> pa.Schema:
    """The columns of a table of sentences; `error` is the reason why a sentence has no tree."""
    pa, _ = parquet.libraries()
    return parquet.schema(confidence=confidence).append(pa.field("error", pa.string()))


class TableParser:
    """A model that turns tables of documents into tables of sentences.

    Documents have the columns `id`, and `text` or `tokens`. The id becomes `document`, and together
    with the number of the sentence its `sent_id`. A sentence or document that cannot be parsed is a
    row with an `error`. The model is loaded when it is first needed, and uses one thread.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] = "en",
        *,
        options: CorpusOptions = CorpusOptions(),  # noqa: B008 (it is frozen)
        load: Callable[[str, int], Parser] = load_parser,
    ) -> None:
        self._model = os.fspath(model)
        self._options = options
        self._load = load
        self._parser: Parser | None = None

    def __call__(self, documents: pa.Table | pa.RecordBatch) -> pa.Table:
        """The sentences of the documents, in order."""
        pa, _ = parquet.libraries()
        if "id" not in documents.schema.names:
            raise HeadspanError("documents need the column id, by which their sentences are named")
        names = [n for n in parquet.DOCUMENT_COLUMNS if n in documents.schema.names]
        rows = documents.select(names).to_pylist()
        tables = [self._parsed(rows[at : at + ROWS]) for at in range(0, len(rows), ROWS)]
        columns = schema(confidence=self._options.confidence)
        return pa.concat_tables(tables) if tables else columns.empty_table()

    def _parsed(self, rows: list[dict[str, object]]) -> pa.Table:
        pa, _ = parquet.libraries()
        if self._parser is None:
            parser = self._load(self._model, 1)
            int8 = self._options.int8
            self._parser = parser if int8 is None else parser.use_int8(int8)
        parts: list[Part] = []
        skipped: list[SkippedInput] = []
        for row in rows:
            for item in document_parts(row, "", 0, _PART):
                if isinstance(item, SkippedInput):
                    skipped.append(item)
                else:
                    parts.append(item)
        confidence = self._options.confidence
        chunk = Chunk(0, tuple(parts), tuple(skipped))
        parsed = parse_chunk(self._parser, chunk, self._options)
        counts: Counter[str] = Counter()
        sentences: list[tuple[str, Parse]] = []
        for document, parse in parsed.sentences:
            counts[document] += 1
            sentences.append((document, _named(parse, f"{document}-{counts[document]}")))
        good = parquet.table(sentences, confidence=confidence)
        good = good.append_column("error", pa.nulls(len(good), pa.string()))
        bad = [{"document": s.document, "error": s.reason} for s in parsed.skipped]
        return pa.concat_tables(
            [good, pa.Table.from_pylist(bad, schema=schema(confidence=confidence))]
        )


def _named(parse: Parse, name: str) -> Parse:
    comments = (f"# sent_id = {name}" if c.startswith("# sent_id") else c for c in parse.comments)
    return replace(parse, comments=tuple(comments))


def parse_batches(
    batches: Iterable[pa.RecordBatch],
    *,
    model: str | os.PathLike[str] = "en",
    options: CorpusOptions = CorpusOptions(),  # noqa: B008 (it is frozen)
) -> Iterator[pa.RecordBatch]:
    """The sentences of batches of documents, one batch at a time; the model is loaded once."""
    parser = TableParser(model, options=options)
    for batch in batches:
        yield from parser(batch).to_batches()
