"""Opening a file to annotate: what it is, where the work goes, and what an earlier session left."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from headspan import conllu
from headspan.annotate.confirmations import with_comment
from headspan.annotate.journal import Journal
from headspan.conllu import Sentence, looks_like_conll
from headspan.model.parser import Parser
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import unreadable

_ENDING = re.compile(r"\.(conllu|conllx|conll|txt)(\.(gz|xz|bz2|zst))?$")

Changes: TypeAlias = tuple[list[dict[str, Any]], int]
"""The changes of an interrupted session, and how many of them are in the output."""


def output_name(path: Path) -> Path:
    """The default name of the output: `NAME.annotated.conllu`."""
    return path.with_name(_ENDING.sub("", path.name) + ".annotated.conllu")


def opened(
    path: Path, parser: Parser, output: str | os.PathLike[str] | None
) -> tuple[list[Sentence], Journal, Changes]:
    """The sentences to work on, the journal, and changes that have to be made again.

    A text is segmented. If the output is there, its sentences count, provided that they are those
    of the input: their text must be the same.
    """
    target = output_name(path) if output is None else Path(output)
    if target.is_dir():
        raise HeadspanError(f"{target}: is a folder; expected the name of a file to write")
    in_place = target.exists() and path.exists() and target.samefile(path)
    if in_place and not is_conllu(path):
        raise HeadspanError(f"{path}: is text; expected another file for the trees")
    if target.suffix in (".gz", ".xz", ".bz2", ".zst"):
        raise HeadspanError(f"{target}: is compressed; expected a plain file for the trees")
    sentences = None if in_place else read(path, parser)
    journal = Journal(target)
    try:
        return _resumed(path, target, sentences, journal)
    except BaseException:
        if not journal.path.stat().st_size:
            journal.path.unlink()
        journal.close()
        raise


def _resumed(
    path: Path, target: Path, sentences: list[Sentence] | None, journal: Journal
) -> tuple[list[Sentence], Journal, Changes]:
    if not target.exists():
        if sentences is None:
            raise unreadable(path, FileNotFoundError("there is no such file"))
        conllu.write(sentences, target)
        journal.begin()
        return sentences, journal, ([], 0)
    work = list(conllu.read(target))
    if sentences is not None and _letters(work) != _letters(sentences):
        raise HeadspanError(
            f"{target}: exists already, and its text is not that of {path}; expected work on the "
            "same text, or another -o"
        )
    changes = journal.missing()
    if changes is None:
        journal.begin()
        changes = ([], 0)
    return work, journal, changes


def read(path: Path, parser: Parser) -> list[Sentence]:
    """The sentences of a CoNLL-U file, or of a text, numbered; raises HeadspanError."""
    if is_conllu(path):
        sentences = list(conllu.read(path))
    else:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise unreadable(path, error) from error
        numbers = count(1)
        sentences = [
            with_comment(sentence, "sent_id", str(next(numbers)))
            for sentence in parser.sentences([text])
        ]
    if not any(map(len, sentences)):
        raise HeadspanError(f"{path}: has no sentences")
    return sentences


def is_conllu(path: Path) -> bool:
    """Whether a file has the name of a CoNLL-U file, or looks like one."""
    match = _ENDING.search(path.name)
    if match and match[1] != "txt":
        return True
    try:
        with path.open("rb") as file:
            return looks_like_conll(file.read(1 << 16))
    except OSError as error:
        raise unreadable(path, error) from error


def _letters(sentences: Iterable[Sentence]) -> str:
    """The text of sentences without any white space."""
    tokens = (token.form for sentence in sentences for token in sentence.surface_tokens)
    return "".join("".join(form.split()) for form in tokens)
