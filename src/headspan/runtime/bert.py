"""BERT and MPNet as nodes of a graph: what transformers' models compute, without their poolers.

MPNet is BERT with a bias per head for the distance between two subwords, without types of tokens,
and with positions that start at 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headspan.plumbing.errors import HeadspanError, shown
from headspan.runtime.graph_layers import Layers

_MOST_LAYERS, _LARGEST = 1000, 1 << 24
_FARTHEST = 128  # the distance from which on MPNet does not distinguish
_BUCKETS = 32  # of distances; transformers computes with so many, whatever a configuration says


class _Names(NamedTuple):
    """The names of the weights of a layer's attention, and the number of the first position."""

    query_key_value: tuple[str, str, str]
    output: str
    norm: str
    first_position: int = 0


_KINDS = {
    "bert": _Names(
        ("attention.self.query", "attention.self.key", "attention.self.value"),
        "attention.output.dense",
        "attention.output.LayerNorm",
    ),
    "mpnet": _Names(
        ("attention.attn.q", "attention.attn.k", "attention.attn.v"),
        "attention.attn.o",
        "attention.LayerNorm",
        first_position=2,
    ),
}


@dataclass(frozen=True, slots=True)
class BertSizes:
    """A configuration of transformers, with the defaults that it has there."""

    vocab_size: int = 30522
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    model_type: str = "bert"

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> BertSizes:
        """The sizes of a configuration; raises HeadspanError for absurd ones."""
        sizes = cls(**{f.name: config[f.name] for f in fields(cls) if f.name in config})
        for field in fields(cls):
            value = getattr(sizes, field.name)
            good = type(value) is int and 1 <= value <= _LARGEST
            if field.name == "layer_norm_eps":
                good = type(value) is float and 0 < value < 1
            elif field.name == "model_type":
                good = value in _KINDS
            if not good:
                raise HeadspanError(f"the encoder's {field.name} is {shown(value)}")
        if sizes.hidden_size % sizes.num_attention_heads:
            raise HeadspanError("the encoder's hidden size is not a multiple of its heads")
        if sizes.num_hidden_layers > _MOST_LAYERS:
            raise HeadspanError(
                f"the encoder has {sizes.num_hidden_layers} layers; at most {_MOST_LAYERS}"
            )
        return sizes

    @property
    def has_biases(self) -> bool:
        """Whether it holds a number per head for every two subwords of the longest text."""
        return self.model_type == "mpnet"

    @property
    def longest(self) -> int:
        """The most subwords at a time."""
        return self.max_position_embeddings - _KINDS[self.model_type].first_position


def is_plain_bert(config: Mapping[str, Any]) -> bool:
    """Return whether a configuration of transformers is one that `bert` computes."""
    return (
        config.get("model_type") in _KINDS
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder")
        and not config.get("add_cross_attention")
    )


def bert(layers: Layers, sizes: BertSizes, name: str) -> list[str]:
    """The vectors of subwords before the first layer and after every layer."""
    g, size, eps = layers.graph, sizes.hidden_size, sizes.layer_norm_eps
    subwords = g.input("subwords", "int64", "W", "S")
    mask = g.input("mask", "float32", "W", 1, 1, "S")
    table = f"{name}.embeddings"
    take = layers.weights.take
    positions = take(f"{table}.position_embeddings.weight", sizes.max_position_embeddings, size)
    added = positions[_KINDS[sizes.model_type].first_position :]
    if sizes.model_type == "bert":
        types = take(f"{table}.token_type_embeddings.weight", sizes.type_vocab_size, size)
        added = added + types[0]
    shared = g.constant(f"{table}.shared", added)
    length = g.add("Shape", subwords, start=1)
    shared = g.add("Slice", shared, g.numbers(0), length, g.numbers(0))
    words = layers.embedding(subwords, f"{table}.word_embeddings", sizes.vocab_size, size)
    states = [layers.norm(g.add("Add", words, shared), f"{table}.LayerNorm", size, eps)]
    if sizes.has_biases:
        layers.weights.leave(f"{name}.pooler.dense.weight", size, size)
        layers.weights.leave(f"{name}.pooler.dense.bias", size)
        mask = g.add("Add", mask, _biases(layers, sizes, length, f"{name}.encoder"))
    for k in range(sizes.num_hidden_layers):
        layer = f"{name}.encoder.layer.{k}"
        x = _attention(layers, sizes, states[-1], mask, layer)
        inner = layers.linear(x, f"{layer}.intermediate.dense", size, sizes.intermediate_size)
        inner = g.add("Gelu", inner)
        names = f"{layer}.output.dense", f"{layer}.output.LayerNorm"
        states.append(_added(layers, sizes, inner, x, *names, inputs=sizes.intermediate_size))
    return states


def _biases(layers: Layers, sizes: BertSizes, length: str, name: str) -> str:
    """A number for every head and every two subwords, by their distance: (1, heads, S, S)."""
    g, longest = layers.graph, sizes.longest
    table = layers.weights.take(
        f"{name}.relative_attention_bias.weight",
        _BUCKETS,
        sizes.num_attention_heads,
    )
    place = np.arange(longest)
    rows = table[_buckets(place[:, None] - place)]
    biases = g.constant(f"{name}.biases", rows.transpose(2, 0, 1)[None])
    for axis in (2, 3):
        biases = g.add("Slice", biases, g.numbers(0), length, g.numbers(axis))
    return biases


def _buckets(distance: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bucket of each distance: one per short distance, wider ones for longer distances."""
    half = _BUCKETS // 2
    exact = half // 2
    far = np.abs(distance)
    steps = np.log(np.maximum(far, 1) / exact) / np.log(_FARTHEST / exact) * (half - exact)
    bucket = np.where(far < exact, far, np.minimum(exact + steps.astype(np.int64), half - 1))
    shifted: NDArray[np.int64] = bucket + np.where(distance < 0, half, 0)
    return shifted


def _attention(layers: Layers, sizes: BertSizes, x: str, mask: str, layer: str) -> str:
    g, size, heads = layers.graph, sizes.hidden_size, sizes.num_attention_heads
    names = _KINDS[sizes.model_type]
    parts = [f"{layer}.{part}" for part in names.query_key_value]
    weights = [layers.weights.take_matrix(f"{part}.weight", size, size) for part in parts]
    biases = [layers.weights.take(f"{part}.bias", size) for part in parts]
    small = (size // heads) ** -0.5
    weights[0], biases[0] = weights[0].times(small), biases[0] * np.float32(small)  # not the scores
    three = layers.matrix(x, f"{layer}.attention.weight", weights)
    three = g.add("Add", three, g.constant(f"{layer}.attention.bias", np.concatenate(biases)))
    three = g.add("Reshape", three, g.numbers(0, 0, 3, heads, size // heads))
    three = g.add("Transpose", three, perm=[2, 0, 3, 1, 4])
    query, key, value = (g.add("Gather", three, g.scalar(k, "int64"), axis=0) for k in range(3))
    scores = g.add("MatMul", query, g.add("Transpose", key, perm=[0, 1, 3, 2]))
    shares = g.add("Softmax", g.add("Add", scores, mask), axis=-1)
    mixed = g.add("Transpose", g.add("MatMul", shares, value), perm=[0, 2, 1, 3])
    mixed = g.add("Reshape", mixed, g.numbers(0, 0, size))
    return _added(layers, sizes, mixed, x, f"{layer}.{names.output}", f"{layer}.{names.norm}")


def _added(
    layers: Layers, sizes: BertSizes, y: str, x: str, linear: str, norm: str, inputs: int = 0
) -> str:
    """The sum of x and a linear map of y, and a layer norm."""
    size = sizes.hidden_size
    y = layers.linear(y, linear, inputs or size, size)
    return layers.norm(layers.graph.add("Add", y, x), norm, size, sizes.layer_norm_eps)
