"""Write CoNLL-U and CoNLL-X."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import IO, cast

from headspan.conllu import projective_columns
from headspan.conllu.numerals import spelled, word_ids
from headspan.conllu.sentence import NO_HEAD, Format, Sentence
from headspan.plumbing.errors import HeadspanError, check_choice, shown
from headspan.plumbing.files import PathLike, is_text, open_output


def write(
    sentences: Iterable[Sentence],
    target: PathLike | IO[bytes] | IO[str],
    *,
    format: Format = "conllu",
    overwrite: bool = True,
) -> int:
    """Write sentences and return how many there were.

    target: a path (`-` is standard output; `.gz` and `.xz` are compressed) or an open file of bytes
        or text. A file appears under its name only when it is complete.
    format: `conllx` leaves out what CoNLL-X cannot hold: comments, multiword tokens, empty nodes,
        DEPS and MISC.
    overwrite: False refuses to replace an existing file.
    """
    if isinstance(target, str | os.PathLike):
        with open_output(target, overwrite=overwrite) as stream:
            return write(sentences, stream, format=format)
    takes_text = is_text(target)
    count = 0
    for text in _texts(sentences, format):
        if takes_text:
            cast(IO[str], target).write(text)
        else:
            cast(IO[bytes], target).write(_encoded(text))
        count += 1
    return count


def to_text(sentences: Iterable[Sentence], *, format: Format = "conllu") -> str:
    """Return the sentences as one string in CoNLL-U or CoNLL-X."""
    return "".join(_texts(sentences, format))


def _texts(sentences: Iterable[Sentence], format: Format) -> Iterator[str]:
    """Yield the text of each sentence; together they make up a valid file.

    Only the first sentence keeps what was before it in its file. A sentence that was the last of
    its file may lack the blank line after it; it is added when another sentence follows.
    """
    check_choice("format", format, Format)
    missing = ""
    first = True
    for sentence in sentences:
        if format == "conllx" and not len(sentence):
            continue
        lines = _conllx_lines(sentence) if format == "conllx" else _conllu_lines(sentence)
        layout = sentence.layout
        newline = layout.newline
        before = layout.before if first else ""
        if isinstance(newline, tuple) and len(newline) == len(lines) - 1:
            ends = (*newline, layout.after)
            newline = newline[-1]
            body = "".join(line + end for line, end in zip(lines, ends, strict=True))
        else:
            newline = newline if isinstance(newline, str) else newline[0]
            ends = (newline,) * (len(lines) - 1) + (layout.after,)
            body = newline.join(lines) + layout.after
        if "\r" in body:
            _check_returns(lines, ends)
        yield missing + before + body
        missing = _missing_end(layout.after, newline) if lines else _missing_end(before + body, "")
        first = False


def _missing_end(written: str, newline: str) -> str:
    """Return what is still missing before the next sentence: half a line end, a blank line."""
    half = written.endswith("\r")
    return "\n" * half + newline * max(0, 2 - half - written.count("\n"))


def _check_returns(lines: list[str], ends: tuple[str, ...]) -> None:
    """Reject a carriage return that would be read as part of its line's end."""
    for line, end in zip(lines, ends, strict=False):
        if line.endswith("\r") and not end.startswith("\r"):
            raise HeadspanError(
                f"the line {shown(line)} ends in a carriage return, which CoNLL cannot hold"
            )


def _conllu_lines(sentence: Sentence) -> list[str]:
    n = len(sentence)
    rows = _rows(sentence, sentence.deps, sentence.misc)
    if sentence.multiwords or sentence.empty_nodes:
        extra: list[list[str]] = [[] for _ in range(n + 1)]  # the lines after word k
        for after, number, columns in sentence.empty_nodes:
            extra[after].append("\t".join((f"{after}.{number}", *columns)))
        for first, last, columns in sentence.multiwords:
            extra[first - 1].append("\t".join((f"{first}-{last}", *columns)))
        rows = extra[0] + [line for row, more in zip(rows, extra[1:], strict=True)
                           for line in (row, *more)]  # fmt: skip
    _check(sentence, rows)
    return [*sentence.comments, *rows]


def _conllx_lines(sentence: Sentence) -> list[str]:
    pairs = [projective_columns.from_misc(misc) for misc in sentence.misc]
    rows = _rows(sentence, [head for head, _ in pairs], [relation for _, relation in pairs])
    _check(sentence, rows)
    return rows


def _rows(sentence: Sentence, ninth: Iterable[str], tenth: Iterable[str]) -> list[str]:
    s = sentence
    ids = word_ids(len(s))  # also extends the table of heads to this length
    if s.heads and not NO_HEAD <= min(s.heads) <= max(s.heads) <= len(s):
        raise HeadspanError(f"a head is outside the sentence of {len(s)} words: {s.heads}")
    heads = map(spelled.__getitem__, s.heads)
    columns = (ids, s.forms, s.lemmas, s.upos, s.xpos, s.feats, heads, s.deprels, ninth, tenth)
    return list(map("\t".join, zip(*columns, strict=True)))


def _check(sentence: Sentence, rows: list[str]) -> None:
    """Reject what could not be read again."""
    for line in sentence.comments:
        if not line.startswith("#") or "\n" in line or "\0" in line:
            raise HeadspanError(f"the comment {shown(line)} is not one line that starts with #")
    text = "\n".join(rows)
    if (
        text.count("\t") == 9 * len(rows)
        and text.count("\n") == max(0, len(rows) - 1)
        and "\0" not in text
    ):
        return
    for word, values in enumerate(zip(sentence.forms, sentence.lemmas, sentence.upos,
                                      sentence.xpos, sentence.feats, sentence.deprels,
                                      sentence.deps, sentence.misc, strict=True), 1):  # fmt: skip
        for value in values:
            if any(mark in value for mark in "\t\n\0"):
                raise HeadspanError(
                    f"word {word} has a tab, line end or NUL in {shown(value)}, "
                    "which CoNLL cannot hold"
                )
    raise HeadspanError("a multiword token or empty node has a tab, line end or NUL in a column")


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        bad = error.object[error.start]
        raise HeadspanError(f"the character U+{ord(bad):04X} cannot be written in UTF-8") from error
