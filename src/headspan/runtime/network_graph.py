"""The network of a parser as graphs: from the numbers of words to scores, and to relations.

They compute what `nn/network.py` computes, for structures whose scores are matrices; the weights
are the same, under the same names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from headspan.config import ModelConfig
from headspan.inference.pieces import Piece
from headspan.registries import STRUCTURES
from headspan.runtime.bert import BertSizes, bert, is_plain_bert
from headspan.runtime.graph_layers import END, Layers, Weights
from headspan.runtime.inputs import VocabularySizes, check_model
from headspan.runtime.onnx_format import Graph
from headspan.runtime.packing import Array, unpacked

CHARACTER_SIZE, CHARACTER_WIDTH = 32, 3
"""The size of a character's embedding, and the characters that the convolution sees."""
RELATIONS = "labels.weight"
"""The weights of relations."""
_SIDES = {
    "arc": ("arcs", "head", "dependent"),
    "left_end": ("left_ends", "post", "word"),
    "right_end": ("right_ends", "post", "word"),
}  # the names of a piece's weights, by its scorer


def piece_name(piece: Piece) -> str:
    """The name of a piece's weights and of its scores: arcs, left_ends, …"""
    return _SIDES[piece.scorer][0]


def reason_for_torch(model: ModelConfig, encoder: Mapping[str, Any] | None) -> str | None:
    """The reason why a network has no graph; None if it has one."""
    for piece in STRUCTURES[model.structure].pieces:
        if piece.scorer not in _SIDES:
            return f"the structure {model.structure!r}"
    if model.refinements:
        return "the refinement of trees"
    if model.labels_from != "words":
        return "relations from spans"
    if encoder is not None and not is_plain_bert(encoder):
        return f"the encoder {encoder.get('model_type')!r}"
    return None


def network_graph(
    model: ModelConfig,
    sizes: VocabularySizes,
    encoder: BertSizes | None,
    stored: Mapping[str, Array],
    *,
    int8: bool = False,
) -> Graph:
    """The network up to scores, best tags and the vectors of words as parents and children.

    stored: its weights, packed or not. Raises HeadspanError if a tensor is missing, has another
    shape, or does not belong to it.
    """
    check_model(model, sizes, encoder is not None)
    graph, weights = Graph("network"), Weights(stored)
    layers = Layers(graph, weights, int8=int8)
    lengths = graph.input("lengths", "int64", "B")
    vectors, size = _word_vectors(layers, model, sizes, encoder, lengths)
    whole = graph.add("Add", lengths, graph.numbers(2))
    for k in range(model.lstm_layers + 1):
        if k:
            names = f"lstm.ahead.{k - 1}", f"lstm.back.{k - 1}"
            vectors = layers.bilstm(vectors, whole, *names, size, model.lstm_size)
            size = 2 * model.lstm_size
        if model.tagger.columns and k == model.tagger.layer:
            vectors, size = _tagged(layers, model, sizes, vectors, size)
    words, posts = layers.cut(vectors, 1, 0, -1), _fenceposts(layers, vectors, size)
    for piece in STRUCTURES[model.structure].pieces:
        name, first, second = _SIDES[piece.scorer]
        left = layers.projection(
            words if first == "head" else posts, f"{name}.{first}", size, model.score_size
        )
        right = layers.projection(words, f"{name}.{second}", size, model.score_size)
        scores = _biaffine(layers, left, right, f"{name}.weight", model.score_size + 1)
        graph.output(scores, name, "float32", "B", "N+1", "N+1")
    for side in ("parent", "child"):
        vector = layers.projection(words, f"labels.{side}", size, model.label_size)
        graph.output(layers.with_one(vector), side, "float32", "B", "N+1", model.label_size + 1)
    weights.take(RELATIONS, sizes.labels, model.label_size + 1, model.label_size + 1)
    weights.check_all_used()
    return graph


def relation_graph(stored: Mapping[str, Array]) -> Graph:
    """Scores of all relations, (families, children, R), of parents and some children of each."""
    weight = unpacked(stored, RELATIONS)
    relations, size, _ = weight.shape
    graph = Graph("relations")
    parents = graph.input("parents", "float32", "F", size)
    children = graph.input("children", "float32", "F", "C", size)
    folded = graph.constant(RELATIONS, weight.transpose(1, 0, 2).reshape(size, -1))
    of_parents = graph.add("MatMul", parents, folded)
    of_parents = graph.add("Reshape", of_parents, graph.numbers(-1, relations, size))
    scores = graph.add("MatMul", children, graph.add("Transpose", of_parents, perm=[0, 2, 1]))
    graph.output(scores, "relations", "float32", "F", "C", relations)
    return graph


def _biaffine(layers: Layers, left: str, right: str, name: str, size: int) -> str:
    g = layers.graph
    weight = g.constant(name, layers.weights.take(name, size, size))
    folded = g.add("MatMul", layers.with_one(left), weight)
    return g.add("MatMul", folded, g.add("Transpose", layers.with_one(right), perm=[0, 2, 1]))


def _fenceposts(layers: Layers, context: str, size: int) -> str:
    """[f_k; b_{k+1}] for k = 0 … N."""
    ahead = layers.cut(layers.cut(context, 1, 0, -1), 2, 0, size // 2)
    return layers.joined([ahead, layers.cut(layers.cut(context, 1, 1, END), 2, size // 2, END)])


def _tagged(
    layers: Layers, model: ModelConfig, sizes: VocabularySizes, vectors: str, size: int
) -> tuple[str, int]:
    """Output the best tags; returns the vectors, with those of tags if the parser sees them."""
    g, tagger = layers.graph, model.tagger
    hidden = layers.projection(vectors, "tagger.layer", size, tagger.size)
    parts, width = [vectors], model.embeddings.tags
    for k, tags in enumerate(sizes.tags):
        scores = layers.linear(hidden, f"tagger.scores.{k}", tagger.size, tags)
        possible = layers.cut(layers.cut(scores, 1, 1, -1), 2, sizes.reserved, END)
        best = g.add("ArgMax", possible, axis=2, keepdims=0)
        best = g.add("Add", best, g.numbers(sizes.reserved))
        g.output(best, f"tags.{k}", "int64", "B", "N")
        if tagger.as_input and width:
            shares = g.add("Softmax", scores, axis=-1)
            parts.append(layers.linear(shares, f"tagger.embeddings.{k}", tags, width, bias=False))
    return layers.joined(parts), size + width * (len(parts) - 1)


def _word_vectors(
    layers: Layers,
    model: ModelConfig,
    sizes: VocabularySizes,
    encoder: BertSizes | None,
    lengths: str,
) -> tuple[str, int]:
    """The vectors of words, (B, N+2, size), and their size."""
    g, e = layers.graph, model.embeddings
    grid = "B", "N+2"
    learned = []
    if e.words:
        numbers = g.input("words", "int64", *grid)
        learned.append(layers.embedding(numbers, "inputs.words", sizes.words, e.words))
    if e.characters:
        learned.append(_spelled(layers, sizes.characters, e.characters))
    for k, tags in enumerate(sizes.columns):
        numbers = g.input(f"column.{k}", "int64", *grid)
        learned.append(layers.embedding(numbers, f"inputs.tags.{k}", tags, e.tags))
    width = e.words + e.characters + e.tags * len(sizes.columns)
    ends = layers.weights.take("inputs.ends", 2, width)
    parts, size = [], width
    if encoder is not None:
        parts.append(_encoded(layers, model, encoder))
        size += encoder.hidden_size
    if learned:
        place = g.input("places", "int64", "N+2")
        last = g.add("Unsqueeze", g.add("Add", lengths, g.numbers(1)), g.numbers(1))
        inner = layers.joined(learned)
        for at, (name, end) in zip((g.numbers(0), last), zip("01", ends, strict=True), strict=True):
            is_end = g.add("Unsqueeze", g.add("Equal", place, at), g.numbers(-1))
            inner = g.add("Where", is_end, g.constant(f"inputs.ends.{name}", end), inner)
        parts.append(inner)
    return layers.joined(parts), size


def _spelled(layers: Layers, characters: int, size: int) -> str:
    """Vectors of words from their characters."""
    g, name = layers.graph, "inputs.characters"
    numbers = g.input("characters", "int64", "U", "C")
    present = g.add("Greater", numbers, g.scalar(0, "int64"))
    x = layers.embedding(numbers, f"{name}.embedding", characters, CHARACTER_SIZE)
    x = g.add("Transpose", x, perm=[0, 2, 1])
    x = layers.convolution(x, f"{name}.convolution", CHARACTER_SIZE, size, CHARACTER_WIDTH)
    x = layers.masked(x, g.add("Unsqueeze", present, g.numbers(1)))
    highest = layers.leaky(g.add("ReduceMax", x, g.numbers(2), keepdims=0))
    return g.add("Gather", highest, g.input("spelled", "int64", "B", "N+2"))


def _encoded(layers: Layers, model: ModelConfig, sizes: BertSizes) -> str:
    """Vectors of words as the means of their subwords' vectors, which are a mix of layers."""
    g = layers.graph
    states = bert(layers, sizes, "inputs.encoder.encoder")
    hidden = states[-1]
    if model.encoder.layers == "mix":
        mix = layers.weights.take("inputs.encoder.mix", len(states))
        shares = np.exp(mix - mix.max())
        shares /= shares.sum()
        weighted = (
            g.add("Mul", state, g.scalar(float(share)))
            for state, share in zip(states, shares, strict=True)
        )
        hidden = g.add("Sum", *weighted)
    flat = g.add("Reshape", hidden, g.numbers(-1, sizes.hidden_size))
    pieces = g.add("Gather", flat, g.input("pieces", "int64", "P"))
    share = g.add("Unsqueeze", g.input("shares", "float32", "P"), g.numbers(1))
    grid = g.input("grid", "int64", 2)
    cells = g.add("ReduceProd", grid, g.numbers(0), keepdims=1)
    size = g.numbers(sizes.hidden_size)
    empty = g.add("Expand", g.scalar(0.0), g.add("Concat", cells, size, axis=0))
    owners = g.add("Unsqueeze", g.input("owners", "int64", "P"), g.numbers(1))
    means = g.add("ScatterND", empty, owners, g.add("Mul", pieces, share), reduction="add")
    return g.add("Reshape", means, g.add("Concat", grid, size, axis=0))
