"""A treebank's text as the CoNLL 2018 shared task defines it, and where its tokens end.

Sentences are separated by a space unless the last token has `SpaceAfter=No`, and paragraphs
(`# newpar`, `# newdoc`) by a blank line.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from headspan.conllu import Sentence, Token

_Token: TypeAlias = tuple[str, bool, bool]
"""The form, whether it is a multiword token, whether a space follows."""

_DASHES = 0.2
"""Share of commas that a typeset sentence has dashes for, since treebanks have few dashes."""
_BREAK = re.compile(r"#\s*new(par|doc)\b")


@dataclass(slots=True)
class Passage:
    """A paragraph, and where its tokens and sentences end: the places of their last characters."""

    text: str = ""
    ends: list[int] = field(default_factory=list)
    multiword: list[bool] = field(default_factory=list)
    """Of each token."""
    sentence_ends: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Noise:
    """How often training changes a text, so that the network does not lean on what others lack."""

    joined: float = 0.1
    """Paragraphs that follow the last without a break."""
    lowered: float = 0.02
    """Sentences without capitals."""
    raised: float = 0.01
    """Sentences in capitals."""
    bare: float = 0.02
    """Sentences without their final punctuation."""
    typeset: float = 0.15
    """Sentences with the quotes, apostrophes, dashes and ellipses of printed text."""


def raw_text(sentences: Iterable[Sentence]) -> str:
    """The text of a treebank, as the CoNLL 2018 shared task defines it."""
    return "\n\n".join(passage.text for passage in passages(sentences)) + "\n"


def passages(
    sentences: Iterable[Sentence], *, noise: Noise | None = None, draw: random.Random | None = None
) -> Iterator[Passage]:
    """The paragraphs of a treebank; with noise, changed here and there."""
    draw = draw or random.Random(0)  # noqa: S311 (no secrets here)
    noise = noise or Noise(0, 0, 0, 0, 0)
    passage, pieces, length = Passage(), list[str](), 0
    spaced = True
    for sentence in sentences:
        tokens = [(form, token.last > token.first, space)
                  for token, space in zip(sentence.tokens, spaces_after(sentence), strict=True)
                  if (form := " ".join(token.form.split()))]  # fmt: skip
        if not tokens:
            continue
        if pieces and begins_paragraph(sentence):
            if draw.random() >= noise.joined:
                passage.text = "".join(pieces)
                yield passage
                passage, pieces, length = Passage(), [], 0
            else:
                spaced = True
        if pieces and spaced:
            pieces.append(" ")
            length += 1
        for form, multiword, space in _changed(tokens, noise, draw):
            pieces += form, " " * space
            length += len(form)
            passage.ends.append(length - 1)
            passage.multiword.append(multiword)
            length += space
        spaced = bool(pieces.pop())
        length -= spaced
        passage.sentence_ends.append(length - 1)
    if pieces:
        passage.text = "".join(pieces)
        yield passage


def begins_paragraph(sentence: Sentence) -> bool:
    """Whether a sentence is the first of a paragraph or document, by its comments."""
    return any(_BREAK.match(comment) for comment in sentence.comments)


def spaces_after(sentence: Sentence) -> list[bool]:
    """Whether a space follows each token: by `# text` if it has the tokens, else by SpaceAfter."""
    tokens = sentence.tokens
    stated = sentence.comment("text")
    return (stated and _spaces_in(stated, tokens)) or [token.space_after for token in tokens]


def _spaces_in(text: str, tokens: Sequence[Token]) -> list[bool] | None:
    spaces, place = [], 0
    for token in tokens:
        if not text.startswith(token.form, place):
            return None
        place += len(token.form)
        at = place
        while place < len(text) and text[place].isspace():
            place += 1
        spaces.append(place > at)
    if place < len(text):
        return None
    return [*spaces[:-1], tokens[-1].space_after] if tokens else None


def _changed(tokens: list[_Token], noise: Noise, draw: random.Random) -> list[_Token]:
    chance = draw.random()
    if chance < noise.lowered:
        tokens = [(form.lower(), multiword, space) for form, multiword, space in tokens]
    elif chance < noise.lowered + noise.raised:
        tokens = [(form.upper(), multiword, space) for form, multiword, space in tokens]
    final = tokens[-1][0]
    is_mark = len(final) == 1 and unicodedata.category(final) == "Po"
    if is_mark and len(tokens) > 1 and draw.random() < noise.bare:
        form, multiword, _ = tokens[-2]
        tokens = [*tokens[:-2], (form, multiword, True)]
    if draw.random() < noise.typeset:
        tokens = _typeset(tokens, draw)
    return tokens


def _typeset(tokens: list[_Token], draw: random.Random) -> list[_Token]:
    """A sentence as a printer would set it; here and there with a dash for a comma."""
    result: list[_Token] = []
    before = True
    tight = draw.random() < 0.5
    for form, multiword, after in tokens:
        inside = 0 < len(result) < len(tokens) - 1
        if form in ("--", "---") or (form == "-" and before and after):
            form, multiword = "—", False
            close = tight and inside
        else:
            close = form == "," and after and not before and inside and draw.random() < _DASHES
            form = "—" if close else _quotes(form, before, after).replace("'", "’")
        if close:
            result[-1] = (*result[-1][:2], False)
            after = False
        result.append((form, multiword, after))
        before = after
    return result


def _quotes(form: str, before: bool, after: bool) -> str:
    opens = before and not after
    if form == '"':
        return "“" if opens else "”"
    if form == "'":
        return "‘" if opens else "’"
    return "…" if form == "..." else form
