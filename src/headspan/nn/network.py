"""The whole network: from sentences as numbers to a loss, or to trees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from headspan.config import Model
from headspan.inference import arc, joint
from headspan.nn import losses
from headspan.nn.cube import best_trees, score_cube
from headspan.nn.inputs import Inputs, Vocabularies, WordInputs
from headspan.nn.layers import BiLSTM
from headspan.nn.pretrained import PretrainedEncoder
from headspan.nn.scorers import ArcScorer, LabelScorer, SpanScorer, fenceposts


@dataclass(frozen=True, slots=True)
class Gold:
    """The trees to learn, projective: heads (B, N), spans (B, N, 2), labels (B, N); −1 behind."""

    heads: Tensor
    spans: Tensor
    labels: Tensor


@dataclass(frozen=True, slots=True)
class Loss:
    """Sums over a batch."""

    parse: Tensor
    label: Tensor


@dataclass(frozen=True, slots=True)
class Parsed:
    """Trees of a batch: heads (B, N), spans (B, N, 2), labels (B, N); −1 behind the ends."""

    heads: NDArray[np.int64]
    spans: NDArray[np.int64]
    labels: NDArray[np.int64]


class Network(nn.Module):
    """Inputs, BiLSTM, scorers. `structure` decides which scorers there are."""

    def __init__(
        self, model: Model, vocabularies: Vocabularies, encoder: nn.Module | None = None
    ) -> None:
        super().__init__()
        pretrained = (
            PretrainedEncoder(encoder, mix=model.encoder.layers == "mix", tuned=model.encoder.tuned)
            if encoder is not None
            else None
        )
        self.model = model
        self.inputs = WordInputs(model, vocabularies, pretrained)
        self.lstm = BiLSTM(self.inputs.size, model.lstm_size, model.lstm_layers, model.dropout)
        size = 2 * model.lstm_size if model.lstm_layers else self.inputs.size
        if model.structure != "arc":
            self.spans = SpanScorer(size, model.score_size, model.dropout)
        if model.structure != "span":
            self.arcs = ArcScorer(size, model.score_size, model.dropout)
        self.labels = LabelScorer(size, model.label_size, len(vocabularies.labels), model.dropout)

    def context(self, inputs: Inputs) -> Tensor:
        """c_0 … c_{n+1}, (B, N+2, 2H)."""
        context: Tensor = self.lstm(self.inputs(inputs), inputs.lengths + 2)
        return context

    def loss(self, inputs: Inputs, gold: Gold) -> Loss:
        """The loss on the structure and on the gold arcs' relations."""
        context = self.context(inputs)
        n, model = inputs.lengths, self.model
        if model.structure == "span":
            terms = self.spans(context)
            if model.loss == "max-margin":
                parse = losses.span_max_margin(terms, n, gold.heads, gold.spans)
            elif model.loss == "local":
                parse = losses.span_local(terms, n, gold.spans)
            else:
                parse = losses.span_crf(terms, n, gold.spans)
        elif model.structure == "arc":
            scores = self.arcs(context)
            pick = {
                "max-margin": losses.arc_max_margin,
                "local": losses.arc_local,
                "crf": losses.arc_crf,
            }
            parse = pick[model.loss](scores, n, gold.heads)
        else:
            terms, scores = self.spans(context), self.arcs(context)
            if model.loss == "max-margin":
                parse = losses.joint_max_margin(terms, scores, n, gold.heads, gold.spans)
            elif model.loss == "local":
                parse = losses.span_local(terms, n, gold.spans) + losses.arc_local(
                    scores, n, gold.heads
                )
            else:
                parse = losses.joint_crf(terms, scores, n, gold.heads, gold.spans)
        b, k = gold.labels.ge(0).nonzero(as_tuple=True)
        relations = self._label_scores(context, gold.heads, gold.spans, b, k, n)
        label = functional.cross_entropy(
            relations, gold.labels[b, k].to(relations.device), reduction="sum"
        )
        return Loss(parse, label)

    @torch.inference_mode()
    def parse(self, inputs: Inputs) -> Parsed:
        """The best trees and their relations."""
        context = self.context(inputs)
        n = inputs.lengths
        if self.model.structure == "span":
            heads, spans = best_trees(self.spans(context), n)
        else:
            if self.model.structure == "arc":
                trees = arc.best_tree(self.arcs(context), lengths=n)
            else:
                trees = joint.best_tree(
                    score_cube(self.spans(context)), self.arcs(context), lengths=n
                )
            heads, spans = trees.heads.cpu().numpy(), trees.spans.cpu().numpy()
        found, found_spans = torch.from_numpy(heads), torch.from_numpy(spans)
        b, k = found.ge(0).nonzero(as_tuple=True)
        scores = self._label_scores(context, found, found_spans, b, k, n)
        labels = np.full(heads.shape, -1, np.int64)
        labels[b.numpy(), k.numpy()] = (scores[:, 2:].argmax(-1) + 2).cpu().numpy()
        return Parsed(heads, spans, labels)

    def _label_scores(
        self, context: Tensor, heads: Tensor, spans: Tensor, b: Tensor, k: Tensor, n: Tensor
    ) -> Tensor:
        """Scores of all relations for the arcs to words k[t] + 1 of sentences b[t]."""
        device = context.device
        if self.model.labels_from == "words":
            vectors = context[:, :-1]
        else:  # place 0, the root, has the span of the whole sentence
            posts = fenceposts(context)
            whole = torch.stack([torch.zeros_like(n), n], -1)[:, None]
            ends = torch.cat([whole, spans.clamp(min=0)], 1).to(device)
            row = torch.arange(len(n), device=device)[:, None]
            vectors = posts[row, ends[..., 1]] - posts[row, ends[..., 0]]
        upper = heads[b, k].to(device)
        scores: Tensor = self.labels(vectors, vectors, b.to(device), upper, (k + 1).to(device))
        return scores
