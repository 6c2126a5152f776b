"""The row of words, with their tags and the multiword tokens that they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headspan.render.drawable import Drawable
from headspan.render.shapes import Group, Shape, Text, data, line
from headspan.render.style import STYLES
from headspan.render.widths import ems, visible

_FORM = 19.0  # from the top of the row to the baseline of words
_TAG = 16.0  # from there to the baseline of tags
_TOKEN = 24.0  # the height of the line of tokens
_END = 7.0


def measured(text: str, role: str) -> float:
    """Estimate the width of a text in this role."""
    return ems(visible(text), bold=STYLES[role].bold) * STYLES[role].size


@dataclass(frozen=True, slots=True)
class WordRow:
    """The words of a sentence, before they have positions."""

    sentence: Drawable
    widths: tuple[float, ...]
    tagged: bool

    @property
    def height(self) -> float:
        tokens = _TOKEN if self.sentence.multiwords else 0.0
        return _FORM + _TAG * self.tagged + tokens + _END

    def parts(self, middles: Sequence[float], top: float) -> Iterator[Group]:
        """Draw the row, given the middle of each word and the top of the row."""
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


def word_row(sentence: Drawable) -> WordRow:
    """Measure the row of a sentence's words."""
    tagged = any(tag != "_" for tag in sentence.upos)
    widths = [
        max(measured(form, "form"), measured(tag, "tag") if tag != "_" else 0.0)
        for form, tag in zip(sentence.forms, sentence.upos, strict=True)
    ]
    for token in sentence.multiwords:  # it may be wider than its words together
        under = range(token.first - 1, token.last)
        missing = measured(token.form, "token") - sum(widths[k] for k in under)
        for k in under:
            widths[k] += max(0.0, missing) / len(under)
    return WordRow(sentence, tuple(widths), tagged)


def legend(entries: Sequence[tuple[str, str]], x: float, y: float) -> Iterator[Group]:
    """Draw a row of sample lines and their meanings. entries: pairs of a role and a text."""
    for role, text in entries:
        sample = line((x, y - 4), (x + 22, y - 4), role=role)
        width = measured(text, "note")
        yield Group("legend", (), "", (sample, Text(x + 28 + width / 2, y, text, "note")))
        x += width + 46


def legend_width(entries: Sequence[tuple[str, str]]) -> float:
    """Return the width of a legend."""
    return sum(measured(text, "note") + 46 for _, text in entries) - 18 * bool(entries)
