"""The row of words, with their tags and the multiword tokens that they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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

    def height(self, first: int, last: int) -> float:
        """Return the height of a row with the words first+1 … last."""
        tokens = any(t.first <= last and t.last > first for t in self.sentence.multiwords)
        return _FORM + _TAG * self.tagged + _TOKEN * tokens + _END

    def parts(self, middles: Mapping[int, float], top: float) -> Iterator[Group]:
        """Draw some of the words, given the middle of each and the top of their row."""
        for k, middle in middles.items():
            form, tag = self.sentence.forms[k - 1], self.sentence.upos[k - 1]
            shapes: list[Shape] = [Text(middle, top + _FORM, visible(form), "form")]
            if self.tagged and tag != "_":
                shapes.append(Text(middle, top + _FORM + _TAG, visible(tag), "tag"))
            yield Group("word", data(word=k), "", tuple(shapes))
        y = top + _FORM + _TAG * self.tagged + 7.0
        for token in self.sentence.multiwords:
            here = [k for k in range(token.first, token.last + 1) if k in middles]
            if not here:
                continue
            left = middles[here[0]] - self.widths[here[0] - 1] / 2
            right = middles[here[-1]] + self.widths[here[-1] - 1] / 2
            brace = line(
                (left, y - 2), (left, y + 3), (right, y + 3), (right, y - 2),
                radius=3, role="brace",
            )  # fmt: skip
            text = Text((left + right) / 2, y + 17, visible(token.form), "token")
            yield Group("token", data(first=token.first, last=token.last), "", (brace, text))


def word_row(sentence: Drawable, *, tags: bool = True) -> WordRow:
    """Measure the row of a sentence's words. tags: False leaves their tags out."""
    tagged = tags and any(tag != "_" for tag in sentence.upos)
    widths = [
        max(measured(form, "form"), measured(tag, "tag") if tagged and tag != "_" else 0.0)
        for form, tag in zip(sentence.forms, sentence.upos, strict=True)
    ]
    for token in sentence.multiwords:  # it may be wider than its words together
        under = range(token.first - 1, token.last)
        missing = measured(token.form, "token") - sum(widths[k] for k in under)
        for k in under:
            widths[k] += max(0.0, missing) / len(under)
    return WordRow(sentence, tuple(widths), tagged)


_LEGEND = 22.0  # the height of a line of a legend


class Legend:
    """Sample lines and their meanings, in as many lines as they need."""

    def __init__(self, entries: Sequence[tuple[str, str]], *, margin: float, width: float) -> None:
        """Place the entries, pairs of a role and a text, in lines of at most this width."""
        self.placed: list[tuple[float, int, str, str]] = []
        self.right = x = margin
        number = 1
        for role, text in entries:
            end = x + 28 + measured(text, "note")
            if self.placed and x > margin and end > width - margin:
                end, x, number = end - x + margin, margin, number + 1
            self.placed.append((x, number, role, text))
            self.right = max(self.right, end)
            x = end + 18
        self.height = _LEGEND * number if entries else 0.0

    def parts(self, top: float) -> Iterator[Group]:
        """Draw the legend below `top`."""
        for x, number, role, text in self.placed:
            y = top + _LEGEND * number
            sample = line((x, y - 4), (x + 22, y - 4), role=role)
            middle = x + 28 + measured(text, "note") / 2
            yield Group("legend", (), "", (sample, Text(middle, y, text, "note")))
