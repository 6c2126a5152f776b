"""BERT as nodes of a graph: the computation of transformers' BertModel, without its pooler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from headspan.plumbing.errors import HeadspanError, shown
from headspan.runtime.graph_layers import Layers

_MOST_LAYERS, _LARGEST = 1000, 1 << 24


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

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> BertSizes:
        """The sizes of a configuration; raises HeadspanError for absurd ones."""
        sizes = cls(**{f.name: config[f.name] for f in fields(cls) if f.name in config})
        for field in fields(cls):
            value = getattr(sizes, field.name)
            good = type(value) is int and 1 <= value <= _LARGEST
            if field.name == "layer_norm_eps":
                good = type(value) is float and 0 < value < 1
            if not good:
                raise HeadspanError(f"the encoder's {field.name} is {shown(value)}")
        if sizes.hidden_size % sizes.num_attention_heads:
            raise HeadspanError("the encoder's hidden size is not a multiple of its heads")
        if sizes.num_hidden_layers > _MOST_LAYERS:
            raise HeadspanError(
                f"the encoder has {sizes.num_hidden_layers} layers; at most {_MOST_LAYERS}"
            )
        return sizes


def is_plain_bert(config: Mapping[str, Any]) -> bool:
    """Return whether a configuration of transformers is that of a BERT which `bert` computes."""
    return (
        config.get("model_type") == "bert"
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
    types = take(f"{table}.token_type_embeddings.weight", sizes.type_vocab_size, size)
    shared = g.constant(f"{table}.shared", positions + types[0])
    length = g.add("Shape", subwords, start=1)
    shared = g.add("Slice", shared, g.numbers(0), length, g.numbers(0))
    words = layers.embedding(subwords, f"{table}.word_embeddings", sizes.vocab_size, size)
    states = [layers.norm(g.add("Add", words, shared), f"{table}.LayerNorm", size, eps)]
    for k in range(sizes.num_hidden_layers):
        layer = f"{name}.encoder.layer.{k}"
        x = _attention(layers, sizes, states[-1], mask, f"{layer}.attention")
        inner = layers.linear(x, f"{layer}.intermediate.dense", size, sizes.intermediate_size)
        inner = g.add("Gelu", inner)
        states.append(_output(layers, sizes, inner, x, f"{layer}.output", sizes.intermediate_size))
    return states


def _attention(layers: Layers, sizes: BertSizes, x: str, mask: str, name: str) -> str:
    g, size, heads = layers.graph, sizes.hidden_size, sizes.num_attention_heads
    parts = [f"{name}.self.{part}" for part in ("query", "key", "value")]
    weights = [layers.weights.take_matrix(f"{part}.weight", size, size) for part in parts]
    biases = [layers.weights.take(f"{part}.bias", size) for part in parts]
    small = (size // heads) ** -0.5
    weights[0], biases[0] = weights[0].times(small), biases[0] * np.float32(small)  # not the scores
    three = layers.matrix(x, f"{name}.self.weight", weights)
    three = g.add("Add", three, g.constant(f"{name}.self.bias", np.concatenate(biases)))
    three = g.add("Reshape", three, g.numbers(0, 0, 3, heads, size // heads))
    three = g.add("Transpose", three, perm=[2, 0, 3, 1, 4])
    query, key, value = (g.add("Gather", three, g.scalar(k, "int64"), axis=0) for k in range(3))
    scores = g.add("MatMul", query, g.add("Transpose", key, perm=[0, 1, 3, 2]))
    shares = g.add("Softmax", g.add("Add", scores, mask), axis=-1)
    mixed = g.add("Transpose", g.add("MatMul", shares, value), perm=[0, 2, 1, 3])
    mixed = g.add("Reshape", mixed, g.numbers(0, 0, size))
    return _output(layers, sizes, mixed, x, f"{name}.output", size)


def _output(layers: Layers, sizes: BertSizes, x: str, residual: str, name: str, inputs: int) -> str:
    """A linear map with a residual connection and a layer norm."""
    y = layers.linear(x, f"{name}.dense", inputs, sizes.hidden_size)
    y = layers.graph.add("Add", y, residual)
    return layers.norm(y, f"{name}.LayerNorm", sizes.hidden_size, sizes.layer_norm_eps)
