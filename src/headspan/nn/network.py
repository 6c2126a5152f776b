"""The whole network: from sentences as numbers to a loss, or to what decoding needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from headspan.config import ModelConfig
from headspan.inference import Structure, Trees
from headspan.inference.pieces import Piece
from headspan.nn.int8 import use_float32, use_int8
from headspan.nn.layers import BiLSTM
from headspan.nn.pretrained import PretrainedEncoder
from headspan.nn.refinement import PriorTrees
from headspan.nn.scorers import LabelScorer, fenceposts
from headspan.nn.tagger import Tagger, tag_loss
from headspan.nn.word_vectors import WordVectors
from headspan.plumbing.stages import stage
from headspan.registries import LOSSES, SCORERS, STRUCTURES
from headspan.runtime.decoding import BEST_TREES, DecodingOptions, Output, decode
from headspan.runtime.inputs import Inputs, VocabularySizes, check_model
from headspan.runtime.tree_scores import TreeScores


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

    def sentences(self, rows: NDArray[np.int64], longest: int) -> Gold:
        """Those of some sentences, with room for this many words."""
        heads, spans, labels, *tags = (
            tensor[rows, :longest] for tensor in (self.heads, self.spans, self.labels, *self.tags)
        )
        return Gold(heads, spans, labels, tags)


@dataclass(frozen=True, slots=True)
class Loss:
    """Sums over a batch."""

    parse: Tensor
    label: Tensor
    tag: Tensor

    def __add__(self, other: Loss) -> Loss:
        return Loss(self.parse + other.parse, self.label + other.label, self.tag + other.tag)


@dataclass(frozen=True, slots=True)
class EncodedTensors:
    """The context of a batch, as decoding asks for it."""

    network: Network
    context: Tensor
    """c_0 … c_{n+1}, (B, N+2, 2H)."""
    scores: TreeScores
    tags: list[NDArray[np.int64]]
    """(B, N) for every column that is predicted."""

    @torch.inference_mode()
    def relations(self, rows: Sequence[int], trees: Trees) -> NDArray[np.float32]:
        """Scores of all relations for every arc of some trees, (arcs, R), tree by tree."""
        heads, spans = torch.from_numpy(trees.heads), torch.from_numpy(trees.spans)
        context = self.context[list(rows), : heads.shape[1] + 2]
        n = torch.from_numpy(self.scores.lengths[list(rows)])
        b, k = heads.ge(0).nonzero(as_tuple=True)
        scores = self.network.label_scores(context, heads, spans, b, k, n)
        return scores.float().cpu().numpy()


class Network(nn.Module):
    """Inputs, tagger, BiLSTM, scorers. `structure` decides which scorers there are.

    crossing: whether arcs may cross, if the structure leaves that open.
    """

    def __init__(
        self,
        model: ModelConfig,
        sizes: VocabularySizes,
        encoder: nn.Module | None = None,
        *,
        crossing: bool = False,
    ) -> None:
        super().__init__()
        check_model(model, sizes, encoder is not None)
        pretrained = (
            PretrainedEncoder(
                encoder,
                mix=model.encoder.layers == "mix",
                fine_tuned=model.encoder.fine_tuned,
                tree_labels=sizes.labels if model.refinements else 0,
            )
            if encoder is not None
            else None
        )
        self.model = model
        self.sizes = sizes
        self.inputs = WordVectors(model, sizes, pretrained)
        size = self.inputs.size
        self.tagger = None
        if model.tagger.columns:
            self.tagger = Tagger(
                2 * model.lstm_size if model.tagger.layer else size,
                model.tagger.size,
                sizes.tags,
                embedding=model.embeddings.tags if model.tagger.as_input else 0,
                dropout=model.dropout,
            )
            size += self.tagger.size
        self.lstm = BiLSTM(size, model.lstm_size, model.lstm_layers, model.dropout)
        if model.lstm_layers:
            size = 2 * model.lstm_size
        named: Structure = STRUCTURES[model.structure]
        self.structure = named.configured(crossing=crossing, beam=model.beam)
        for piece in self.structure.pieces:
            scorer = SCORERS[piece.scorer](size, model.score_size, model.dropout)
            self.add_module(_module_name(piece), scorer)
        self.labels = LabelScorer(size, model.label_size, sizes.labels, model.dropout)

    def context(
        self, inputs: Inputs, prior: PriorTrees | None = None
    ) -> tuple[Tensor, list[Tensor]]:
        """c_0 … c_{n+1}, (B, N+2, 2H), and the scores of tags. prior: trees to refine."""
        vectors, layer = self.inputs(inputs, prior), self.model.tagger.layer
        tags: list[Tensor] = []
        if self.tagger is not None and not layer:
            tags = self.tagger(vectors)
            if self.tagger.size:
                vectors = torch.cat([vectors, self.tagger.embed(tags)], -1)
        states = self.lstm(vectors, torch.from_numpy(inputs.lengths) + 2)
        if self.tagger is not None and layer:
            tags = self.tagger(states[layer])
        return states[-1], tags

    def loss(self, inputs: Inputs, gold: Gold) -> Loss:
        """The losses on the structure, on the gold arcs' relations and on tags.

        With refinements, the sums over all passes. A sentence has another one while its tree
        changes; trees have no gradient.
        """
        loss, encoded = self._loss(inputs, gold, None)
        prior = None
        for _ in range(self.model.refinements):
            rows, prior = self._changed(encoded, prior)
            if not len(rows):
                break
            inputs = inputs.sentences(rows)
            gold = gold.sentences(rows, inputs.width - 2)
            again, encoded = self._loss(inputs, gold, prior)
            loss += again
        return loss

    def _loss(
        self, inputs: Inputs, gold: Gold, prior: PriorTrees | None
    ) -> tuple[Loss, EncodedTensors]:
        """The losses of a single pass, and what it has computed."""
        context, tags = self.context(inputs, prior)
        n = torch.from_numpy(inputs.lengths)
        b, k = gold.labels.ge(0).nonzero(as_tuple=True)
        relations = self.label_scores(context, gold.heads, gold.spans, b, k, n)
        label = functional.cross_entropy(
            relations, gold.labels[b, k].to(context.device), reduction="sum"
        )
        tag = tag_loss(tags, gold.tags) if tags else label.new_zeros(())
        scores = self.tree_scores(context, inputs.lengths)
        parse = LOSSES[self.model.loss](scores, gold.heads, gold.spans)
        return Loss(parse, label, tag), EncodedTensors(self, context, scores, [])

    @torch.no_grad()
    def _changed(
        self, encoded: EncodedTensors, prior: PriorTrees | None
    ) -> tuple[NDArray[np.int64], PriorTrees]:
        """The sentences whose trees are not those that the encoder has read, and their trees."""
        predicted = PriorTrees.of(decode(encoded, self.sizes, BEST_TREES).best)
        rows = predicted.differing(prior)
        return rows, predicted.sentences(rows) if len(rows) else predicted

    @property
    def parameters_count(self) -> int:
        """The number of its weights."""
        return sum(parameter.numel() for parameter in self.parameters())

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Its weights by their names."""
        return {name: tensor.cpu().numpy() for name, tensor in self.state_dict().items()}

    def compute_in_int8(self, wanted: bool) -> None:
        """Compute linear maps in 8-bit integers, or in float32."""
        (use_int8 if wanted else use_float32)(self)

    @torch.inference_mode()
    def parse(self, inputs: Inputs, options: DecodingOptions = BEST_TREES) -> Output:
        """The best trees with their relations, and tags."""
        return decode(self.encode(inputs), self.sizes, options)

    @torch.inference_mode()
    def encode(self, inputs: Inputs) -> EncodedTensors:
        """Compute what decoding needs: of every sentence, what its last pass has computed."""
        self.eval()
        encoded = last = self._encode(inputs, None)
        rows, prior = np.arange(len(inputs.lengths)), None
        for _ in range(self.model.refinements):
            changed, prior = self._changed(last, prior)
            if not len(changed):
                break
            rows, inputs = rows[changed], inputs.sentences(changed)
            last = self._encode(inputs, prior)
            encoded.context[rows, : inputs.width] = last.context
            for whole, part in zip(encoded.tags, last.tags, strict=True):
                whole[rows, : inputs.width - 2] = part
        if last is encoded:
            return encoded
        scores = self.tree_scores(encoded.context, encoded.scores.lengths)
        return replace(encoded, scores=scores)

    def _encode(self, inputs: Inputs, prior: PriorTrees | None) -> EncodedTensors:
        """Compute what decoding needs in a single pass."""
        with stage("encode"):
            context, tags = self.context(inputs, prior)
        with stage("score"):
            scores = self.tree_scores(context, inputs.lengths)
        first = self.sizes.reserved
        best = [(tag[:, 1:-1, first:].argmax(-1) + first).cpu().numpy() for tag in tags]
        return EncodedTensors(self, context, scores, best)

    def tree_scores(self, context: Tensor, lengths: NDArray[np.int64]) -> TreeScores:
        """The scores of every piece of the structure, from the context of a batch."""
        scorers = (self.get_submodule(_module_name(piece)) for piece in self.structure.pieces)
        n = torch.from_numpy(lengths)
        return TreeScores(
            self.structure,
            lengths,
            [scorer(context, n) for scorer in scorers],
            minimum_risk=self.model.minimum_risk,
        )

    def label_scores(
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


def _module_name(piece: Piece) -> str:
    """The name of a piece's scorer in saved weights: spans, arcs, …"""
    return f"{piece.scorer}s"
