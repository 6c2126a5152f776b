"""The fast English model, and sessions over small files."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import headspan
from headspan.annotate import Session
from headspan.model.parser import Parser

TELESCOPE = "She saw the man with the telescope. Don't panic! Time flies like an arrow."


@pytest.fixture(scope="session")
def fast() -> Parser:
    return headspan.load("en-fast")


@pytest.fixture
def session(tmp_path: Path, fast: Parser) -> Iterator[Callable[..., Session]]:
    """A function that opens a session over a text or CoNLL-U."""
    all_of_them: list[Session] = []

    def opened(
        content: str = TELESCOPE, *, name: str = "in.txt", annotator: str = "anna", **options
    ):  # type: ignore[no-untyped-def]
        path = tmp_path / name
        if not path.exists():
            path.write_bytes(content.encode())
        work = Session.open(path, fast, annotator=annotator, model="en-fast", **options)
        all_of_them.append(work)
        return work

    yield opened
    for work in all_of_them:
        work.abandon()
