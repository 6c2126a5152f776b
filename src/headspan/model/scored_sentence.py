"""ScoredSentence: a sentence with the network's scores, of which anything can be asked again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headspan.conllu import Sentence
from headspan.inference import Constraints, Trees
from headspan.inference.failures import not_factored
from headspan.model.numbering import prepare
from headspan.model.parse_result import Tree
from headspan.plumbing.limits import check_parsed
from headspan.pseudoprojective import deprojectivize, relation
from headspan.runtime.decoding import DecodingOptions, decode, relation_scores
from headspan.tree import TreeError, subtree_spans
from headspan.vocabulary import RESERVED

if TYPE_CHECKING:
    from headspan.model.parser import Parser


class ArcConfidences(NamedTuple):
    """The probabilities of the arcs of a tree."""

    heads: tuple[float, ...]
    """That the head of each word is right."""
    relations: tuple[float, ...]
    """That its relation is right, if the head is."""


class ScoredSentence:
    """A sentence and its scores: the network runs once, however often trees are asked for.

    `Parser.scored` makes it. The trees are those of `Parser.parse` under the same constraints,
    except that crossing arcs are restored wherever the constraints allow it.
    """

    def __init__(self, parser: Parser, sentence: Sentence) -> None:
        if not parser.network.structure.factored:
            raise not_factored()
        check_parsed(len(sentence), "the sentence", dense=True)
        self.sentence = sentence
        self._parser = parser
        inputs = prepare([sentence], parser.vocabularies, parser.tokenizer)
        self._encoded = parser.network.encode(inputs)

    def __len__(self) -> int:
        return len(self.sentence)

    @property
    def projective(self) -> bool:
        """Whether constrained trees have no crossing arcs but restored ones."""
        return self._parser.network.structure.projective

    def best(self, constraints: Constraints | None = None, *, k: int = 1) -> list[Tree]:
        """The k best trees that satisfy the constraints, best first; fewer if there are fewer.

        If k is 1, the probability of the tree is not computed, and is NaN. Raises NoTreeError.
        """
        options = DecodingOptions(
            constraints=None if constraints is None else [constraints],
            k=k,
            temperatures=self._parser.temperatures,
        )
        output = decode(self._encoded, self._parser.network.sizes, options)
        ranked, shares = output.best, np.array([np.nan])
        if output.alternatives is not None and output.probabilities is not None:
            ranked, shares = output.alternatives[0], output.probabilities[0]
        names = self._parser.vocabularies.labels.names_of
        return [
            Tree(*self._restored(heads, names(labels), constraints), float(score), float(share))
            for heads, labels, score, share in zip(
                ranked.heads.tolist(), ranked.labels, ranked.scores, shares, strict=True
            )
        ]

    def _restored(
        self, heads: list[int], labels: list[str], constraints: Constraints | None
    ) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Heads and relations, with crossing arcs restored unless a constraint is against it."""
        scheme = self._parser.config.data.scheme
        if scheme is not None:
            crossing, relations = deprojectivize(heads, labels, scheme=scheme)
            arcs = {(h, d) for d, h in enumerate(crossing, 1)}
            if constraints is None or (
                arcs.issuperset(constraints.required_arcs)
                and arcs.isdisjoint(constraints.forbidden_arcs)
            ):
                return tuple(crossing), tuple(relations)
        return tuple(heads), tuple(map(relation, labels))

    @cached_property
    def tags(self) -> Mapping[str, Sequence[str]]:
        """The tags and lemmas that the model predicts, by column."""
        vocabularies = self._parser.vocabularies
        numbers = {
            column: tags[0, : len(self)]
            for column, tags in zip(vocabularies.tags, self._encoded.tags, strict=True)
        }
        return vocabularies.predicted(self.sentence, numbers)

    def relations(self, heads: Sequence[int]) -> tuple[str, ...]:
        """The best relation of every arc of a tree, crossing or not."""
        names = self._parser.vocabularies.labels.names_of(self._relation_scores(heads).argmax(-1))
        return tuple(map(relation, names))

    def confidences(
        self, heads: Sequence[int], deprels: Sequence[str], constraints: Constraints | None = None
    ) -> ArcConfidences:
        """The probabilities of a tree's arcs, among all trees that satisfy the constraints.

        The probability of an arc that crosses others is that of the arc itself, which a model with
        projective trees underestimates.
        """
        marginals = self._encoded.scores.arc_marginals(
            self._parser.temperatures.trees, None if constraints is None else [constraints]
        )[0]
        words = np.arange(1, len(self) + 1)
        scores = self._relation_scores(heads).astype(np.float64)
        scores /= self._parser.temperatures.relations
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        plain = [relation(name) for name in self._parser.vocabularies.labels.names]
        of_relations = [
            sum(share for share, name in zip(row, plain, strict=True) if name == own)
            for row, own in zip(shares[:, RESERVED:].tolist(), deprels, strict=True)
        ]
        return ArcConfidences(
            tuple(marginals[list(heads), words].clip(0, 1).tolist()),
            tuple(min(1.0, share) for share in of_relations),
        )

    @cached_property
    def entropy(self) -> float:
        """The entropy of the tree in nats: 0 if there is no doubt."""
        return self._encoded.scores.entropy(0, self._parser.temperatures.trees)

    def _relation_scores(self, heads: Sequence[int]) -> NDArray[np.float32]:
        n = len(self)
        try:
            spans = [(span.left, span.right) for span in subtree_spans(heads)]
        except TreeError:
            spans = [(k, k + 1) for k in range(n)]
        trees = Trees(
            np.array([heads], np.int64),
            np.array([spans], np.int64).reshape(1, n, 2),
            np.zeros(1),
            np.array([n]),
        )
        return relation_scores(self._encoded, self._parser.network.sizes, [0], trees)
