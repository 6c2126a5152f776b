"""Token: a word of a Sentence, as an object."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from headspan.conllu.places import Place, places
from headspan.plumbing.once import once
from headspan.tree import TreeError, subtree_spans

if TYPE_CHECKING:
    from headspan.conllu.sentence import MultiwordToken, Sentence


class Token:
    """A word of a sentence: a view of one row of its columns.

        for token in sentence:
            print(token.text, token.deprel, token.head)

    Tokens are made when they are asked for, and hold only the sentence and an index. Two are equal
    if they are the same word of the same Sentence object. Columns are strings as in the file, `_`
    if there is no value.

    sentence: the sentence of which this is a word. index: its position there, from 0.
    """

    __slots__ = ("index", "sentence")
    sentence: Sentence
    index: int

    def __init__(self, sentence: Sentence, index: int) -> None:
        object.__setattr__(self, "sentence", sentence)
        object.__setattr__(self, "index", index)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"{name} of a Token cannot be set: Sentence.with_tags and Sentence.with_parse return a "
            "new sentence"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name} of a Token cannot be deleted")

    def __reduce__(self) -> tuple[type[Token], tuple[Sentence, int]]:
        return Token, (self.sentence, self.index)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Token):
            return NotImplemented
        return self.index == other.index and self.sentence is other.sentence

    def __hash__(self) -> int:
        return hash((id(self.sentence), self.index))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        parts = [str(self.id), repr(self.text)]
        if self.upos != "_":
            parts.append(self.upos)
        head = self.head
        if head is not None:
            arc = "under" if self.deprel == "_" else f"{self.deprel} of"
            parts.append(f"{arc} {head.id} {head.text}")
        elif self.deprel != "_":
            parts.append(self.deprel)
        return f"Token({', '.join(parts)})"

    @property
    def id(self) -> int:
        """The number of the word, 1 … n, as in CoNLL-U."""
        return self.index + 1

    @property
    def text(self) -> str:
        """The form of the word."""
        return self.sentence.forms[self.index]

    @property
    def lemma(self) -> str:
        """The lemma; `_` if the model does not predict lemmas."""
        return self.sentence.lemmas[self.index]

    @property
    def upos(self) -> str:
        """The universal part of speech, such as `NOUN`."""
        return self.sentence.upos[self.index]

    @property
    def xpos(self) -> str:
        """The part of speech in the treebank's own tags, such as `NNS`."""
        return self.sentence.xpos[self.index]

    @property
    def feats(self) -> dict[str, str]:
        """The morphological features, such as `{"Number": "Plur"}`, as a new dict."""
        return _pairs(self.sentence.feats[self.index])

    @property
    def misc(self) -> dict[str, str]:
        """The entries of the column MISC, as a new dict. One without `=` has the value ""."""
        return _pairs(self.sentence.misc[self.index])

    @property
    def deprel(self) -> str:
        """The relation to the head, such as `nsubj`; `root` for the root."""
        return self.sentence.deprels[self.index]

    @property
    def head(self) -> Token | None:
        """The head of the word; None for the root, and for a word without a head."""
        head = self.sentence.heads[self.index]
        return Token(self.sentence, head - 1) if 0 < head <= len(self.sentence) else None

    @property
    def is_root(self) -> bool:
        """Whether the word is the root of the sentence."""
        return self.sentence.heads[self.index] == 0

    @property
    def children(self) -> tuple[Token, ...]:
        """The words of which this is the head, in the order of the sentence."""
        return self._tokens(once(self.sentence, _children)[self.index])

    @property
    def subtree(self) -> tuple[Token, ...]:
        """The word and all words below it, in the order of the sentence."""
        return self._tokens(sorted(_subtree(self.sentence, self.index)))

    @property
    def ancestors(self) -> tuple[Token, ...]:
        """The head, its head, and so on up to the root."""
        heads, above = self.sentence.heads, dict[int, None]()
        head = heads[self.index]
        while 0 < head <= len(heads) and head - 1 not in above:  # heads of a file may be a cycle
            above[head - 1] = None
            head = heads[head - 1]
        return self._tokens(above)

    @property
    def span(self) -> slice:
        """The headed span, so that `sentence[token.span]` are its words.

        It is the smallest stretch of the sentence with the whole subtree, which is the subtree
        itself unless arcs cross.
        """
        return once(self.sentence, _spans)[self.index]

    @property
    def start(self) -> int | None:
        """The position of its first character in the text.

        It is a position in `document.text` for a word of a Document; for any other word, in the
        text that `TokenRange` in MISC refers to or, without it, in `sentence.text`. The words of a
        multiword token have their own positions if they are pieces of it (*do* and *n't* in
        *don't*); otherwise all have that of the token (*de* and *le* in *du*). None if the text
        does not consist of the tokens.
        """
        place = self._place
        return place[0] if place else None

    @property
    def end(self) -> int | None:
        """The position after its last character in the text, as for `start`."""
        place = self._place
        return place[1] if place else None

    @property
    def _place(self) -> Place | None:
        return once(self.sentence, places)[self.index]

    @property
    def space_after(self) -> bool:
        """Whether a space follows in the text; never inside a multiword token."""
        token = self.multiword
        if token is None:
            misc = self.sentence.misc[self.index]
        elif token.last == self.id:
            misc = token.misc
        else:
            return False
        return "SpaceAfter=No" not in misc.split("|")

    @property
    def confidence(self) -> float | None:
        """The probability that head and relation are right, if parsing gave it or MISC has it."""
        return once(self.sentence, _confidences)[self.index]

    @property
    def head_confidence(self) -> float | None:
        """The probability that the head is right, if it is known."""
        return once(self.sentence, _head_confidences)[self.index]

    @property
    def relation_confidence(self) -> float | None:
        """The probability that the relation is right if the head is, if it is known."""
        return once(self.sentence, _relation_confidences)[self.index]

    @property
    def multiword(self) -> MultiwordToken | None:
        """The multiword token of which this is a part, such as *don't*, or None."""
        return once(self.sentence, _multiwords).get(self.index)

    def as_dict(self) -> dict[str, Any]:
        """The attributes of the word as plain values, ready for JSON; the head as its number.

        The head is 0 for the root and None for a word without a head. Confidences are there only
        if they are known.
        """
        head = self.sentence.heads[self.index]
        values: dict[str, Any] = {
            "id": self.id,
            "text": self.text,
            "lemma": self.lemma,
            "upos": self.upos,
            "xpos": self.xpos,
            "feats": self.feats,
            "head": None if head < 0 else head,
            "deprel": self.deprel,
            "misc": self.misc,
            "start": self.start,
            "end": self.end,
            "space_after": self.space_after,
        }
        for name in ("confidence", "head_confidence", "relation_confidence"):
            if (confidence := getattr(self, name)) is not None:
                values[name] = confidence
        return values

    def _tokens(self, indices: Iterable[int]) -> tuple[Token, ...]:
        return tuple(Token(self.sentence, k) for k in indices)


def _pairs(cell: str) -> dict[str, str]:
    """The entries of FEATS or MISC."""
    if cell == "_":
        return {}
    entries = (entry.partition("=") for entry in cell.split("|"))
    return {key: value for key, _, value in entries}


def _children(sentence: Sentence) -> list[list[int]]:
    """The indices of every word's children."""
    children: list[list[int]] = [[] for _ in sentence.heads]
    for k, head in enumerate(sentence.heads):
        if 0 < head <= len(children):
            children[head - 1].append(k)
    return children


def _subtree(sentence: Sentence, index: int) -> set[int]:
    """The indices of a word and all words below it; heads need not form a tree."""
    children = once(sentence, _children)
    below, waiting = {index}, [index]
    while waiting:
        new = [k for k in children[waiting.pop()] if k not in below]
        below.update(new)
        waiting += new
    return below


def _spans(sentence: Sentence) -> list[slice]:
    """The stretch of every word's subtree."""
    n = len(sentence)
    heads = [head if 0 <= head <= n else 0 for head in sentence.heads]
    try:
        return [slice(left, right) for left, right, _ in subtree_spans(heads)]
    except TreeError:  # a cycle
        subtrees = (_subtree(sentence, k) for k in range(n))
        return [slice(min(below), max(below) + 1) for below in subtrees]


def _multiwords(sentence: Sentence) -> dict[int, MultiwordToken]:
    """The multiword token of every word that is part of one."""
    return {k: token for token in sentence.multiwords for k in range(token.first - 1, token.last)}


def _confidences(sentence: Sentence, name: str = "Confidence") -> list[float | None]:
    from headspan.render.drawable import confidences  # reading a treebank does not need it

    return confidences(sentence, name)


def _head_confidences(sentence: Sentence) -> list[float | None]:
    return _confidences(sentence, "HeadConfidence")


def _relation_confidences(sentence: Sentence) -> list[float | None]:
    return _confidences(sentence, "RelationConfidence")
