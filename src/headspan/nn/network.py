"""The whole network: from sentences as numbers to a loss, or to trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from headspan.config import ModelConfig
from headspan.inference import Constraints, Structure, Trees
from headspan.inference.pieces import Piece
from headspan.nn.layers import BiLSTM
from headspan.nn.pretrained import PretrainedEncoder
from headspan.nn.scorers import LabelScorer, fenceposts
from headspan.nn.tagger import Tagger, tag_loss
from headspan.nn.tree_scores import TreeScores
from headspan.nn.word_vectors import Inputs, VocabularySizes, WordVectors
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.stages import stage
from headspan.registries import LOSSES, SCORERS, STRUCTURES

_MOST_LAYERS = 100


@dataclass(frozen=True, slots=True)
class Gold:
    """The trees and tags to learn; −1 beyond the ends. Trees that the structure can build."""

    heads: Tensor
    """(B, N)"""
    spans: Tensor
    """(B, N, 2)"""
    labels: Tensor
    """(B, N)"""
    tags: Sequence[Tensor] = ()
    """(B, N) for every column that is predicted."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Sums over a batch."""

    parse: Tensor
    label: Tensor
    tag: Tensor


@dataclass(frozen=True, slots=True)
class PredictedTrees:
    """One tree for every sentence of a batch; −1 beyond the ends."""

    heads: NDArray[np.int64]
    """(B, N)"""
    spans: NDArray[np.int64]
    """(B, N, 2)"""
    labels: NDArray[np.int64]
    """(B, N)"""
    scores: NDArray[np.float64]
    """(B,)"""


@dataclass(frozen=True, slots=True)
class Temperatures:
    """Scores are divided by these before they become probabilities."""

    trees: float = 1.0
    relations: float = 1.0


TEMPERATURES = 0.05, 20.0
"""The lowest and the highest temperature that makes sense."""
UNCALIBRATED = Temperatures()
"""Probabilities of the scores as they are."""


@dataclass(frozen=True, slots=True)
class Confidences:
    """Probabilities of predicted arcs, (B, N)."""

    heads: NDArray[np.float64]
    """The probability that the head is right; NaN where a sentence is too long."""
    relations: NDArray[np.float64]
    """The probability that the relation is right, if the head is; NaN beyond the ends."""


@dataclass(frozen=True, slots=True)
class Output:
    """The predictions for a batch."""

    best: PredictedTrees
    tags: list[NDArray[np.int64]]
    """(B, N) for every column that is predicted."""
    confidences: Confidences | None
    """Those of the best trees, if requested."""
    alternatives: list[PredictedTrees] | None
    """The k best trees of each sentence, the axis B being the rank."""
    probabilities: list[NDArray[np.float64]] | None
    """The share that each of these trees has of all trees of its sentence."""


class Network(nn.Module):
    """Inputs, tagger, BiLSTM, scorers. `structure` decides which scorers there are."""

    def __init__(
        self, model: ModelConfig, sizes: VocabularySizes, encoder: nn.Module | None = None
    ) -> None:
        super().__init__()
        pretrained = (
            PretrainedEncoder(
                encoder, mix=model.encoder.layers == "mix", fine_tuned=model.encoder.fine_tuned
            )
            if encoder is not None
            else None
        )
        if model.lstm_layers > _MOST_LAYERS:
            raise HeadspanError(
                f"model.lstm_layers is {model.lstm_layers}; expected {_MOST_LAYERS} at most"
            )
        self.model = model
        self.reserved = sizes.reserved
        self.root_labels = list(sizes.root_labels)
        self.inputs = WordVectors(model, sizes, pretrained)
        size = self.inputs.size
        self.tagger = None
        if model.tagger.columns:
            for column in set(model.tagger.columns) & set(model.embeddings.columns):
                raise HeadspanError(f"the column {column} is either read or predicted, not both")
            self.tagger = Tagger(
                size,
                model.tagger.size,
                sizes.tags,
                embedding=model.embeddings.tags if model.tagger.as_input else 0,
                dropout=model.dropout,
            )
            size += self.tagger.size
        self.lstm = BiLSTM(size, model.lstm_size, model.lstm_layers, model.dropout)
        if model.lstm_layers:
            size = 2 * model.lstm_size
        self.structure: Structure = STRUCTURES[model.structure]
        for piece in self.structure.pieces:
            scorer = SCORERS[piece.scorer](size, model.score_size, model.dropout)
            self.add_module(_module_name(piece), scorer)
        self.labels = LabelScorer(size, model.label_size, sizes.labels, model.dropout)

    def context(self, inputs: Inputs) -> tuple[Tensor, list[Tensor]]:
        """c_0 … c_{n+1}, (B, N+2, 2H), and the scores of tags."""
        vectors = self.inputs(inputs)
        tags: list[Tensor] = []
        if self.tagger is not None:
            tags = self.tagger(vectors)
            if self.tagger.size:
                vectors = torch.cat([vectors, self.tagger.embed(tags)], -1)
        return self.lstm(vectors, inputs.lengths + 2), tags

    def loss(self, inputs: Inputs, gold: Gold) -> Loss:
        """The losses on the structure, on the gold arcs' relations and on tags."""
        context, tags = self.context(inputs)
        n = inputs.lengths
        b, k = gold.labels.ge(0).nonzero(as_tuple=True)
        relations = self._label_scores(context, gold.heads, gold.spans, b, k, n)
        label = functional.cross_entropy(
            relations, gold.labels[b, k].to(context.device), reduction="sum"
        )
        tag = tag_loss(tags, gold.tags) if tags else label.new_zeros(())
        parse = LOSSES[self.model.loss](self.tree_scores(context, n), gold.heads, gold.spans)
        return Loss(parse, label, tag)

    @torch.inference_mode()
    def parse(
        self,
        inputs: Inputs,
        *,
        constraints: Sequence[Constraints | None] | None = None,
        confidence: bool = False,
        temperatures: Temperatures = UNCALIBRATED,
        k: int = 1,
    ) -> Output:
        """The best trees with their relations, and tags.

        constraints: one per sentence, or None for it. confidence: also give the probabilities of
        heads and relations. k: also give the k best trees with their probabilities.
        """
        with stage("encode"):
            context, tags = self.context(inputs)
        n = inputs.lengths
        with stage("score"):
            scores = self.tree_scores(context, n)
        with stage("decode"):
            trees = scores.best(constraints)
        with stage("label"):
            relations = self.relation_scores(context, trees, n)
            best = self._labelled(trees, relations)
        confidences = None
        if confidence:
            marginals = scores.arc_marginals(temperatures.trees)
            word = np.arange(1, best.heads.shape[1] + 1)
            confidences = Confidences(
                marginals[np.arange(len(n))[:, None], best.heads.clip(0), word],
                _probabilities_of_best(best, relations / temperatures.relations),
            )
        alternatives = probabilities = None
        if k > 1:
            alternatives = [
                self._alternatives(context, scores, b, k, constraint)
                for b, constraint in enumerate(constraints or [None] * len(n))
            ]
            probabilities = [
                scores.shares(b, trees.scores, temperatures.trees)
                for b, trees in enumerate(alternatives)
            ]
        numbers = [self._numbers(column[:, 1:-1]) for column in tags]
        return Output(best, numbers, confidences, alternatives, probabilities)

    def tree_scores(self, context: Tensor, n: Tensor) -> TreeScores:
        """The scores of every piece of the structure, from the context of a batch."""
        scorers = (self.get_submodule(_module_name(piece)) for piece in self.structure.pieces)
        return TreeScores(
            self.structure,
            n,
            [scorer(context, n) for scorer in scorers],
            minimum_risk=self.model.minimum_risk,
        )

    def _alternatives(
        self, context: Tensor, scores: TreeScores, b: int, k: int, constraints: Constraints | None
    ) -> PredictedTrees:
        trees = scores.k_best(b, k, constraints)
        count, n = len(trees.heads), int(scores.lengths[b])
        same = context[b, : n + 2].expand(count, -1, -1)
        return self._labelled(trees, self.relation_scores(same, trees, torch.full((count,), n)))

    def relation_scores(self, context: Tensor, trees: Trees, n: Tensor) -> Tensor:
        """Scores of all relations for every arc of some trees, sentence by sentence and in order.

        They are −inf for the relation of the root below a word, for others below the root, and for
        reserved numbers.
        """
        heads, spans = torch.from_numpy(trees.heads), torch.from_numpy(trees.spans)
        b, k = heads.ge(0).nonzero(as_tuple=True)
        scores = self._label_scores(context, heads, spans, b, k, n)
        scores[:, : self.reserved] = -torch.inf
        if 0 < len(self.root_labels) < scores.shape[1] - self.reserved:
            only_root = torch.zeros(scores.shape[1], dtype=torch.bool, device=scores.device)
            only_root[self.root_labels] = True
            is_root = heads[b, k].eq(0).to(scores.device)
            scores.masked_fill_(is_root[:, None] != only_root, -torch.inf)
        return scores

    def _labelled(self, trees: Trees, scores: Tensor) -> PredictedTrees:
        labels = np.full(trees.heads.shape, -1, np.int64)
        labels[trees.heads >= 0] = self._numbers(scores)
        return PredictedTrees(trees.heads, trees.spans, labels, trees.scores)

    def _numbers(self, scores: Tensor) -> NDArray[np.int64]:
        """The numbers with the highest scores, along the last axis; no reserved ones."""
        return (scores[..., self.reserved :].argmax(-1) + self.reserved).cpu().numpy()

    def _label_scores(
        self, context: Tensor, heads: Tensor, spans: Tensor, b: Tensor, k: Tensor, n: Tensor
    ) -> Tensor:
        """Scores of all relations for the arcs to words k[t] + 1 of sentences b[t]."""
        device = context.device
        if self.model.labels_from == "words":
            vectors = context[:, :-1]
        else:  # the root, at 0, has the span of the whole sentence
            posts = fenceposts(context)
            whole = torch.stack([torch.zeros_like(n), n], -1)[:, None]
            ends = torch.cat([whole, spans.clamp(min=0)], 1).to(device)
            row = torch.arange(len(n), device=device)[:, None]
            vectors = posts[row, ends[..., 1]] - posts[row, ends[..., 0]]
        head = heads[b, k].to(device)
        scores: Tensor = self.labels(vectors, vectors, b.to(device), head, (k + 1).to(device))
        return scores


def _probabilities_of_best(trees: PredictedTrees, scores: Tensor) -> NDArray[np.float64]:
    """The probability of the best relation of every arc, (B, N); scores as `relation_scores`."""
    values = np.full(trees.heads.shape, np.nan)
    values[trees.heads >= 0] = scores.double().softmax(-1).amax(-1).cpu().numpy()
    return values


def _module_name(piece: Piece) -> str:
    """The name of a piece's scorer in saved weights: spans, arcs, …"""
    return f"{piece.scorer}s"
