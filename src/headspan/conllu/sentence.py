"""Sentence: an immutable sentence of a treebank, one tuple per column, nothing lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from operator import index
from typing import Literal, NamedTuple, SupportsIndex, TypeAlias

from headspan.plumbing.errors import HeadspanError

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


class Token(NamedTuple):
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


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of n words and their annotation. Index k−1 of a column belongs to word k.

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
    def tokens(self) -> tuple[Token, ...]:
        """The tokens of the text in order: multiword tokens, and words outside of any."""
        return tuple(self._tokens())

    def _tokens(self) -> Iterator[Token]:
        word = 1
        for first, last, columns in self.multiwords:
            yield from (self._word_token(k) for k in range(word, first))
            yield Token(first, last, columns[0], columns[8])
            word = last + 1
        yield from (self._word_token(k) for k in range(word, len(self) + 1))

    def _word_token(self, k: int) -> Token:
        return Token(k, k, self.forms[k - 1], self.misc[k - 1])

    def comment(self, key: str) -> str | None:
        """Return the value of the comment `# key = value`, or None."""
        for line in self.comments:
            name, equals, value = line[1:].partition("=")
            if equals and name.strip() == key:
                return value.strip()
        return None

    @property
    def sent_id(self) -> str | None:
        return self.comment("sent_id")

    @property
    def text(self) -> str:
        """The comment `# text`; if there is none, the tokens joined as `SpaceAfter=No` says."""
        stated = self.comment("text")
        if stated is not None:
            return stated
        return "".join(t.form + " " * t.space_after for t in self._tokens()).rstrip(" ")

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
