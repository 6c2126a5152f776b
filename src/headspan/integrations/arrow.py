"""Documents in, sentences out, as Arrow tables: for engines that hand out tables to their workers.

Spark's `mapInArrow` takes `parse_batches` as it is; the Ray integration uses `TableParser`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from headspan.corpus import parquet
from headspan.corpus.chunks import Chunk, Part, Problem
from headspan.corpus.documents import document_parts
from headspan.corpus.parsing import Options, parse_chunk
from headspan.corpus.shards import Work
from headspan.corpus.shards import load as load_parser
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.extras import needed_for

if TYPE_CHECKING:
    import pyarrow as pa

    from headspan.model.parse_result import Parse
    from headspan.model.parser import Parser

_PART = 100_000  # characters; a longer document is parsed in parts
_TOGETHER = 64  # rows whose sentences are parsed together


def schema(*, confidence: bool = False) -> pa.Schema:
    """The columns of a table of sentences; `error` says why one has no tree."""
    with needed_for("a table of sentences", extra="parquet"):
        import pyarrow as pa

    return parquet.schema(confidence=confidence).append(pa.field("error", pa.string()))


class TableParser:
    """A model that turns tables of documents into tables of sentences.

    Documents have the columns `id`, and `text` or `tokens`; the ids are kept as `document`, and
    with a sentence's number make its `sent_id`. A sentence or document that cannot be parsed is a
    row with an `error`. The model is loaded when it is first needed, for one thread.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] = "en",
        *,
        options: Options = Options(),  # noqa: B008 (it is frozen)
        load: Callable[[str, int], Parser] = load_parser,
    ) -> None:
        self._work = Work(os.fspath(model), Path(), options=options, load=load)
        self._parser: Parser | None = None

    def __call__(self, documents: pa.Table | pa.RecordBatch) -> pa.Table:
        """The sentences of some documents, in order."""
        import pyarrow as pa

        if "id" not in documents.schema.names:
            raise HeadspanError("documents need the column id, which their sentences are named by")
        names = [n for n in ("id", "text", "tokens") if n in documents.schema.names]
        rows = documents.select(names).to_pylist()
        tables = [self._parsed(rows[at : at + _TOGETHER]) for at in range(0, len(rows), _TOGETHER)]
        columns = schema(confidence=self._work.options.confidence)
        return pa.concat_tables(tables) if tables else columns.empty_table()

    def _parsed(self, rows: list[dict[str, object]]) -> pa.Table:
        import pyarrow as pa

        if self._parser is None:
            self._parser = self._work.parser()
        parts: list[Part] = []
        problems: list[Problem] = []
        for row in rows:
            for item in document_parts(row, "", 0, _PART):
                if isinstance(item, Problem):
                    problems.append(item)
                else:
                    parts.append(item)
        confidence = self._work.options.confidence
        chunk = Chunk(0, tuple(parts), tuple(problems))
        parsed = parse_chunk(self._parser, chunk, self._work.options)
        counts: Counter[str] = Counter()
        sentences: list[tuple[str, Parse]] = []
        for document, parse in parsed.sentences:
            counts[document] += 1
            sentences.append((document, _named(parse, f"{document}-{counts[document]}")))
        good = parquet.table(sentences, confidence=confidence)
        good = good.append_column("error", pa.nulls(len(good), pa.string()))
        bad = [{"document": p.document, "error": p.reason} for p in parsed.problems]
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
    options: Options = Options(),  # noqa: B008 (it is frozen)
) -> Iterator[pa.RecordBatch]:
    """The sentences of batches of documents, a batch at a time; the model is loaded once."""
    parser = TableParser(model, options=options)
    for batch in batches:
        yield from parser(batch).to_batches()
