"""Where the words of a sentence are in its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from headspan.conllu.sentence import Sentence

TOKEN_RANGE = re.compile(r"(^|\|)TokenRange=([0-9]{1,18}):([0-9]{1,18})(?![0-9])")

Place: TypeAlias = tuple[int, int]
"""The first character, and the one after the last."""


def token_range(misc: str) -> Place | None:
    """The position of a token in its text, from its MISC column; None if it is not there."""
    match = TOKEN_RANGE.search(misc)
    return (int(match[2]), int(match[3])) if match else None


def places(sentence: Sentence) -> list[Place | None]:
    """The position of every word in the text, or None if it cannot be known.

    Positions come from `TokenRange` in MISC; in a sentence without it, from aligning the tokens
    with the sentence's own text. The words of a multiword token have their own positions if they
    are pieces of it (*do* and *n't* in *don't*); otherwise all have that of the token.
    """
    tokens = sentence.surface_tokens
    found = [token_range(token.misc) for token in tokens]
    own = [token_range(misc) for misc in sentence.misc]
    if not any(found) and not any(own):
        found = _aligned(sentence.text, [token.form for token in tokens])
    result: list[Place | None] = []
    for token, place in zip(tokens, found, strict=True):
        result += _of_words(token.form, place, sentence.forms[token.first - 1 : token.last])
    return [mine or place for mine, place in zip(own, result, strict=True)]


def _of_words(form: str, place: Place | None, words: Sequence[str]) -> list[Place | None]:
    """The positions of a token's words."""
    if len(words) == 1 or place is None:
        return [place] * len(words)
    start, end = place
    pieces: list[Place | None] = []
    at = 0
    for word in words:
        if form[at : at + len(word)].lower() != word.lower():
            return [place] * len(words)
        pieces.append((start + at, start + at + len(word)))
        at += len(word)
    return pieces if at == len(form) == end - start else [place] * len(words)


def _aligned(text: str, forms: Sequence[str]) -> list[Place | None]:
    """The positions of tokens in their text, from its start and, if one differs, from its end.

    A single token in between takes what is left of the text.
    """
    found: list[Place | None] = list(_from_start(text, forms))
    start = found[-1][1] if found and found[-1] else 0
    rest, missing = text[start:], forms[len(found) :]
    if not missing:
        return [None] * len(found) if rest.strip() else found
    backwards = _from_start(rest[::-1], [form[::-1] for form in reversed(missing)])
    last = [(len(text) - end, len(text) - begin) for begin, end in backwards][::-1]
    between: list[Place | None] = [None] * (len(missing) - len(last))
    if len(between) == 1:
        stop = last[0][0] if last else len(text)
        left = text[start:stop]
        if left.strip():
            between[0] = (start + len(left) - len(left.lstrip()), start + len(left.rstrip()))
    return found + between + last


def _from_start(text: str, forms: Sequence[str]) -> Iterator[Place]:
    """The positions of tokens, with white space between them, until one is not there."""
    at = 0
    for form in forms:
        while at < len(text) and text[at].isspace():
            at += 1
        if text.startswith(form, at):
            end = at + len(form)
        else:  # white space inside a token may differ
            match = re.compile(r"\s+".join(map(re.escape, form.split()))).match(text, at)
            if match is None or match.end() == at:
                return
            end = match.end()
        yield at, end
        at = end
