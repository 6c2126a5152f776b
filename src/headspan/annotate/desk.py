"""Desk: the annotator, the assistant, and the rules by which a sentence stays a tree."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from headspan.annotate.assistant import Assistant
from headspan.annotate.confirmations import (
    CONFIRMED,
    HEAD,
    PARSED,
    RELATION,
    SPAN,
    Confirmed,
    confirmed,
    mark,
    span_of,
    with_comment,
    with_mark,
)
from headspan.annotate.constraining import contradicts
from headspan.conllu import NO_HEAD, Sentence
from headspan.inference import NoTreeError
from headspan.plumbing.errors import HeadspanError
from headspan.tree import check_tree

_NOTHING = Confirmed({}, frozenset(), {})


@dataclass(frozen=True, slots=True)
class Desk:
    """All that an operation needs besides the sentences that it changes."""

    assistant: Assistant
    annotator: str
    sent_ids: Callable[[], Collection[str]] = tuple
    """Returns the sent_ids of all sentences, so that a new sentence gets another one."""

    def shown(self, sentence: Sentence) -> Sentence:
        """The sentence as an annotator sees it: with a tree, the parser's where it has none.

        Heads and relations that it has are kept if there is a tree with them.
        """
        if NO_HEAD not in sentence.heads:
            return sentence
        own = enumerate(zip(sentence.heads, sentence.deprels, strict=True), 1)
        arcs = [(k, head, name) for k, (head, name) in own if head != NO_HEAD]
        heads = {k: head for k, head, _ in arcs}
        named = frozenset(k for k, _, name in arcs if name != "_")
        try:
            tree = self.assistant.tree(sentence, Confirmed(heads, named, {}))
        except NoTreeError:
            tree = self.assistant.tree(sentence, _NOTHING)
        tagged = self.assistant.tagged(sentence).with_parse(tree.heads, tree.deprels)
        return with_comment(tagged, PARSED, self.assistant.name)

    def opened(self, sentence: Sentence) -> Sentence:
        """The sentence as it is shown, to be changed: no longer confirmed as a whole."""
        return with_comment(self.shown(sentence), CONFIRMED, None)

    def parses_along(self, sentence: Sentence) -> bool:
        """Whether the arcs that nobody has confirmed are the parser's, and parsed again."""
        return sentence.comment(PARSED) is not None

    def parsed_again(self, sentence: Sentence) -> Sentence:
        """The sentence with the best tree that has all that is confirmed."""
        return self._parsed(sentence, confirmed(sentence))

    def _parsed(self, sentence: Sentence, fixed: Confirmed) -> Sentence:
        tree = self.assistant.tree(sentence, fixed)
        return sentence.with_parse(tree.heads, tree.deprels)

    def with_head(self, sentence: Sentence, word: int, head: int) -> Sentence:
        """The sentence with another head for a word, confirmed; the newest decision wins.

        Earlier decisions that contradict it are released. If the parser is parsing along, the rest
        is the best tree with what is confirmed; if not, it stays, except where it would not be a
        tree: if a word would then be above itself, a word between it and its new head takes its
        place, one whose head nobody has confirmed; and an old root goes below the new one.
        """
        check_word(sentence, word)
        check_word(sentence, head, root=True)
        if head == word:
            raise HeadspanError(f"word {word} cannot be its own head")
        before = sentence
        if sentence.heads[word - 1] != head:
            sentence = with_mark(sentence, word, RELATION, None)
            for other in _contradicted(sentence, word, head):
                sentence = with_mark(sentence, other, HEAD, None)
                sentence = with_mark(sentence, other, RELATION, None)
        fixed = confirmed(sentence)
        spans = {
            k: (left, right)
            for k, (left, right) in fixed.spans.items()
            if not contradicts((left, right, k), (head, word))
        }
        heads = {**fixed.heads, word: head}
        if self.parses_along(sentence):
            try:
                after = self._parsed(sentence, replace(fixed, heads=heads, spans=spans))
            except NoTreeError:
                after = self._parsed(sentence, replace(fixed, heads=heads, spans={}))
        else:
            after = self._repaired(sentence, word, head)
        return released(before, with_mark(after, word, HEAD, self.annotator))

    def _repaired(self, sentence: Sentence, word: int, head: int) -> Sentence:
        """The sentence with one other head, and as few others as a tree needs."""
        heads = list(sentence.heads)
        above = path_up(heads, head)
        if word in above:  # its new head is below it
            between = above[above.index(word) - 1 :: -1]
            turned = next((k for k in between if not mark(sentence, k, HEAD)), between[0])
            heads[turned - 1] = heads[word - 1]
        elif head == 0:
            for k, old in enumerate(heads, 1):
                if old == 0 and k != word:
                    heads[k - 1] = word
        heads[word - 1] = head
        return self.with_heads(sentence, heads)

    def with_heads(self, sentence: Sentence, heads: Sequence[int]) -> Sentence:
        """The sentence with other heads; new arcs get the parser's relations, unconfirmed."""
        moved = [k for k, head in enumerate(heads, 1) if head != sentence.heads[k - 1]]
        if not moved:
            return sentence
        names = self.assistant.relations(sentence, heads)
        deprels = [names[k] if k + 1 in moved else old for k, old in enumerate(sentence.deprels)]
        for k in moved:
            for name in (HEAD, RELATION):
                sentence = with_mark(sentence, k, name, None)
        return sentence.with_parse(heads, deprels)


def released(before: Sentence, after: Sentence) -> Sentence:
    """A changed sentence of as many words, without the confirmed spans that it no longer has."""
    for k in range(1, len(after) + 1):
        if mark(after, k, SPAN) and span_of(before.heads, k) != span_of(after.heads, k):
            after = with_mark(after, k, SPAN, None)
    return after


def check_word(sentence: Sentence, word: int, *, root: bool = False) -> None:
    """Raise HeadspanError unless there is such a word; root: 0, the root, is also allowed."""
    if not (0 if root else 1) <= word <= len(sentence):
        raise HeadspanError(f"there is no word {word} in a sentence of {len(sentence)} words")


def check_whole(sentence: Sentence) -> None:
    """Raise HeadspanError unless the sentence is a tree with one root."""
    check_tree(sentence.heads)


def _contradicted(sentence: Sentence, word: int, head: int) -> list[int]:
    """The words whose confirmed heads no tree has that also has a new arc."""
    fixed = confirmed(sentence).heads
    if head == 0:
        return [k for k, old in fixed.items() if old == 0 and k != word]
    path, k = [head], head
    while k in fixed and fixed[k] and k != word and len(path) <= len(sentence):
        k = fixed[k]
        path.append(k)
    return [path[path.index(word) - 1]] if word in path[1:] else []


def path_up(heads: Sequence[int], word: int) -> list[int]:
    """A word and the words above it, up to the root."""
    path: list[int] = []
    while word > 0 and word not in path:
        path.append(word)
        word = heads[word - 1]
    return path
