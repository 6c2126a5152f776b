"""Turn the lines of one sentence into a Sentence, or say why they are not one.

Most sentences take the fast path: split the lines, transpose rows into columns, compare the IDs
with 1…n, look up the heads. A sentence that does not fit is examined row by row, either because it
has multiword tokens or empty nodes, or to find out what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from headspan.conllu import projective_columns
from headspan.conllu.conllu_error import ConlluError
from headspan.conllu.numerals import head_of, word_ids
from headspan.conllu.sentence import EmptyNode, Format, Layout, MultiwordToken, Sentence
from headspan.plumbing.errors import shown

_PLAIN = Layout()
_RANGE = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
_DECIMAL = re.compile(r"(0|[1-9][0-9]{0,8})\.([1-9][0-9]{0,8})")
_NUMBER = re.compile(r"0|[1-9][0-9]*")
_SPACES = re.compile(" +")


class Block(NamedTuple):
    """The lines of one sentence as bytes, and the blank lines around them."""

    start: int
    """The line number of its first line."""
    before: bytes
    lines: list[bytes]
    blanks: bytes


class BlockParser:
    """Turns the blocks of one file into sentences, given the file's name and format."""

    def __init__(self, name: str, format: Format | None) -> None:
        self.name = name
        self.format = format
        self._reading_as = format

    def sentence(self, block: Block) -> Sentence:
        """Return the sentence in a block. Raises ConlluError."""
        if not block.lines:
            blank = (block.before + block.blanks).decode()
            return Sentence(*((),) * 9, layout=Layout(blank, "\n", ""))
        text = self._decoded(block)
        lines = text.split("\n")
        last = "" if lines[-1] else "\n"
        if last:
            lines.pop()
        ends: str | tuple[str, ...] = "\n"
        if "\r" in text:
            lines, ends, last = _line_ends(lines, last)
        after = last + block.blanks.decode()
        layout = (
            _PLAIN
            if ends == "\n" and after == "\n\n" and not block.before
            else Layout(block.before.decode(), ends, after)
        )
        comment_lines = 0
        while comment_lines < len(lines) and lines[comment_lines].startswith("#"):
            comment_lines += 1
        return self._annotated(lines, comment_lines, block.start, layout)

    def _decoded(self, block: Block) -> str:
        raw = b"".join(block.lines)
        if b"\0" in raw:
            line = block.start + raw.count(b"\n", 0, raw.index(b"\0"))
            self._fail(line, "a NUL byte", "text")
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            line = block.start + raw.count(b"\n", 0, error.start)
            self._fail(line, f"the byte 0x{raw[error.start]:02x}, which is not UTF-8", "UTF-8")

    def _annotated(
        self, lines: list[str], comment_lines: int, start: int, layout: Layout
    ) -> Sentence:
        """Return a Sentence from its lines; the first `comment_lines` are comments."""
        comments, lines = tuple(lines[:comment_lines]), lines[comment_lines:]
        start += comment_lines
        self._reading_as = self.format or _recognised(lines, self.name)
        rows = [line.split("\t") for line in lines]
        if self._reading_as == "conllx":
            rows = [
                row if len(row) > 1 else _SPACES.split(line.strip(" "))
                for row, line in zip(rows, lines, strict=True)
            ]
        for offset, row in enumerate(rows):
            if len(row) != 10:
                self._wrong_columns(start + offset, lines[offset], len(row))
        line_numbers: Sequence[int] = range(start, start + len(rows))
        multiwords: list[MultiwordToken] = []
        empty_nodes: list[EmptyNode] = []
        columns = tuple(zip(*rows, strict=True)) if rows else ((),) * 10
        if columns[0] != word_ids(len(rows)):
            if self._reading_as == "conllx":
                self._wrong_ids(columns[0], start)
            line_numbers, rows, multiwords, empty_nodes = self._sorted_rows(rows, start)
            columns = tuple(zip(*rows, strict=True)) if rows else ((),) * 10
        _, forms, lemmas, upos, xpos, feats, spelled_heads, deprels, deps, misc = columns
        try:
            heads = tuple(map(head_of.__getitem__, spelled_heads))
        except KeyError:
            self._wrong_head(spelled_heads, line_numbers)
        if heads and max(heads) > len(heads):
            self._wrong_head(spelled_heads, line_numbers)
        if self._reading_as == "conllx":
            for line, head in zip(line_numbers, deps, strict=True):
                if "|" in head:  # MISC could not tell where it ends
                    self._fail(line, f"the PHEAD {shown(head)}", "a number, or _")
            deps, misc = ("_",) * len(heads), tuple(map(projective_columns.to_misc, deps, misc))
        if heads:
            self.format = self._reading_as
        return Sentence(
            forms, lemmas, upos, xpos, feats, heads, deprels, deps, misc,
            comments, tuple(multiwords), tuple(empty_nodes), layout,
        )  # fmt: skip

    def _sorted_rows(
        self, rows: list[list[str]], start: int
    ) -> tuple[list[int], list[list[str]], list[MultiwordToken], list[EmptyNode]]:
        """Separate words, multiword tokens and empty nodes, and check their order."""
        line_numbers: list[int] = []
        words: list[list[str]] = []
        multiwords: list[MultiwordToken] = []
        empty_nodes: list[EmptyNode] = []
        expected = word_ids(len(rows))
        for line, row in enumerate(rows, start):
            name, columns = row[0], tuple(row[1:])
            after_range = bool(multiwords) and multiwords[-1].first == len(words) + 1
            if name == expected[len(words)]:
                line_numbers.append(line)
                words.append(row)
            elif (match := _RANGE.fullmatch(name)) and not after_range:
                first, last = int(match[1]), int(match[2])
                if multiwords and first <= multiwords[-1].last:
                    other = f"{multiwords[-1].first}-{multiwords[-1].last}"
                    self._fail(
                        line, f"the range {name}", f"one that does not overlap the range {other}"
                    )
                if first != len(words) + 1:
                    self._fail(line, f"the range {name}", f"one that starts at {len(words) + 1}")
                if last < first:
                    self._fail(line, f"the range {name}", f"one that ends at {first} or later")
                multiwords.append(MultiwordToken(first, last, columns))
            elif (match := _DECIMAL.fullmatch(name)) and not after_range:
                after, number = int(match[1]), int(match[2])
                same = empty_nodes and empty_nodes[-1].after == after
                expected_number = empty_nodes[-1].number + 1 if same else 1
                if (after, number) != (len(words), expected_number):
                    self._fail(line, f"the empty node {name}", f"{len(words)}.{expected_number}")
                empty_nodes.append(EmptyNode(after, number, columns))
            else:
                self._fail(line, f"the ID {shown(name)}", f"the ID {len(words) + 1}")
        if multiwords and multiwords[-1].last > len(words):
            first, last, _ = multiwords[-1]
            line = line_numbers[first - 1] - 1 if first <= len(words) else start + len(rows) - 1
            self._fail(
                line, f"the range {first}-{last}", f"one that ends at {len(words)} or before"
            )
        return line_numbers, words, multiwords, empty_nodes

    def _wrong_columns(self, line: int, text: str, count: int) -> NoReturn:
        if text.startswith("#"):
            self._fail(line, "a comment after the first word", "comments only before the words")
        if not text.strip():
            self._fail(line, "a line of only white space", "ten columns, or an empty line")
        separator = "by spaces or tabs" if self._reading_as == "conllx" else "by tabs"
        columns = "1 column" if count == 1 else f"{count} columns"
        self._fail(line, f"{columns} in {shown(text)}", f"10 columns separated {separator}")

    def _wrong_ids(self, names: tuple[str, ...], start: int) -> NoReturn:
        expected = word_ids(len(names))
        at = next(k for k, name in enumerate(names) if name != expected[k])
        self._fail(start + at, f"the ID {shown(names[at])}", f"the ID {expected[at]}")

    def _wrong_head(self, heads: tuple[str, ...], line_numbers: Sequence[int]) -> NoReturn:
        n = len(heads)
        for head, line in zip(heads, line_numbers, strict=True):
            if head == "_" or (head in head_of and head_of[head] <= n):
                continue
            problem = "outside the sentence" if _NUMBER.fullmatch(head) else "that is not a number"
            self._fail(line, f"the head {shown(head)} {problem}", f"0 to {n}, or _")
        raise AssertionError("a wrong head was reported, but all heads are right")

    def _fail(self, line: int, found: str, expected: str) -> NoReturn:
        note = " (the file was read as CoNLL-X)" if self._reading_as == "conllx" else ""
        raise ConlluError(self.name, line, found, expected + note)


def _line_ends(lines: list[str], last: str) -> tuple[list[str], str | tuple[str, ...], str]:
    """Split carriage returns from lines: the bare lines, their line ends, and the last line's end.

    The line ends of all but the last line are one string if they agree. `last` is the line feed of
    the last line, if it has one.
    """
    returns = ["\r" if line.endswith("\r") else "" for line in lines]
    bare = [line.removesuffix("\r") for line in lines]
    ends = tuple(mark + "\n" for mark in returns[:-1])
    agreed = set(ends) or {returns[-1] + "\n"}
    return bare, agreed.pop() if len(agreed) == 1 else ends, returns[-1] + last


def _recognised(lines: list[str], name: str) -> Format | None:
    """Guess the format of a file from its first sentence; None as long as there was no word."""
    if not lines:
        return None
    if not any("\t" in line for line in lines):
        return "conllx" if len(_SPACES.split(lines[0].strip(" "))) == 10 else "conllu"
    columns = lines[0].split("\t")
    if len(columns) == 10 and _NUMBER.fullmatch(columns[0]):
        if _NUMBER.fullmatch(columns[8]):  # PHEAD; DEPS has a colon
            return "conllx"
        if ":" not in columns[8]:
            return format_of_name(name)
    return "conllu"


def format_of_name(name: str) -> Format:
    """Return the format that a file's name suggests."""
    bare = name.removesuffix(".gz").removesuffix(".xz")
    return "conllx" if bare.endswith((".conllx", ".conll")) else "conllu"
