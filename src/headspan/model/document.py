"""Document: a text and the parses of its sentences."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from headspan import interchange
from headspan.conllu import Token, to_text
from headspan.model.parse_result import Parse
from headspan.plumbing.errors import shown
from headspan.plumbing.once import Remembering, once

if TYPE_CHECKING:
    import pandas

_HALF_PAIR = re.compile("[\ud800-\udfff]")  # no file can hold them
_DRAWN = 20
"""Sentences that a document draws in a notebook."""
_LISTED = 10
"""Tokens in the representation of all tokens."""


@dataclass(frozen=True, slots=True, repr=False)
class Document(Sequence[Parse], Remembering):
    """A text and the parses of its sentences: what `parser(text)` returns.

        for sentence in document:
            for token in sentence:
                print(token.text, token.deprel, token.head, token.start, token.end)

    It is a sequence of its sentences: `document[0]` is the first, and a slice is a tuple of
    sentences. Positions of tokens are positions in the text: `document.text[token.start:token.end]`
    is what stood there. In a notebook it draws its trees.
    """

    text: str
    """The whole text, as it was given."""
    sentences: tuple[Parse, ...]
    """The parses of its sentences."""

    @property
    def sents(self) -> tuple[Parse, ...]:
        """The sentences, by spaCy's name for them."""
        return self.sentences

    @property
    def tokens(self) -> DocumentTokens:
        """The tokens of all sentences, as one sequence."""
        return once(self, DocumentTokens.of)

    def __len__(self) -> int:
        """The number of sentences."""
        return len(self.sentences)

    @overload
    def __getitem__(self, at: SupportsIndex) -> Parse: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Parse, ...]: ...

    def __getitem__(self, at: SupportsIndex | slice) -> Parse | tuple[Parse, ...]:
        """A sentence by its index from 0; for a slice, a tuple of sentences."""
        n = len(self.sentences)
        if not isinstance(at, slice) and not -n <= index(at) < n:
            raise IndexError(f"index {index(at)} in a document of {n} sentences")
        return self.sentences[at]

    def __iter__(self) -> Iterator[Parse]:
        """The sentences in order."""
        return iter(self.sentences)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        counts = ((len(self), "sentence"), (len(self.tokens), "word"))
        counted = (f"{n:,} {what}{'s' * (n != 1)}" for n, what in counts)
        return f"Document({shown(self.text, 60)}, {', '.join(counted)})"

    def to_conllu(self) -> str:
        """The document in CoNLL-U, with confidences in MISC if there are any."""
        return to_text(sentence._as_written() for sentence in self.sentences)

    def to_json(self) -> str:
        """The document in JSON: its `text`, and `sentences` as `headspan parse` writes them."""
        sentences = [sentence.as_json() for sentence in self.sentences]
        text = json.dumps({"text": self.text, "sentences": sentences}, ensure_ascii=False)
        return _HALF_PAIR.sub("\N{REPLACEMENT CHARACTER}", text)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict per word, as from a sentence, with the number of its sentence, from 1."""
        return [
            {"sentence": number, **word}
            for number, sentence in enumerate(self.sentences, 1)
            for word in sentence.to_dicts()
        ]

    def to_dataframe(self) -> pandas.DataFrame:
        """The lines of CoNLL-U as a pandas DataFrame, by `interchange.to_pandas`."""
        return interchange.to_pandas(sentence._as_written() for sentence in self.sentences)

    def _repr_html_(self) -> str:
        """Draw the first trees in a notebook."""
        drawn = "".join(sentence._repr_html_() for sentence in self.sentences[:_DRAWN])
        more = len(self) - _DRAWN
        return drawn + (f"<p>… and {more:,} more sentence{'s' * (more > 1)}</p>" * (more > 0))


class DocumentTokens(Sequence[Token]):
    """The tokens of several sentences as one sequence; a slice is a tuple of Tokens."""

    __slots__ = ("_ends", "_sentences")

    def __init__(self, sentences: Sequence[Parse]) -> None:
        self._sentences = sentences
        self._ends = list(accumulate(map(len, sentences)))

    @classmethod
    def of(cls, document: Document) -> DocumentTokens:
        """The tokens of a document."""
        return cls(document.sentences)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, at: SupportsIndex) -> Token: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Token, ...]: ...

    def __getitem__(self, at: SupportsIndex | slice) -> Token | tuple[Token, ...]:
        n = len(self)
        if isinstance(at, slice):
            return tuple(self._token(k) for k in range(*at.indices(n)))
        k = index(at)
        if not -n <= k < n:
            raise IndexError(f"index {k} in a document of {n} words")
        return self._token(k % n)

    def _token(self, k: int) -> Token:
        number = bisect_right(self._ends, k)
        return self._sentences[number][k - (self._ends[number - 1] if number else 0)]

    def __iter__(self) -> Iterator[Token]:
        return chain.from_iterable(self._sentences)

    def __contains__(self, token: object) -> bool:
        return any(token in sentence for sentence in self._sentences)

    def __repr__(self) -> str:
        listed = [*map(repr, self[:_LISTED]), *["…"] * (len(self) > _LISTED)]
        return f"[{', '.join(listed)}]"
