"""Other words for the same text: splitting and joining words, multiword tokens.

Whatever refers to a word by its number follows it: heads, enhanced dependencies, multiword tokens
and empty nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from headspan.annotate.confirmations import without_marks
from headspan.annotate.desk import check_word, path_up
from headspan.conllu import NO_HEAD, EmptyNode, MultiwordToken, Sentence
from headspan.conllu.places import TOKEN_RANGE, token_range
from headspan.plumbing.errors import HeadspanError, shown

_WORDS = ("forms", "lemmas", "upos", "xpos", "feats", "heads", "deprels", "deps", "misc")
_NO_SPACE = "SpaceAfter=No"

Columns: TypeAlias = dict[str, list[Any]]
"""The columns of a sentence's words, by their names."""


def split_word(sentence: Sentence, word: int, forms: Sequence[str]) -> Sentence:
    """Divide a word of the text into several; they must spell it, unless it is part of a token.

    The first keeps head and dependents, and the others depend on it. Their tags are `_`.
    """
    check_word(sentence, word)
    _check_forms(forms)
    old = sentence.forms[word - 1]
    token = token_around(sentence, word)
    if token is None and "".join(forms) != "".join(old.split()):
        raise HeadspanError(
            f"{shown(' '.join(forms))} does not spell {shown(old)}; expected its letters (a "
            "multiword token may have other words)"
        )
    misc = without_marks(sentence.misc[word - 1])
    values = _divided(misc, forms) if token is None else [misc] + ["_"] * (len(forms) - 1)
    return _with_pieces(sentence, word, forms, values)


def split_token(sentence: Sentence, word: int, forms: Sequence[str]) -> Sentence:
    """Make a word of the text a multiword token of several words, as *du* is *de* and *le*."""
    check_word(sentence, word)
    _check_forms(forms)
    if token_around(sentence, word):
        raise HeadspanError(f"word {word} is part of a multiword token already")
    form, misc = sentence.forms[word - 1], without_marks(sentence.misc[word - 1])
    of_token, of_word = _token_misc(misc)
    divided = _with_pieces(sentence, word, forms, [of_word] + ["_"] * (len(forms) - 1))
    columns = (form, *["_"] * 7, of_token)
    token = MultiwordToken(word, word + len(forms) - 1, columns)
    return replace(divided, multiwords=tuple(sorted((*divided.multiwords, token))))


def join_words(sentence: Sentence, word: int) -> Sentence:
    """Make a word and the next one a single word: the one of the two that the other is below.

    A space between them in the text becomes part of the word.
    """
    check_word(sentence, word)
    check_word(sentence, word + 1)
    token, other = token_around(sentence, word), token_around(sentence, word + 1)
    if token != other:
        raise HeadspanError(
            f"words {word} and {word + 1} belong to different tokens; expected words of one "
            "multiword token, or of none"
        )
    if token is not None and token.last - token.first == 1:
        return join_token(sentence, word)
    one, two = sentence.forms[word - 1 : word + 1]
    first, second = (without_marks(misc) for misc in sentence.misc[word - 1 : word + 1])
    space = "" if token or _NO_SPACE in first.split("|") else " "
    return _joined(sentence, word, word + 1, one + space + two, _merged(first, second))


def join_token(sentence: Sentence, word: int) -> Sentence:
    """Make the multiword token around a word a single word."""
    check_word(sentence, word)
    token = token_around(sentence, word)
    if token is None:
        raise HeadspanError(f"word {word} is not part of a multiword token")
    alone = replace(sentence, multiwords=tuple(t for t in sentence.multiwords if t != token))
    misc = _merged(without_marks(sentence.misc[token.first - 1]), token.misc)
    return _joined(alone, token.first, token.last, token.form, misc)


def token_around(sentence: Sentence, word: int) -> MultiwordToken | None:
    """The multiword token that a word is part of."""
    return next((t for t in sentence.multiwords if t.first <= word <= t.last), None)


def renumbered(
    sentence: Sentence,
    columns: Columns,
    first: Callable[[int], int],
    last: Callable[[int], int],
) -> Sentence:
    """A sentence of other words, to which all numbers of words are adjusted.

    first, last: the first and the last new number of an old word; a negative number drops what
    refers to it. `last` is also asked for 0, the start of the sentence.
    """
    heads = [max(first(head), NO_HEAD) if head > 0 else head for head in columns["heads"]]
    nodes = list[EmptyNode]()
    numbers = dict[tuple[int, int], EmptyNode]()
    for node in sentence.empty_nodes:
        after = last(node.after)
        if after >= 0:
            same = sum(other.after == after for other in nodes)
            new = EmptyNode(after, same + 1, node.columns)
            nodes.append(new)
            numbers[node.after, node.number] = new

    def place(identifier: str) -> str | None:
        whole, dot, part = identifier.partition(".")
        if not whole.isdecimal() or (dot and not part.isdecimal()):
            return identifier
        if not dot:
            number = first(int(whole)) if int(whole) else 0
            return str(number) if number >= 0 else None
        node = numbers.get((int(whole), int(part)))
        return f"{node.after}.{node.number}" if node else None

    own = [_placed(deps, place) for deps in columns["deps"]]
    tokens = [
        token._replace(first=first(token.first), last=last(token.last))
        for token in sentence.multiwords
        if first(token.first) > 0 and last(token.last) > 0
    ]
    nodes = [
        node._replace(
            columns=(*node.columns[:7], _placed(node.columns[7], place), *node.columns[8:])
        )
        for node in nodes
    ]
    changed: dict[str, Any] = {name: tuple(values) for name, values in columns.items()}
    changed |= {"heads": tuple(heads), "deps": tuple(own)}
    return replace(sentence, **changed, multiwords=tuple(tokens), empty_nodes=tuple(nodes))


def columns_of(sentence: Sentence) -> Columns:
    """The columns of a sentence's words, to be changed."""
    return {name: list(getattr(sentence, name)) for name in _WORDS}


def _placed(deps: str, place: Callable[[str], str | None]) -> str:
    """A value of DEPS with other numbers; edges to what is gone are left out."""
    if deps == "_":
        return deps
    edges: dict[str, None] = {}
    for edge in deps.split("|"):
        head, colon, name = edge.partition(":")
        new = place(head)
        if new is not None:
            edges[f"{new}{colon}{name}"] = None
    return "|".join(edges) or "_"


def _with_pieces(
    sentence: Sentence, word: int, forms: Sequence[str], misc: Sequence[str]
) -> Sentence:
    more = len(forms) - 1
    columns = columns_of(sentence)
    at = word - 1
    head = sentence.heads[at]
    pieces: Columns = {
        "forms": list(forms),
        "misc": list(misc),
        "heads": [head] + [word] * more,
        "deprels": [sentence.deprels[at]] + ["dep"] * more,
        "deps": [sentence.deps[at]] + ["_"] * more,
    }
    for name, values in pieces.items():
        columns[name][at : at + 1] = values
    for name in ("lemmas", "upos", "xpos", "feats"):
        columns[name][at : at + 1] = ["_"] * len(forms)
    moved = renumbered(
        sentence,
        columns,
        lambda k: k + more * (k > word),
        lambda k: k + more * (k >= word),
    )
    heads = list(moved.heads)
    heads[word : word + more] = [word] * more
    return replace(moved, heads=tuple(heads))


def _joined(sentence: Sentence, first: int, last: int, form: str, misc: str) -> Sentence:
    """The sentence with the words from first to last as one word."""
    fewer = last - first
    inside = range(first, last + 1)
    above = {k: path_up(sentence.heads, k)[1:] for k in inside}
    top = next((k for k in inside if not set(above[k]) & set(inside)), first)
    columns = columns_of(sentence)
    for name in _WORDS:
        columns[name][first - 1 : last] = [columns[name][top - 1]]
    columns["forms"][first - 1], columns["misc"][first - 1] = form, misc
    columns["deps"][first - 1] = _united(sentence.deps[first - 1 : last], inside)
    for name in ("lemmas", "upos", "xpos", "feats"):
        columns[name][first - 1] = "_"
    return renumbered(
        sentence,
        columns,
        lambda k: first if k in inside else k - fewer * (k > last),
        lambda k: first if k in inside else k - fewer * (k > last),
    )


def _united(several: Iterable[str], inside: Iterable[int]) -> str:
    """DEPS of several words in one, without the edges between them."""
    own = set(map(str, inside))
    edges = {edge: None for deps in several if deps != "_" for edge in deps.split("|")}
    return "|".join(edge for edge in edges if edge.partition(":")[0] not in own) or "_"


def _divided(misc: str, forms: Sequence[str]) -> list[str]:
    """MISC of the words that a word of the text was divided into."""
    entries = [] if misc == "_" else misc.split("|")
    place, no_space = token_range(misc), _NO_SPACE in entries
    rest = [e for e in entries if e != _NO_SPACE and not e.startswith("TokenRange=")]
    values, at = [], place[0] if place else 0
    exact = place is not None and place[1] - place[0] == sum(map(len, forms))
    for number, form in enumerate(forms, 1):
        own = rest if number == 1 else []
        if number < len(forms) or no_space:
            own = [*own, _NO_SPACE]
        if exact:
            own = [*own, f"TokenRange={at}:{at + len(form)}"]
            at += len(form)
        values.append("|".join(own) or "_")
    return values


def _token_misc(misc: str) -> tuple[str, str]:
    """MISC of a token, which is about the text, and that of its first word."""
    entries = [] if misc == "_" else misc.split("|")
    textual = [e for e in entries if e.startswith(("SpaceAfter=", "SpacesAfter=", "TokenRange="))]
    return "|".join(textual) or "_", "|".join(e for e in entries if e not in textual) or "_"


def _merged(first: str, second: str) -> str:
    """MISC of two words in one: of spaces, that of the second."""
    entries = [] if first == "_" else [e for e in first.split("|") if e != _NO_SPACE]
    one, two = token_range(first), token_range(second)
    for entry in [] if second == "_" else second.split("|"):
        if entry.startswith("TokenRange=") and one and two:
            span = f"TokenRange={one[0]}:{two[1]}"
            entries = [span if TOKEN_RANGE.fullmatch(e) else e for e in entries]
        elif entry not in entries:
            entries.append(entry)
    return "|".join(entries) or "_"


def _check_forms(forms: Sequence[str]) -> None:
    if len(forms) < 2:
        raise HeadspanError(f"found {shown(' '.join(forms))}; expected at least two words")
    for form in forms:
        if not form.strip() or any(mark in form for mark in "\t\n\r\0"):
            raise HeadspanError(f"found the word {shown(form)}; expected characters to be seen")
