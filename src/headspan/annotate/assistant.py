"""Assistant: the parser at the side of a person, who has the last word."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from headspan.annotate.confirmations import Confirmed
from headspan.annotate.constraining import Plan, plan, set_aside
from headspan.conllu import Sentence
from headspan.inference import Constraints, NoTreeError
from headspan.inference.failures import not_factored
from headspan.model.parse_result import Tree
from headspan.model.parser import Parser
from headspan.model.scored_sentence import ScoredSentence
from headspan.plumbing.errors import HeadspanError

_KEPT = 64  # sentences whose scores stay in memory


@dataclass(frozen=True, slots=True)
class Opinion:
    """The parser's opinion of a tree, in the light of what is confirmed."""

    confidences: tuple[float, ...]
    """The probability of each word's arc: of its head and its relation."""
    head_confidences: tuple[float, ...]
    relation_confidences: tuple[float, ...]
    entropy: float
    """That of all trees of the sentence, in nats, whatever is confirmed."""


class Assistant:
    """A parser that remembers the scores of the last sentences; it can be shared among threads.

    name: the name of its model.
    """

    def __init__(self, parser: Parser, name: str = "headspan") -> None:
        if not parser.network.structure.factored:
            raise not_factored()
        self.name = name
        self._parser = parser
        self._lock = threading.RLock()
        self._scored: OrderedDict[object, ScoredSentence] = OrderedDict()
        self._last: tuple[object, tuple[Plan, Tree]] | None = None

    @property
    def parser(self) -> Parser:
        """The parser; another one takes its place after training."""
        return self._parser

    def learn(self, parser: Parser) -> None:
        """Go on with another parser."""
        with self._lock:
            self._parser = parser
            self._scored.clear()
            self._last = None

    def scored(self, sentence: Sentence) -> ScoredSentence:
        """A sentence with its scores, which depend on its words and the tags that the model reads.

        Raises HeadspanError if the sentence is too long.
        """
        read = (getattr(sentence, column) for column in self._parser.vocabularies.columns)
        key = (sentence.forms, *read)
        with self._lock:
            scored = self._scored.get(key)
            if scored is None:
                scored = self._scored[key] = self._parser.scored(sentence)
                if len(self._scored) > _KEPT:
                    self._scored.popitem(last=False)
            self._scored.move_to_end(key)
            return scored

    def tree(self, sentence: Sentence, confirmed: Confirmed) -> Tree:
        """The best tree with all that is confirmed; relations that are confirmed stay.

        Raises NoTreeError if there is none.
        """
        _, tree = self._planned(self.scored(sentence), confirmed)
        return _with_relations(tree, sentence, confirmed)

    def alternatives(self, sentence: Sentence, confirmed: Confirmed, k: int) -> list[Tree]:
        """The k best trees with all that is confirmed; without those that arcs set aside spoil."""
        scored = self.scored(sentence)
        try:
            plan, _ = self._planned(scored, confirmed)
        except NoTreeError:
            return []
        trees = scored.best(plan.constraints, k=k)
        if plan.aside:
            restored = (_with_arcs(scored, tree, plan.aside) for tree in trees)
            trees = [tree for tree in restored if tree is not None]
        return [_with_relations(tree, sentence, confirmed) for tree in trees]

    def opinion(self, sentence: Sentence, confirmed: Confirmed) -> Opinion:
        """What the parser thinks of the tree of a sentence; what is confirmed is certain."""
        scored = self.scored(sentence)
        try:
            constraints = self._planned(scored, confirmed)[0].constraints
        except NoTreeError:
            constraints = None
        sure = scored.confidences(sentence.heads, sentence.deprels, constraints)
        words = range(1, len(sentence) + 1)
        heads = tuple(
            1.0 if k in confirmed.heads else c for k, c in zip(words, sure.heads, strict=True)
        )
        relations = tuple(
            1.0 if k in confirmed.relations else c
            for k, c in zip(words, sure.relations, strict=True)
        )
        both = tuple(h * r for h, r in zip(heads, relations, strict=True))
        return Opinion(both, heads, relations, scored.entropy)

    def _planned(self, scored: ScoredSentence, confirmed: Confirmed) -> tuple[Plan, Tree]:
        """The constraints for what is confirmed, and the best tree; those of the last time stay."""
        key = (scored, tuple(confirmed.heads.items()), tuple(confirmed.spans.items()))
        last = self._last
        if last is not None and last[0] == key:
            return last[1]
        planned = _planned(scored, confirmed)
        self._last = key, planned
        return planned

    def relations(self, sentence: Sentence, heads: Sequence[int]) -> tuple[str, ...]:
        """The best relations for the arcs of a tree."""
        return self.scored(sentence).relations(heads)

    def tagged(self, sentence: Sentence, words: Sequence[int] | None = None) -> Sentence:
        """The sentence with predicted tags and lemmas: of some words, or in columns without any."""
        tags = self.scored(sentence).tags
        columns = {}
        for column, predicted in tags.items():
            old = getattr(sentence, column)
            if words is None:
                if all(value == "_" for value in old):
                    columns[column] = tuple(predicted)
            elif any(value != "_" for value in old):
                columns[column] = tuple(
                    predicted[k] if k + 1 in words else value for k, value in enumerate(old)
                )
        return sentence.with_tags(**columns)


def _planned(scored: ScoredSentence, confirmed: Confirmed) -> tuple[Plan, Tree]:
    """The constraints for what is confirmed, and the best tree.

    Arcs that do not cross may still leave no projective tree, if one of them passes over a word
    that is above its head. Then more are set aside, the longest first.
    """
    aside = set_aside(confirmed.heads) if scored.projective else {}
    while True:
        attempt = plan(confirmed, len(scored), aside)
        try:
            (tree,) = scored.best(attempt.constraints)
            return attempt, _with_aside(scored, tree, attempt) if aside else tree
        except NoTreeError:
            lengths = {d: abs(h - d) for d, h in confirmed.heads.items() if h and d not in aside}
            if not lengths or not scored.projective:
                raise
            longest = max(lengths, key=lambda d: lengths[d])
            aside = {**aside, longest: confirmed.heads[longest]}


def _with_aside(scored: ScoredSentence, tree: Tree, plan: Plan) -> Tree:
    """A tree with the arcs that were set aside, whatever has to give way for them.

    If such an arc closes a cycle, its head is below its dependent in the projective tree. The arc
    by which that is so is forbidden, and the sentence is parsed again.
    """
    required = plan.constraints.required_arcs if plan.constraints else ()
    forbidden = set(plan.constraints.forbidden_arcs if plan.constraints else ())
    for _ in range(len(scored) ** 2):
        together = _with_arcs(scored, tree, plan.aside)
        if together is not None:
            return together
        forbidden.add(_closing_arc(tree.heads, plan.aside, set(required)))
        constraints = Constraints(required_arcs=required, forbidden_arcs=sorted(forbidden))
        (tree,) = scored.best(constraints)
    raise HeadspanError("no tree has all arcs that are confirmed")


def _with_arcs(scored: ScoredSentence, tree: Tree, arcs: dict[int, int]) -> Tree | None:
    """A tree with other heads for some words; None if it then is not a tree."""
    heads = list(tree.heads)
    for dependent, head in arcs.items():
        heads[dependent - 1] = head
    if _cycle(heads):
        return None
    names = scored.relations(heads)
    deprels = [names[k] if k + 1 in arcs else old for k, old in enumerate(tree.deprels)]
    return Tree(tuple(heads), tuple(deprels), tree.score, tree.probability)


def _closing_arc(
    heads: Sequence[int], aside: dict[int, int], required: set[tuple[int, int]]
) -> tuple[int, int]:
    """An arc of a cycle that is not confirmed; raises NoTreeError if all of them are."""
    together = [aside.get(k, head) for k, head in enumerate(heads, 1)]
    for word in _cycle(together):
        arc = (together[word - 1], word)
        if word not in aside and arc not in required:
            return arc
    raise NoTreeError("no tree satisfies the constraints: confirmed arcs form a cycle")


def _cycle(heads: Sequence[int]) -> list[int]:
    """The words of a cycle; none if there is none."""
    done: set[int] = set()
    for start in range(1, len(heads) + 1):
        path: list[int] = []
        word = start
        while word and word not in done:
            if word in path:
                return path[path.index(word) :]
            path.append(word)
            word = heads[word - 1]
        done.update(path)
    return []


def _with_relations(tree: Tree, sentence: Sentence, confirmed: Confirmed) -> Tree:
    """A tree with the confirmed relations."""
    deprels = [
        sentence.deprels[k] if k + 1 in confirmed.relations else predicted
        for k, predicted in enumerate(tree.deprels)
    ]
    return Tree(tree.heads, tuple(deprels), tree.score, tree.probability)
