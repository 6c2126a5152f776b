"""Words into the subwords of a pretrained encoder, in windows of its size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from headspan.plumbing.errors import HeadspanError, first_line, shown
from headspan.plumbing.limits import LONGEST_FORM
from headspan.runtime.inputs import Subwords
from headspan.runtime.tokenizer_parts import checked_growth

_CACHED_WORDS, _CACHED_CHARACTERS = 100_000, 100  # the most words, and their longest length
_SMALLEST_WINDOW = 3  # start, a subword, end
_LONGEST_GROWN = 1_000_000  # characters of a word after the tokenizer's parts have lengthened it
_SPECIAL = ("start", "end", "unknown", "mask", "pad", "window")


class SubwordTokenizer:
    """Turns words into subwords one by one, with a cache.

    A word for which the tokenizer has no subwords is the unknown subword; one with more subwords
    than fit a window is cut. growth: the most characters that the tokenizer makes of one.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        start: int,
        end: int,
        unknown: int,
        mask: int,
        pad: int,
        window: int,
        growth: int = 1,
    ) -> None:
        self.tokenizer = tokenizer
        self.start, self.end, self.unknown, self.mask = start, end, unknown, mask
        self.pad, self.window = pad, window
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._longest = min(LONGEST_FORM, _LONGEST_GROWN // growth)
        self._known: dict[str, list[int]] = {}

    @classmethod
    def from_json(cls, tokenizer: str, special: Any) -> SubwordTokenizer:
        """A tokenizer from the text of its tokenizer.json and its special numbers.

        Raises HeadspanError if it has parts that are not known to be harmless.
        """
        if not isinstance(special, dict) or not all(type(special.get(n)) is int for n in _SPECIAL):
            raise HeadspanError("the tokenizer's special numbers are missing")
        if min(special[name] for name in _SPECIAL) < 0 or special["window"] < _SMALLEST_WINDOW:
            raise HeadspanError("the tokenizer's special numbers are too small")
        growth = checked_growth(tokenizer)
        with _panics_named("tokenizer.json is not a tokenizer"):
            loaded = Tokenizer.from_str(tokenizer)
        return cls(loaded, **{name: special[name] for name in _SPECIAL}, growth=growth)

    def to_json(self) -> tuple[str, dict[str, int]]:
        return self.tokenizer.to_str(pretty=False), {name: getattr(self, name) for name in _SPECIAL}

    def check(self, subwords: int, longest: int) -> None:
        """Raise HeadspanError unless an encoder knows the special subwords and takes a window.

        subwords: how many it knows. longest: how many it takes at a time.
        """
        for name in _SPECIAL:
            number = getattr(self, name)
            if name == "window" and number > longest:
                limit = f"takes {longest:,} at a time"
            elif name != "window" and number >= subwords:
                limit = f"has {subwords:,} subwords"
            else:
                continue
            raise HeadspanError(f"the tokenizer's {name} is {number:,}; the encoder {limit}")

    def word(self, form: str) -> list[int]:
        """The subwords of a word, at least one."""
        known = self._known.get(form)
        if known is None:
            with _panics_named(f"the tokenizer cannot read the word {shown(form)}"):
                encoding = self.tokenizer.encode(form[: self._longest], add_special_tokens=False)
            known = encoding.ids[: self.window - 2] or [self.unknown]
            if len(form) <= _CACHED_CHARACTERS:
                if len(self._known) >= _CACHED_WORDS:
                    self._known.clear()
                self._known[form] = known
        return known

    def count(self, forms: Sequence[str]) -> int:
        """The number of subwords of a sentence, with its start and end."""
        return 2 + sum(len(self.word(form)) for form in forms)

    def encode(
        self,
        sentences: Sequence[Sequence[str]],
        width: int,
        masked: NDArray[np.bool_] | None = None,
    ) -> Subwords:
        """The subwords of a batch whose words lie in a (B, width) grid, width = N + 2.

        masked: (B, width), true for words whose subwords are masked.
        """
        rows: list[list[int]] = []
        pieces: list[tuple[int, int]] = []
        owners: list[int] = []
        for b, forms in enumerate(sentences):
            words = [self.word(form) for form in forms]
            if masked is not None:
                for k in np.flatnonzero(masked[b, 1 : len(words) + 1]).tolist():
                    words[k] = [self.mask] * len(words[k])
            for first, last, own_first, own_last in _windows([len(w) for w in words], self.window):
                row = [self.start]
                if own_first == 0:
                    pieces.append((len(rows), 0))
                    owners.append(b * width)
                for k in range(first, last):
                    if own_first <= k < own_last:
                        positions = range(len(row), len(row) + len(words[k]))
                        pieces.extend((len(rows), position) for position in positions)
                        owners.extend([b * width + k + 1] * len(words[k]))
                    row.extend(words[k])
                row.append(self.end)
                if own_last == len(words):
                    pieces.append((len(rows), len(row) - 1))
                    owners.append(b * width + len(words) + 1)
                rows.append(row)
        longest = max(map(len, rows))
        ids = np.full((len(rows), longest), self.pad, np.int64)
        for r, row in enumerate(rows):
            ids[r, : len(row)] = row
        return Subwords(
            ids,
            np.array([len(row) for row in rows], np.int64),
            np.array([r * longest + position for r, position in pieces], np.int64),
            np.array(owners, np.int64),
        )


@contextmanager
def _panics_named(what: str) -> Iterator[None]:
    """Raise HeadspanError for bare Exceptions of tokenizers, and for panics of its Rust code."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise HeadspanError(f"{what}: {first_line(error)}") from error


def _windows(sizes: list[int], window: int) -> list[tuple[int, int, int, int]]:
    """Windows of words (first, last), with the words (own_first, own_last) whose vectors they give.

    One window if all words fit; else windows overlap by half, and each word belongs to the one in
    which it is furthest from the edges. Words are never cut.
    """
    room = window - 2
    if sum(sizes) <= room:
        return [(0, len(sizes), 0, len(sizes))]
    spans: list[tuple[int, int]] = []
    first = 0
    while True:
        last, used = first, 0
        while last < len(sizes) and used + sizes[last] <= room:
            used += sizes[last]
            last += 1
        spans.append((first, last))
        if last == len(sizes):
            break
        back, most = 0, min(room // 2, room - sizes[last])  # the next word must fit, too
        first = last
        while first > spans[-1][0] + 1 and back + sizes[first - 1] <= most:
            first -= 1
            back += sizes[first]
    cuts = [0]
    for (_, last), (first, _) in pairwise(spans):
        cuts.append((first + last + 1) // 2)
    cuts.append(len(sizes))
    return [
        (first, last, own_first, own_last)
        for (first, last), own_first, own_last in zip(spans, cuts, cuts[1:], strict=False)
    ]


def special_numbers(tokenizer: Any, positions: int) -> dict[str, int]:
    """The special numbers of a transformers tokenizer, for an encoder with this many positions."""
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
    start = tokenizer.cls_token_id if tokenizer.cls_token_id is not None else tokenizer.bos_token_id
    end = tokenizer.sep_token_id if tokenizer.sep_token_id is not None else tokenizer.eos_token_id
    if start is None and end is not None:
        start = pad  # T5 and Marian know it as the start of an answer
    unknown = tokenizer.unk_token_id if tokenizer.unk_token_id is not None else pad
    mask = tokenizer.mask_token_id if tokenizer.mask_token_id is not None else unknown
    if start is None or end is None:
        raise HeadspanError("the encoder's tokenizer has no start and end tokens")
    window = min(positions, tokenizer.model_max_length)
    numbers = (start, end, unknown, mask, pad, window)
    return dict(zip(_SPECIAL, numbers, strict=True))
