"""The work of a request, counted in words, and in portions none of which takes long.

A word of ordinary text counts as one. What takes longer counts as more, so that limits and turns
are about time: on one core, a counted word takes about a millisecond with the English model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from headspan.conllu import Sentence
from headspan.inference import Constraints
from headspan.model.parse_input import lines_of
from headspan.model.parse_options import ParseOptions
from headspan.model.parser import Parser
from headspan.serve.request_limits import Limits, Refusal, RefusalError

_SEGMENTED = 64  # characters of a text that count as one word while it is segmented
_CHARACTERS_PER_WORD = 4  # to guess how many words a text has
_USUAL = 16  # words of a sentence, to guess how many sentences a text has


class Portion(NamedTuple):
    """The next sentences of a request, often one or none, each with its work."""

    sentences: list[tuple[Sentence, int]]
    words: int = 0
    """The work of finding the sentences."""


def counted(words: int, subwords: int, options: ParseOptions, arcs: int = 0) -> int:
    """Count the work for a sentence in words. arcs: the number of arcs in its constraints."""
    count = max(1, words, -(-subwords // 2)) + arcs // 256
    if options.k > 1:
        count += 2 + words * options.k // 16
    if options.k > 1 or options.confidence or arcs:
        count += words**3 >> 16
    return count


def guessed(text: str, options: ParseOptions) -> int:
    """Guess the work for a text that has not been segmented, in words."""
    words = len(text) // _CHARACTERS_PER_WORD + 1
    return -(-words * counted(_USUAL, _USUAL, options) // _USUAL) + len(text) // _SEGMENTED


def segmented(parser: Parser, text: str, limits: Limits, *, lines: bool) -> Iterator[Portion]:
    """The sentences of a text, not counted yet; raises RefusalError at once if it is too long."""
    one_per_line = lines or parser.segmenter is None
    _check_text(text, limits, one_per_line=one_per_line)
    if parser.segmenter is None:
        return (Portion([(sentence, 0)]) for sentence in parser.sentences([text]))
    segmenter = parser.segmenter
    steps = segmenter.line_steps(lines_of([text])) if lines else segmenter.steps([text])
    return (
        Portion([(sentence, 0) for sentence in step.sentences], step.characters // _SEGMENTED)
        for step in steps
    )


def _check_text(text: str, limits: Limits, *, one_per_line: bool) -> None:
    """Refuse a text that no turn could take a bounded part of."""
    most = limits.words * _SEGMENTED
    if len(text) > most:
        raise RefusalError(
            Refusal.TOO_LARGE,
            f"the text has {len(text):,} characters; the limit of this service is {most:,}",
        )
    run = max(map(len, text.split()), default=0)
    if run > limits.run:
        raise RefusalError(
            Refusal.UNUSABLE,
            f"the text has {run:,} characters without white space; "
            f"the limit of this service is {limits.run:,}",
        )
    if one_per_line:
        for number, line in enumerate(text.split("\n"), 1):
            _check_length(f"line {number}", len(line.split()), limits)


def within(
    portions: Iterable[Portion],
    limits: Limits,
    cost: Callable[[Sentence], int],
    options: ParseOptions,
    constraints: Mapping[int, Constraints],
) -> Iterator[Portion]:
    """Count the work of sentences; raises RefusalError at the first that exceeds a limit.

    cost: the number of a sentence's subwords. constraints: by the number of the sentence, from 1.
    """
    number = total = 0
    for portion in portions:
        total += portion.words
        checked: list[tuple[Sentence, int]] = []
        for sentence, _ in portion.sentences:
            number += 1
            subwords = _checked(sentence, number, limits, cost, options)
            bound = constraints.get(number)
            arcs = len((*bound.required_arcs, *bound.forbidden_arcs)) if bound else 0
            words = counted(len(sentence), subwords, options, arcs)
            checked.append((sentence, words))
            total += words
        if total > limits.words:
            raise RefusalError(
                Refusal.TOO_LARGE,
                f"the request counts as more than {limits.words:,} words, "
                "the limit of this service",
            )
        yield Portion(checked, portion.words)


def _checked(
    sentence: Sentence,
    number: int,
    limits: Limits,
    cost: Callable[[Sentence], int],
    options: ParseOptions,
) -> int:
    """The number of a sentence's subwords; raises RefusalError if it is too long or too large."""
    name = f"sentence {number}"
    _check_length(name, len(sentence), limits)
    for position, form in enumerate(sentence.forms, 1):
        if len(form) > limits.word:
            raise RefusalError(
                Refusal.UNUSABLE,
                f"word {position} of {name} has {len(form):,} characters; "
                f"the limit of this service is {limits.word:,}",
            )
    if options.k > 1 and len(sentence) * options.k > limits.trees:
        raise RefusalError(
            Refusal.UNUSABLE,
            f"{name} has {len(sentence):,} words; with {options.k} trees, the limit of this "
            f"service is {limits.trees // options.k:,}",
        )
    subwords = cost(sentence)
    if subwords > limits.subwords:
        raise RefusalError(
            Refusal.UNUSABLE,
            f"{name} has {subwords:,} subwords; the limit of this service is {limits.subwords:,}",
        )
    return subwords


def _check_length(name: str, words: int, limits: Limits) -> None:
    if words > limits.sentence:
        raise RefusalError(
            Refusal.UNUSABLE,
            f"{name} has {words:,} words; the limit of this service is {limits.sentence:,}",
        )
