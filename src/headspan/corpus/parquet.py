"""Documents read from Parquet, and sentences as rows of a table (extra `parquet`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headspan.conllu.places import token_range
from headspan.plumbing.extras import needed_for
from headspan.render.drawable import CONFIDENCES

if TYPE_CHECKING:
    import pyarrow as pa

    from headspan.model.parse_result import Parse

DOCUMENT_COLUMNS = ("id", "text", "tokens")
_ROWS_AT_A_TIME = 256


def rows(path: Path) -> Iterator[tuple[int, dict[str, Any], float]]:
    """The rows of a file, each with its number from 1 and the share of rows before it."""
    _, parquet = libraries()
    with parquet.ParquetFile(path) as file:
        names = [name for name in file.schema_arrow.names if name in DOCUMENT_COLUMNS]
        if not {"text", "tokens"} & set(names):
            columns = ", ".join(file.schema_arrow.names)
            raise ValueError(f"its columns are {columns}; expected text or tokens")
        total, number = file.metadata.num_rows, 0
        for batch in file.iter_batches(_ROWS_AT_A_TIME, columns=names):
            for row in batch.to_pylist():
                number += 1
                yield number, row, (number - 1) / total


def schema(*, confidence: bool = False) -> pa.Schema:
    """The columns of a table of sentences: a row per sentence, lists for its words."""
    pa, _ = libraries()
    strings, numbers = pa.list_(pa.string()), pa.list_(pa.int32())
    fields = [
        ("document", pa.string()),
        ("sent_id", pa.string()),
        ("text", pa.string()),
        *((name, strings) for name in ("forms", "lemmas", "upos", "xpos", "feats")),
        ("heads", numbers),
        ("deprels", strings),
        ("starts", pa.list_(pa.int64())),
        ("ends", pa.list_(pa.int64())),
    ]
    if confidence:
        fields += [(name, pa.list_(pa.float32())) for name in CONFIDENCES.values()]
    return pa.schema(fields)


def table(sentences: Iterable[tuple[str, Parse]], *, confidence: bool = False) -> pa.Table:
    """A table of the parses of sentences, each given with its document.

    `starts` and `ends` are the positions of each word's token in its document, null if not known.
    """
    pa, _ = libraries()
    columns = schema(confidence=confidence)
    return pa.Table.from_pylist(
        [_row(document, parse, confidence) for document, parse in sentences], schema=columns
    )


def write(sentences: pa.Table, stream: Any) -> None:
    """Write a table as Parquet: equal tables give equal bytes."""
    _, parquet = libraries()
    parquet.write_table(sentences, stream, compression="zstd")


def _row(document: str, parse: Parse, confidence: bool) -> dict[str, Any]:
    ranges: list[tuple[int | None, int | None]] = []
    for token in parse.surface_tokens:
        position = token_range(token.misc) or (None, None)
        ranges += [position] * (token.last - token.first + 1)
    row: dict[str, Any] = {
        "document": document,
        "sent_id": parse.sent_id,
        "text": parse.text,
        "forms": parse.forms,
        "lemmas": parse.lemmas,
        "upos": parse.upos,
        "xpos": parse.xpos,
        "feats": parse.feats,
        "heads": parse.heads,
        "deprels": parse.deprels,
        "starts": [start for start, _ in ranges],
        "ends": [end for _, end in ranges],
    }
    if confidence:
        row |= {name: getattr(parse, name) for name in CONFIDENCES.values()}
    return row


def libraries() -> tuple[Any, Any]:
    """Import pyarrow and its Parquet module. Raises HeadspanError if they are not installed."""
    with needed_for("Parquet", extra="parquet"):
        import pyarrow
        from pyarrow import parquet
    return pyarrow, parquet
