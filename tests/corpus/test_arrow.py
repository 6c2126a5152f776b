"""Tables of documents into tables of sentences."""

from pathlib import Path

import pyarrow as pa
import pytest

from headspan import HeadspanError, load
from headspan.corpus.parsing import CorpusOptions
from headspan.integrations.arrow import TableParser, parse_batches, schema
from headspan.plumbing.limits import LONGEST

TEXTS = ["The dog sees a cat.\n\nThe cat sleeps.", "A dog!", "\n\n", "word " * (LONGEST + 1)]


@pytest.fixture(scope="module")
def documents() -> pa.Table:
    return pa.table({"id": ["a", "b", "c", "d"], "other": [1, 2, 3, 4], "text": TEXTS})


def test_documents_become_sentences(model: Path, documents: pa.Table) -> None:
    options = CorpusOptions(pretokenized=True)
    table = TableParser(model, options=options)(documents)
    assert table.schema == schema()
    *rows, long = table.to_pylist()
    assert [(row["document"], row["sent_id"]) for row in rows] == [
        ("a", "a-1"),
        ("a", "a-2"),
        ("b", "b-1"),
    ]
    assert [row["text"] for row in rows] == ["The dog sees a cat.", "The cat sleeps.", "A dog!"]
    parsed = load(model).parse([row["forms"] for row in rows])
    assert [tuple(row["heads"]) for row in rows] == [parse.heads for parse in parsed]
    assert [row["error"] for row in rows] == [None] * 3
    assert (long["document"], long["sent_id"], long["heads"]) == ("d", None, None)
    assert "2,001 words" in long["error"]
    again = parse_batches(documents.to_batches(max_chunksize=1), model=model, options=options)
    assert pa.Table.from_batches(again) == table


def test_given_words_and_confidences_become_columns(model: Path) -> None:
    documents = pa.table({"id": [7], "tokens": [[["The", "dog"], ["A", "cat"]]]})
    table = TableParser(model, options=CorpusOptions(confidence=True))(documents)
    assert table.schema == schema(confidence=True)
    rows = table.to_pylist()
    assert [row["sent_id"] for row in rows] == ["7-1", "7-2"]
    assert all(0 <= confidence <= 1 for row in rows for confidence in row["confidences"])
    assert rows[0]["starts"] == [None, None]


def test_no_documents_give_an_empty_table_and_ids_are_required(
    model: Path, documents: pa.Table
) -> None:
    assert TableParser(model)(documents.slice(0, 0)) == schema().empty_table()
    with pytest.raises(HeadspanError, match="need the column id"):
        TableParser(model)(documents.drop_columns("id"))
