"""What a parser is given: checked, with messages that say what to call instead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from headspan.conllu import Sentence
from headspan.inference import Constraints
from headspan.model.document import Document
from headspan.plumbing.errors import HeadspanError, naming, shown

_SURROGATE = re.compile("[\\ud800-\\udfff]")
_UNWRITABLE = re.compile("[\\t\\n\\r\\0\\ud800-\\udfff]")


def lines_of(pieces: Iterable[str]) -> Iterator[str]:
    """The lines of a text that comes in pieces, with their ends."""
    rest: list[str] = []
    for piece in pieces:
        for line in piece.splitlines(keepends=True):
            rest.append(line)
            if line.endswith("\n"):
                yield "".join(rest)
                rest = []
    if rest:
        yield "".join(rest)


def check_reading(**asked: bool) -> None:
    """Raise HeadspanError if a text is to be read in several ways; they are given by name."""
    names = [name for name, is_asked in asked.items() if is_asked]
    if len(names) > 1:
        raise HeadspanError(
            f"{' and '.join(names)} contradict each other; expected one of them at most"
        )


def check_constraints(constraints: Constraints | None) -> None:
    """Raise HeadspanError if these are not constraints for one sentence."""
    if not (constraints is None or isinstance(constraints, Constraints)):
        raise HeadspanError(
            f"the constraints are {kind_of(constraints)}; expected Constraints for one sentence"
        )


def as_sentence(words: Sentence | Sequence[str], number: int) -> Sentence:
    """A sentence from its words; raises HeadspanError if they are not words."""
    if isinstance(words, Sentence):
        if _SURROGATE.search("".join(words.forms)):
            with naming(f"sentence {number}"):
                checked_words(words.forms)
        return words
    if isinstance(words, str):
        raise HeadspanError(
            f"sentence {number} is the string {shown(words)}; expected a Sentence or a list of "
            f"words: {_INSTEAD}"
        )
    with naming(f"sentence {number}"):
        return Sentence.from_words(checked_words(words))


_INSTEAD = "call parse_words for the words of one sentence, or pipe for several texts"


def not_a_text(found: object) -> str:
    """The reason why `parser(found)` is an error, and what to call instead."""
    if isinstance(found, Document) or (
        isinstance(found, Sequence) and found and isinstance(found[0], Sentence)
    ):
        return f"found {kind_of(found)}; expected a text or a Sentence: call parse for several"
    if isinstance(found, Iterable) and not isinstance(found, bytes):
        return f"found {kind_of(found)}; expected a text or a Sentence: {_INSTEAD}"
    return f"found {kind_of(found)}; expected a text or a Sentence"


def kind_of(found: object) -> str:
    """What was found, for a message: its type, with an article."""
    if found is None:
        return "None"
    name = type(found).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {'string' if name == 'str' else name}"


def checked_words(words: Iterable[str]) -> tuple[str, ...]:
    """The words of a sentence. Raises HeadspanError if one is not a string."""
    if isinstance(words, bytes) or not isinstance(words, Iterable):
        raise HeadspanError(f"found {kind_of(words)}; expected the words of a sentence")
    forms = tuple(words)
    for number, form in enumerate(forms, 1):
        if not isinstance(form, str):
            raise HeadspanError(f"word {number} is {shown(form)}; expected a string")
        if not form.strip() or _UNWRITABLE.search(form):
            raise HeadspanError(
                f"word {number} is {shown(form)}; expected a word without tabs, line ends, NUL and "
                "halves of surrogate pairs"
            )
    return tuple(map(str, forms))  # strings of NumPy become plain ones
