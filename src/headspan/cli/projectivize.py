"""headspan projectivize, deprojectivize: encode non-projective arcs in labels, and restore them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Annotated, Protocol, get_args

import typer

from headspan import conllu, pseudoprojective
from headspan.cli.options import Force, Input, Output, SkipBad, report_skipped, with_progress
from headspan.cli.output_format import output_format
from headspan.conllu import Format, Sentence
from headspan.plumbing.errors import HeadspanError
from headspan.pseudoprojective import LabelledTree, Scheme
from headspan.tree import TreeError

_Scheme = Annotated[
    Scheme,
    typer.Option(
        help="What labels encode: the relation of the original head, the path of lifting, or both."
    ),
]


def projectivize(
    source: Input,
    output: Output = "-",
    scheme: _Scheme = "head",
    skip_bad: SkipBad = False,
    force: Force = False,
) -> None:
    """Make every tree projective, and encode in its labels how to restore it.

    This is the pseudo-projective transformation of Nivre and Nilsson (2005) in MaltParser's
    notation: a lifted word gets the label d|h (head, head+path) or d| (path), and a word that it
    was lifted past gets p% (path, head+path).
    """
    _transform(pseudoprojective.projectivize, source, output, scheme, skip_bad, force)


def deprojectivize(
    source: Input,
    output: Output = "-",
    scheme: _Scheme = "head",
    skip_bad: SkipBad = False,
    force: Force = False,
) -> None:
    """Restore the non-projective trees that `projectivize` encoded in the labels.

    Use the same scheme as for projectivizing.
    """
    _transform(pseudoprojective.deprojectivize, source, output, scheme, skip_bad, force)


class _Transformation(Protocol):
    def __call__(
        self, heads: Sequence[int], deprels: Sequence[str], *, scheme: Scheme
    ) -> LabelledTree: ...


def _transform(
    transformation: _Transformation,
    source: str,
    output: str,
    scheme: Scheme,
    skip_bad: bool,
    force: bool,
) -> None:
    with conllu.read(source, skip_bad=skip_bad) as reader:
        first: list[Sentence] = []
        while reader.format is None and (sentence := next(reader, None)) is not None:
            first.append(sentence)  # until the reader knows the format, which the output shares
        sentences = with_progress(chain(first, reader), "sentences")
        skipped: list[str] | None = [] if skip_bad else None
        transformed = _transformed(sentences, transformation, scheme, reader.name, skipped)
        formats: tuple[Format, ...] = (reader.format or "conllu", *get_args(Format))
        target = output_format(output, None, formats)
        conllu.write(transformed, output, format=target, overwrite=force)
        report_skipped(reader, skipped or ())


def _transformed(
    sentences: Iterable[Sentence],
    transformation: _Transformation,
    scheme: Scheme,
    name: str,
    skipped: list[str] | None,
) -> Iterator[Sentence]:
    """Yield the transformed sentences; add errors to `skipped`, if there is such a list."""
    number = 0
    for sentence in sentences:
        number += len(sentence) > 0
        try:
            parse = transformation(sentence.heads, sentence.deprels, scheme=scheme)
        except TreeError as error:
            sent_id = f" ({sentence.sent_id})" if sentence.sent_id else ""
            message = f"{name}: sentence {number}{sent_id}: {error}"
            if skipped is None:
                raise HeadspanError(message) from error
            skipped.append(message)
        else:
            yield sentence.with_parse(*parse)
