"""Sentence: an immutable sentence of a treebank, one tuple per column, nothing lost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from operator import index
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, SupportsIndex, TypeAlias, overload

from headspan.conllu.token import Token
from headspan.plumbing.errors import HeadspanError, shown
from headspan.plumbing.once import Remembering

if TYPE_CHECKING:
    import pandas

Format: TypeAlias = Literal["conllu", "conllx"]

NO_HEAD = -1
"""The value in `Sentence.heads` where the file has `_`."""


_COLUMNS = (
    "forms", "lemmas", "upos", "xpos", "feats", "heads", "deprels", "deps", "misc",
    "comments", "multiwords", "empty_nodes",
)  # fmt: skip


class MultiwordToken(NamedTuple):
    """A token of several words, such as French *du* for *de* and *le*: the line `3-4`."""

    first: int
    """Its first word."""
    last: int
    """Its last word."""
    columns: tuple[str, ...]
    """Its nine columns from FORM to MISC, as in the file."""

    @property
    def form(self) -> str:
        return self.columns[0]

    @property
    def misc(self) -> str:
        return self.columns[8]


class EmptyNode(NamedTuple):
    """A node of the enhanced graph that is not a word: the line `8.1`."""

    after: int
    """The word before it, or 0 at the start of the sentence: the 8 of `8.1`."""
    number: int
    """The 1 of `8.1`."""
    columns: tuple[str, ...]
    """Its nine columns from FORM to MISC, as in the file."""

    @property
    def form(self) -> str:
        return self.columns[0]


class SurfaceToken(NamedTuple):
    """A piece of the text: a word, or a multiword token."""

    first: int
    last: int
    form: str
    misc: str

    @property
    def space_after(self) -> bool:
        return "SpaceAfter=No" not in self.misc.split("|")


@dataclass(frozen=True, slots=True)
class Layout:
    """The white space around a sentence in its file, so that writing gives back the same bytes."""

    before: str = ""
    """A byte-order mark and blank lines before the file's first sentence."""
    newline: str | tuple[str, ...] = "\n"
    """The end of every line but the last; a tuple if the sentence mixes them."""
    after: str = "\n\n"
    """The end of the last line and the blank lines after it."""


@dataclass(frozen=True, slots=True, repr=False)
class Sentence(Sequence[Token], Remembering):
    """A sentence of n words and their annotation. Index k−1 of a column belongs to word k.

        for token in sentence:
            print(token.text, token.upos, token.deprel, token.head)

    It is a sequence of Tokens, which are views of its columns: `sentence[0]` is the first word,
    `sentence[-1]` the last, and a slice is a tuple of Tokens. `print` shows its text.

    Columns hold the strings of the file, `_` included. Only `heads` are numbers: 0 for the root and
    NO_HEAD (−1) for `_`. A block of comments without words is a Sentence of length 0.
    """

    forms: tuple[str, ...]
    lemmas: tuple[str, ...]
    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    feats: tuple[str, ...]
    heads: tuple[int, ...]
    deprels: tuple[str, ...]
    deps: tuple[str, ...]
    misc: tuple[str, ...]
    comments: tuple[str, ...] = ()
    """The comment lines, with their `#`."""
    multiwords: tuple[MultiwordToken, ...] = ()
    empty_nodes: tuple[EmptyNode, ...] = ()
    layout: Layout = field(default=Layout(), compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in _COLUMNS:
            if not isinstance(getattr(self, name), tuple):
                object.__setattr__(self, name, tuple(getattr(self, name)))
        n = len(self.forms)
        if not (
            n == len(self.lemmas) == len(self.upos) == len(self.xpos) == len(self.feats)
            and n == len(self.heads) == len(self.deprels) == len(self.deps) == len(self.misc)
        ):
            raise HeadspanError(f"the columns of a sentence of {n} words differ in length")

    def __len__(self) -> int:
        """The number of words."""
        return len(self.forms)

    @overload
    def __getitem__(self, at: SupportsIndex) -> Token: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Token, ...]: ...

    def __getitem__(self, at: SupportsIndex | slice) -> Token | tuple[Token, ...]:
        """A word by its index from 0; for a slice, a tuple of words."""
        n = len(self.forms)
        if isinstance(at, slice):
            return tuple(Token(self, k) for k in range(*at.indices(n)))
        k = index(at)
        if not -n <= k < n:
            raise IndexError(f"index {k} in a sentence of {n} words")
        return Token(self, k % n)

    def __iter__(self) -> Iterator[Token]:
        """The words in order."""
        return (Token(self, k) for k in range(len(self.forms)))

    def __contains__(self, token: object) -> bool:
        """Whether a Token is a word of this sentence."""
        return isinstance(token, Token) and token.sentence is self

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        n = len(self.forms)
        return f"{type(self).__name__}({shown(self.text, 60)}, {n:,} word{'s' * (n != 1)})"

    @property
    def root(self) -> Token | None:
        """The root of the tree, the first if there are several; None if there is no tree."""
        return Token(self, self.heads.index(0)) if 0 in self.heads else None

    @property
    def start(self) -> int | None:
        """The position of its first character in the text, as for a Token."""
        return self[0].start if self.forms else None

    @property
    def end(self) -> int | None:
        """The position after its last character in the text."""
        return self[-1].end if self.forms else None

    @classmethod
    def from_words(
        cls,
        forms: Iterable[str],
        *,
        heads: Iterable[SupportsIndex] | None = None,
        deprels: Iterable[str] | None = None,
        upos: Iterable[str] | None = None,
        xpos: Iterable[str] | None = None,
        feats: Iterable[str] | None = None,
        lemmas: Iterable[str] | None = None,
        comments: Iterable[str] = (),
    ) -> Sentence:
        """Make a sentence from its words and any annotation there is."""
        words = tuple(forms)
        empty = ("_",) * len(words)
        bare = cls(
            words, empty, empty, empty, empty, (NO_HEAD,) * len(words), empty, empty, empty,
            comments=tuple(comments),
        )  # fmt: skip
        tagged = bare.with_tags(upos=upos, xpos=xpos, feats=feats, lemmas=lemmas)
        if heads is None and deprels is None:
            return tagged
        return tagged.with_parse(
            bare.heads if heads is None else heads, empty if deprels is None else deprels
        )

    def with_parse(self, heads: Iterable[SupportsIndex], deprels: Iterable[str]) -> Sentence:
        """Return the sentence with this tree in HEAD and DEPREL; all else stays, including DEPS.

        heads: n numbers from 0 (the root) to n, or NO_HEAD. deprels: n relations.
        """
        try:
            new = tuple(map(index, heads))
        except TypeError as error:
            raise HeadspanError(f"heads must be whole numbers: {error}") from error
        for word, head in enumerate(new, 1):
            if not NO_HEAD <= head <= len(self):
                raise HeadspanError(
                    f"word {word} has head {head} in a sentence of {len(self)} words"
                )
        if len(new) != len(self):
            raise HeadspanError(f"{len(new)} heads for a sentence of {len(self)} words")
        return replace(self, heads=new, deprels=self._column("deprels", deprels))

    def with_tags(
        self,
        *,
        upos: Iterable[str] | None = None,
        xpos: Iterable[str] | None = None,
        feats: Iterable[str] | None = None,
        lemmas: Iterable[str] | None = None,
    ) -> Sentence:
        """Return the sentence with these tags; columns that are not given stay."""
        return replace(
            self,
            upos=self.upos if upos is None else self._column("upos", upos),
            xpos=self.xpos if xpos is None else self._column("xpos", xpos),
            feats=self.feats if feats is None else self._column("feats", feats),
            lemmas=self.lemmas if lemmas is None else self._column("lemmas", lemmas),
        )

    def _column(self, name: str, values: Iterable[str]) -> tuple[str, ...]:
        column = tuple(values)
        if len(column) != len(self):
            raise HeadspanError(f"{len(column)} {name} for a sentence of {len(self)} words")
        for word, value in enumerate(column, 1):
            if not isinstance(value, str):
                raise HeadspanError(f"{name} of word {word} is {value!r}; expected a string")
        return tuple(map(str, column))  # strings of NumPy become plain ones

    @property
    def surface_tokens(self) -> tuple[SurfaceToken, ...]:
        """The pieces of the text in order: multiword tokens, and words outside of any."""
        return tuple(self._surface_tokens())

    def _surface_tokens(self) -> Iterator[SurfaceToken]:
        word = 1
        for first, last, columns in self.multiwords:
            yield from (self._word_token(k) for k in range(word, first))
            yield SurfaceToken(first, last, columns[0], columns[8])
            word = last + 1
        yield from (self._word_token(k) for k in range(word, len(self) + 1))

    def _word_token(self, k: int) -> SurfaceToken:
        return SurfaceToken(k, k, self.forms[k - 1], self.misc[k - 1])

    def comment(self, key: str) -> str | None:
        """Return the value of the comment `# key = value`, or None."""
        for line in self.comments:
            name, equals, value = line[1:].partition("=")
            if equals and name.strip() == key:
                return value.strip()
        return None

    @property
    def sent_id(self) -> str | None:
        """The comment `# sent_id`, or None."""
        return self.comment("sent_id")

    @property
    def text(self) -> str:
        """The comment `# text`; if there is none, the tokens joined as `SpaceAfter=No` says."""
        stated = self.comment("text")
        if stated is not None:
            return stated
        return "".join(t.form + " " * t.space_after for t in self._surface_tokens()).rstrip(" ")

    def to_conllu(self) -> str:
        """The sentence in CoNLL-U."""
        from headspan.conllu.writer import to_text  # it imports this module

        return to_text([self._as_written()])

    def to_json(self) -> str:
        """The sentence in JSON, in one line, as `headspan parse --format json` writes it."""
        return json.dumps(self.as_json(), ensure_ascii=False)

    def as_json(self) -> dict[str, Any]:
        """The sentence as plain values for JSON, a list per column; a missing head is None."""
        tags = {name: getattr(self, name) for name in ("lemmas", "upos", "xpos", "feats")}
        return {
            "id": self.sent_id,
            "text": self.text,
            "words": self.forms,
            **{name: column for name, column in tags.items() if set(column) - {"_"}},
            "heads": tuple(None if head == NO_HEAD else head for head in self.heads),
            "relations": self.deprels,
            "starts": [token.start for token in self],
            "ends": [token.end for token in self],
        }

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict per word, with the values of its Token's attributes, ready for JSON."""
        return [token.as_dict() for token in self]

    def to_dataframe(self) -> pandas.DataFrame:
        """The lines of CoNLL-U as a pandas DataFrame, by `interchange.to_pandas`."""
        # by its name, because it is built on top of this package
        frame: pandas.DataFrame = import_module("headspan.interchange").to_pandas(
            [self._as_written()]
        )
        return frame

    def _as_written(self) -> Sentence:
        """The sentence with everything in its columns that has a place there."""
        return self

    def _repr_html_(self) -> str:
        """Draw the tree in a notebook."""
        from headspan.render import arcs_html  # reading a treebank does not need it

        return arcs_html(self)

    @property
    def enhanced(self) -> tuple[tuple[tuple[str, str], ...], ...]:
        """The enhanced dependencies in DEPS: for each word, pairs of head ID and relation."""
        return tuple(_enhanced(deps) for deps in self.deps)


def _enhanced(deps: str) -> tuple[tuple[str, str], ...]:
    if deps == "_":
        return ()
    edges = (edge.partition(":") for edge in deps.split("|"))
    return tuple((head, relation) for head, _, relation in edges)
