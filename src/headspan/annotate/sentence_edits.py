"""Other sentences for the same text: one into two, two into one."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from headspan.annotate.confirmations import (
    CONFIRMED,
    HEAD,
    PARSED,
    RELATION,
    SPAN,
    span_of,
    with_comment,
    with_mark,
)
from headspan.annotate.token_edits import columns_of, renumbered, token_around
from headspan.conllu import Layout, Sentence
from headspan.plumbing.errors import HeadspanError

_OF_ONE = ("sent_id", "text", CONFIRMED, PARSED)
_BEGINNINGS = ("newdoc", "newpar")


def split_sentence(
    sentence: Sentence, word: int, taken: Collection[str]
) -> tuple[Sentence, Sentence]:
    """Divide a sentence after a word. taken: the sent_ids that there are.

    In each half, the first word whose head is in the other half becomes the root, unless the root
    is there, and further ones depend on the root. The first half keeps all comments; the second
    gets a sent_id and a text. Enhanced dependencies between the halves are left out.
    """
    n = len(sentence)
    if not 1 <= word < n:
        raise HeadspanError(f"a sentence of {n} words cannot be divided after word {word}")
    token = token_around(sentence, word)
    if token is not None and token.last > word:
        raise HeadspanError(f"the multiword token {token.form!r} is on both sides of the boundary")
    one, two = _half(sentence, 1, word), _half(sentence, word + 1, n)
    text = sentence.text
    left = replace(one, comments=()).text
    right = replace(two, comments=()).text
    if text.startswith(left) and text[len(left) :].strip():
        right = text[len(left) :].strip()
    newline = sentence.layout.newline
    end = newline if isinstance(newline, str) else newline[0]
    one = replace(one, layout=Layout(sentence.layout.before, end, 2 * end))
    two = replace(two, layout=Layout("", end, sentence.layout.after), comments=())
    if sentence.sent_id is not None:
        two = with_comment(two, "sent_id", _new_id(sentence.sent_id, taken))
    if sentence.comment("text") is not None:
        one, two = with_comment(one, "text", left), with_comment(two, "text", right)
    if (model := sentence.comment(PARSED)) is not None:
        two = with_comment(two, PARSED, model)
    return one, two


def join_sentences(first: Sentence, second: Sentence) -> Sentence:
    """Make two sentences one: the root of the second depends on that of the first as `parataxis`.

    It has the sent_id of the first, and the comments of both, except those of the second that say
    where a document or paragraph begins.
    """
    n = len(first)
    if not n or not len(second):
        raise HeadspanError("a block of comments cannot be joined with a sentence")
    if any(node.after == 0 for node in second.empty_nodes) and any(
        node.after == n for node in first.empty_nodes
    ):
        raise HeadspanError("there are empty nodes on both sides of the boundary")
    columns = columns_of(first)
    roots = [k for k, head in enumerate(first.heads, 1) if head == 0]
    for name, values in columns_of(second).items():
        columns[name] += values
    heads = [
        head + n if head > 0 else (roots[0] if roots else 0) if head == 0 else head
        for head in second.heads
    ]
    columns["heads"][n:] = heads
    columns["deprels"][n:] = [
        "parataxis" if head == 0 and roots else name
        for head, name in zip(second.heads, second.deprels, strict=True)
    ]
    moved = renumbered(second, columns_of(second), lambda k: k + n, lambda k: k + n)
    columns["deps"][n:] = list(moved.deps)
    space = " " if first.surface_tokens[-1].space_after else ""
    kept = tuple(
        line for line in second.comments if _key(line) not in _OF_ONE and not _begins(line)
    )
    joined = replace(
        first,
        **{name: tuple(values) for name, values in columns.items()},
        comments=(*first.comments, *kept),
        multiwords=(*first.multiwords, *moved.multiwords),
        empty_nodes=(*first.empty_nodes, *moved.empty_nodes),
        layout=replace(first.layout, after=second.layout.after),
    )
    for k, head in enumerate(second.heads, n + 1):
        if head == 0:
            joined = without_decisions(joined, k)
    for k in roots:  # its span has grown
        joined = with_mark(joined, k, SPAN, None)
    if first.comment("text") is not None:
        joined = with_comment(joined, "text", first.text + space + second.text)
    return joined


def _half(sentence: Sentence, first: int, last: int) -> Sentence:
    columns = {name: values[first - 1 : last] for name, values in columns_of(sentence).items()}
    inside = replace(
        sentence,
        multiwords=tuple(t for t in sentence.multiwords if first <= t.first and t.last <= last),
        empty_nodes=tuple(
            node for node in sentence.empty_nodes
            if first <= node.after <= last or (node.after == 0 and first == 1)
        ),
    )  # fmt: skip

    def place(k: int) -> int:
        return k - first + 1 if first <= k <= last or k == 0 == first - 1 else -1

    half = renumbered(inside, columns, place, place)
    lost = [k for k, head in enumerate(half.heads, 1) if head < 0]
    root = next((k for k, head in enumerate(half.heads, 1) if head == 0), 0)
    heads, deprels = list(half.heads), list(half.deprels)
    if -1 in sentence.heads[first - 1 : last]:
        return half
    for k in lost:
        heads[k - 1] = root
        deprels[k - 1] = "dep" if root else "root"
        root = root or k
        half = without_decisions(half, k)
    half = replace(half, heads=tuple(heads), deprels=tuple(deprels))
    for k in range(1, len(half) + 1):
        if _moved(span_of(half.heads, k), first - 1) != span_of(sentence.heads, k + first - 1):
            half = with_mark(half, k, SPAN, None)
    return half


def _moved(span: tuple[int, int] | None, by: int) -> tuple[int, int] | None:
    return None if span is None else (span[0] + by, span[1] + by)


def without_decisions(sentence: Sentence, word: int) -> Sentence:
    """The sentence without what was decided about the arc of a word."""
    for name in (HEAD, RELATION):
        sentence = with_mark(sentence, word, name, None)
    return sentence


def _new_id(old: str, taken: Collection[str]) -> str:
    number = 2
    while f"{old}-{number}" in taken:
        number += 1
    return f"{old}-{number}"


def _key(comment: str) -> str:
    return comment[1:].partition("=")[0].strip()


def _begins(comment: str) -> bool:
    return _key(comment).split(" ")[0] in _BEGINNINGS
