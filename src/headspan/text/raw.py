"""The raw text of a treebank as the CoNLL 2018 shared task defines it, and where its tokens end.

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

from headspan.conllu import Sentence, SurfaceToken

_Token: TypeAlias = tuple[str, bool, bool]
"""The form, whether it is a multiword token, whether a space follows."""

_DASHES = 0.2
"""Share of commas that typesetting turns into dashes, because treebanks have few dashes."""
_SINGLE_QUOTES = 0.3
"""Share of typeset sentences that have single quotes instead of double ones."""
_BULLETS = ("-", "*", "•", "–", "o", "·", "1.", "1)")
"""What the items of a list begin with; 1 stands for any number."""
_BREAK = re.compile(r"#\s*new(par|doc)\b")


@dataclass(slots=True)
class Passage:
    """A paragraph, and the positions of the last characters of its tokens and sentences."""

    text: str = ""
    ends: list[int] = field(default_factory=list)
    """The last character of each token."""
    multiword: list[bool] = field(default_factory=list)
    """Whether each token is a multiword token."""
    sentence_ends: list[int] = field(default_factory=list)
    """The last character of each sentence."""


@dataclass(frozen=True)
class Noise:
    """Random changes of the training text, so that the tagger copes with other texts.

    The fields are shares of the paragraphs or sentences.
    """

    joined: float = 0.1
    """Paragraphs joined to the one before."""
    lower_case: float = 0.02
    """Sentences without capitals."""
    upper_case: float = 0.01
    """Sentences in capitals."""
    unpunctuated: float = 0.02
    """Sentences without their final punctuation mark."""
    typeset: float = 0.15
    """Sentences with the quotes, apostrophes, dashes and ellipses of printed text."""
    wrapped: float = 0.1
    """Paragraphs with line ends after 40 to 90 characters, some of them joined to the next."""
    lines: float = 0.04
    """Groups of paragraphs in which every sentence has a line of its own."""
    listed: float = 0.3
    """Such groups that are lists: with bullets, mostly without final punctuation."""
    paragraph_lines: float = 0.03
    """Groups of paragraphs in which every paragraph is a line."""


def raw_text(sentences: Iterable[Sentence]) -> str:
    """The raw text of a treebank, as the CoNLL 2018 shared task defines it."""
    return "\n\n".join(passage.text for passage in passages(sentences)) + "\n"


def passages(
    sentences: Iterable[Sentence], *, noise: Noise | None = None, draw: random.Random | None = None
) -> Iterator[Passage]:
    """The paragraphs of a treebank; with noise, changed here and there."""
    draw = draw or random.Random(0)  # noqa: S311 (no secrets here)
    noise = noise or Noise(0, 0, 0, 0, 0, 0, 0, 0, 0)
    layout = _Layout.choose(noise, draw)
    passage, pieces, length = Passage(), list[str](), 0
    breaks: list[int] = []
    spaced = True
    for sentence in sentences:
        surface = sentence.surface_tokens
        tokens = [(form, token.last > token.first, space)
                  for token, space in zip(surface, spaces_after(sentence), strict=True)
                  if (form := " ".join(token.form.split()))]  # fmt: skip
        if not tokens:
            continue
        if pieces and begins_paragraph(sentence):
            if layout.goes_on(draw):
                spaced = True
                breaks.append(length)
            else:
                passage.text = layout.applied("".join(pieces), passage, breaks)
                yield passage
                layout = _Layout.choose(noise, draw)
                passage, pieces, length, breaks = Passage(), [], 0, []
        if pieces and spaced:
            pieces.append(" ")
            length += 1
        for form, multiword, space in layout.listed(_with_noise(tokens, noise, draw), draw):
            pieces += form, " " * space
            length += len(form)
            passage.ends.append(length - 1)
            passage.multiword.append(multiword)
            length += space
        spaced = bool(pieces.pop())
        length -= spaced
        passage.sentence_ends.append(length - 1)
    if pieces:
        passage.text = layout.applied("".join(pieces), passage, breaks)
        yield passage


@dataclass(frozen=True, slots=True)
class _Layout:
    """The line ends of a passage."""

    width: int = 0
    """The longest line; 0 if lines are not wrapped."""
    sentences: bool = False
    """Whether every sentence has a line of its own."""
    bullet: str = ""
    """What every sentence begins with."""
    unmarked: float = 0.0
    """The share of sentences without their final mark."""
    paragraphs: bool = False
    """Whether every paragraph has a line of its own."""
    joined: float = 0.0
    """The share of paragraphs that are joined to the one before."""

    @classmethod
    def choose(cls, noise: Noise, draw: random.Random) -> _Layout:
        number = draw.random()
        if number < noise.wrapped:
            return cls(width=draw.randint(40, 90), paragraphs=True, joined=0.3)
        number -= noise.wrapped
        if number < noise.lines:
            bullet = draw.choice(_BULLETS) if draw.random() < noise.listed else ""
            unmarked = 0.7 if bullet else draw.choice((0.0, 0.0, 0.9))
            return cls(sentences=True, bullet=bullet, unmarked=unmarked, joined=0.8)
        number -= noise.lines
        if number < noise.paragraph_lines:
            return cls(paragraphs=True, joined=0.8)
        return cls(joined=noise.joined)

    def goes_on(self, draw: random.Random) -> bool:
        """Whether the next paragraph belongs to the same passage."""
        return draw.random() < self.joined

    def listed(self, tokens: list[_Token], draw: random.Random) -> list[_Token]:
        """The tokens of a sentence, as an item of a list if it is one."""
        if draw.random() < self.unmarked:
            tokens = _unmarked(tokens)
        if self.bullet.startswith("1"):
            number = str(draw.randint(1, 12))
            return [(number, False, False), (self.bullet[1], False, True), *tokens]
        return [(self.bullet, False, True), *tokens] if self.bullet else tokens

    def applied(self, text: str, passage: Passage, breaks: Sequence[int]) -> str:
        """The text, with line ends for some of its spaces. breaks: where paragraphs end."""
        characters = list(text)
        places = [end + 1 for end in passage.sentence_ends] if self.sentences else []
        for place in (*places, *(breaks if self.paragraphs else ())):
            if place < len(text) and text[place] == " ":
                characters[place] = "\n"
        if self.width:
            start = last = 0
            for place in (end + 1 for end in passage.ends):
                if place < len(text) and text[place] != " ":
                    continue
                if place - start > self.width and last > start:
                    characters[last] = "\n"
                    start = last + 1
                if place < len(text) and characters[place] == "\n":
                    start = place + 1
                last = place
        return "".join(characters)


def begins_paragraph(sentence: Sentence) -> bool:
    """Tell from its comments whether a sentence is the first of a paragraph or document."""
    return any(_BREAK.match(comment) for comment in sentence.comments)


def spaces_after(sentence: Sentence) -> list[bool]:
    """For each token, whether a space follows: by `# text` if that fits, else by SpaceAfter."""
    tokens = sentence.surface_tokens
    text = sentence.comment("text")
    return (text and _spaces_in(text, tokens)) or [token.space_after for token in tokens]


def lacks_spaces(sentences: Iterable[Sentence]) -> bool:
    """Return whether a treebank says that its text lacks a space somewhere between two tokens."""
    return any(not all(spaces_after(sentence)) for sentence in sentences)


def _spaces_in(text: str, tokens: Sequence[SurfaceToken]) -> list[bool] | None:
    """Find after which tokens a text has a space; None if it does not consist of the tokens."""
    spaces, position = [], 0
    for token in tokens:
        if not text.startswith(token.form, position):
            return None
        end = position = position + len(token.form)
        while position < len(text) and text[position].isspace():
            position += 1
        spaces.append(position > end)
    if position < len(text):
        return None
    return [*spaces[:-1], tokens[-1].space_after] if tokens else None


def _with_noise(tokens: list[_Token], noise: Noise, draw: random.Random) -> list[_Token]:
    number = draw.random()
    if number < noise.lower_case:
        tokens = [(form.lower(), multiword, space) for form, multiword, space in tokens]
    elif number < noise.lower_case + noise.upper_case:
        tokens = [(form.upper(), multiword, space) for form, multiword, space in tokens]
    if draw.random() < noise.unpunctuated:
        tokens = _unmarked(tokens)
    if draw.random() < noise.typeset:
        tokens = _typeset(tokens, draw)
    return tokens


def _unmarked(tokens: list[_Token]) -> list[_Token]:
    """A sentence without its final punctuation mark, if it has one and other tokens."""
    last = tokens[-1][0]
    if len(tokens) == 1 or len(last) > 1 or unicodedata.category(last) != "Po":
        return tokens
    return [*tokens[:-2], (*tokens[-2][:2], True)]


def _typeset(tokens: list[_Token], draw: random.Random) -> list[_Token]:
    """A sentence as it would be printed, here and there with a dash instead of a comma."""
    result: list[_Token] = []
    before = True
    tight = draw.random() < 0.5
    single = draw.random() < _SINGLE_QUOTES
    for form, multiword, after in tokens:
        inside = 0 < len(result) < len(tokens) - 1
        form = "'" if single and form == '"' else form
        if form in ("--", "---") or (form == "-" and before and after):
            form, multiword = "—", False
            close = tight and inside
        elif form == "-" and tight and result and result[-1][0].isdecimal():
            form, close = "–", False
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
