"""Write parses in all formats of `headspan parse`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Literal, TypeAlias

from rich.text import Text

from headspan import conllu
from headspan.cli.input_files import with_sent_id
from headspan.cli.options import terminal
from headspan.cli.tree_text import tree_text
from headspan.conllu import Sentence
from headspan.plumbing.files import open_output

if TYPE_CHECKING:
    from headspan.model.parse_result import Parse

OutputFormat: TypeAlias = Literal["conllu", "conllx", "json", "tree"]
_BEGINNING = re.compile(r"# *new(doc|par)\b")
_RANK = re.compile(r"# *(tree|probability) *=")


def write_parses(
    parses: Iterable[Parse], output: str, format: OutputFormat, *, overwrite: bool
) -> None:
    """Write parses; of a parse that has alternatives, these, the best first.

    Only the tree that is the parse itself has confidences.
    """
    if format == "tree":
        _write_drawings(chain.from_iterable(map(_drawings, parses)), output, overwrite)
    elif format == "json":
        with open_output(output, overwrite=overwrite) as stream:
            for parse in parses:
                stream.write(json.dumps(parse.as_json(), ensure_ascii=False).encode() + b"\n")
    else:
        written = chain.from_iterable(map(_written, parses))
        conllu.write(written, output, format=format, overwrite=overwrite)


def _ranked(parse: Parse) -> Iterator[tuple[int, float, Sentence]]:
    """The rank, the probability and the tree of each alternative."""
    for rank, tree in enumerate(parse.alternatives, 1):
        same = (tree.heads, tree.deprels) == (parse.heads, parse.deprels)
        sentence = parse if same else parse.with_parse(tree.heads, tree.deprels)
        yield rank, tree.probability, sentence


def _written(parse: Parse) -> Iterator[Sentence]:
    """The parse, or its alternatives with rank and probability as comments."""
    if not parse.alternatives:
        yield parse._as_written()
    comments = [line for line in parse.comments if not _RANK.match(line)]
    for rank, probability, tree in _ranked(parse):
        ranked = [f"# tree = {rank}", f"# probability = {probability:.4g}"]
        sentence = replace(tree._as_written(), comments=(*comments, *ranked))
        if rank > 1 and parse.sent_id:  # two sentences of a file must not share one
            sentence = with_sent_id(sentence, f"{parse.sent_id}-tree{rank}")
        yield sentence
        comments = [line for line in comments if not _BEGINNING.match(line)]


def _drawings(parse: Parse) -> Iterator[Text]:
    """The drawing of the parse, or those of its alternatives."""
    if not parse.alternatives:
        yield tree_text(parse)
    for rank, probability, tree in _ranked(parse):
        title = Text(f"tree {rank}, probability {probability:.1%}\n", style="dim")
        yield title + tree_text(tree)


def _write_drawings(drawings: Iterable[Text], output: str, overwrite: bool) -> None:
    console = terminal()
    with open_output(output, overwrite=overwrite) as stream:
        for number, drawing in enumerate(drawings):
            drawn = Text("\n") + drawing if number else drawing
            if output == "-" and console.is_terminal:
                console.print(drawn, end="")
            else:
                plain = (line.rstrip() for line in drawn.plain.splitlines())
                stream.write("".join(f"{line}\n" for line in plain).encode())
