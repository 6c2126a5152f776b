"""The row of words, with their tags and the tokens that they are part of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headspan.render.drawable import Drawable
from headspan.render.shapes import Group, Shape, Text, data, line
from headspan.render.style import STYLES
from headspan.render.widths import ems, visible

_FORM = 19.0  # from the top of the row to where the letters of words stand
_TAG = 16.0  # and from there to those of tags
_TOKEN = 24.0  # the height of the tokens' line
_END = 7.0


def measured(text: str, role: str) -> float:
    """About how wide a text is in this role."""
    return ems(visible(text), bold=STYLES[role].bold) * STYLES[role].size


@dataclass(frozen=True, slots=True)
class Row:
    """The words of a sentence, before it is known where each of them stands."""

    sentence: Drawable
    widths: tuple[float, ...]
    tagged: bool

    @property
    def height(self) -> float:
        tokens = _TOKEN if self.sentence.multiwords else 0.0
        return _FORM + _TAG * self.tagged + tokens + _END

    def parts(self, middles: Sequence[float], top: float) -> Iterator[Group]:
        """The shapes, given the middle of each word and the top of the row."""
        for k, (form, tag) in enumerate(zip(self.sentence.forms, self.sentence.upos, strict=True)):
            shapes: list[Shape] = [Text(middles[k], top + _FORM, visible(form), "form")]
            if tag != "_":
                shapes.append(Text(middles[k], top + _FORM + _TAG, visible(tag), "tag"))
            yield Group("word", data(word=k + 1), "", tuple(shapes))
        y = top + _FORM + _TAG * self.tagged + 7.0
        for token in self.sentence.multiwords:
            left = middles[token.first - 1] - self.widths[token.first - 1] / 2
            right = middles[token.last - 1] + self.widths[token.last - 1] / 2
            brace = line(
                (left, y - 2), (left, y + 3), (right, y + 3), (right, y - 2),
                radius=3, role="brace",
            )  # fmt: skip
            text = Text((left + right) / 2, y + 17, visible(token.form), "token")
            yield Group("token", data(first=token.first, last=token.last), "", (brace, text))


def word_row(sentence: Drawable) -> Row:
    """The row of a sentence's words."""
    tagged = any(tag != "_" for tag in sentence.upos)
    widths = [
        max(measured(form, "form"), measured(tag, "tag") if tag != "_" else 0.0)
        for form, tag in zip(sentence.forms, sentence.upos, strict=True)
    ]
    for token in sentence.multiwords:  # which may be longer than its words together
        under = range(token.first - 1, token.last)
        missing = measured(token.form, "token") - sum(widths[k] for k in under)
        for k in under:
            widths[k] += max(0.0, missing) / len(under)
    return Row(sentence, tuple(widths), tagged)


def legend(entries: Sequence[tuple[str, str]], x: float, y: float) -> Iterator[Group]:
    """Samples of lines with what they mean, in a row: pairs of a role and a text."""
    for role, text in entries:
        sample = line((x, y - 4), (x + 22, y - 4), role=role)
        wide = measured(text, "note")
        yield Group("legend", (), "", (sample, Text(x + 28 + wide / 2, y, text, "note")))
        x += wide + 46


def legend_width(entries: Sequence[tuple[str, str]]) -> float:
    """How wide the row of samples is."""
    return sum(measured(text, "note") + 46 for _, text in entries) - 18 * bool(entries)
