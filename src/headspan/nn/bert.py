"""BERT for parsing: the computation of transformers' BertModel, without importing transformers.

That import takes longer than parsing a page. Parameters have the same names, so the weights of one
fit the other. There is no dropout, since nothing is trained here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

from torch import Tensor, nn
from torch.nn import functional

from headspan.plumbing.errors import HeadspanError, shown

_SIZES = (
    "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
    "max_position_embeddings", "type_vocab_size",
)  # fmt: skip
_DEFAULTS = {
    "vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 3072, "max_position_embeddings": 512, "type_vocab_size": 2,
    "layer_norm_eps": 1e-12, "hidden_act": "gelu", "pad_token_id": 0,
}  # fmt: skip
_MOST_LAYERS, _LARGEST = 1000, 1 << 24


class Hidden(NamedTuple):
    """Vectors of subwords, (windows, longest, hidden_size), and those of every layer."""

    last_hidden_state: Tensor
    hidden_states: tuple[Tensor, ...]


def is_plain_bert(config: Mapping[str, Any]) -> bool:
    """Return whether `Bert` computes the encoder of a configuration."""
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder")
        and not config.get("add_cross_attention")
    )


class Bert(nn.Module):
    """Embeddings, and layers of attention with two linear maps; no pooler."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        table = {**_DEFAULTS, **config}
        for name in _SIZES:
            if type(table[name]) is not int or not 1 <= table[name] <= _LARGEST:
                raise HeadspanError(f"the encoder's {name} is {shown(table[name])}")
        if type(table["layer_norm_eps"]) is not float or not 0 < table["layer_norm_eps"] < 1:
            raise HeadspanError(f"the encoder's layer_norm_eps is {shown(table['layer_norm_eps'])}")
        if table["hidden_size"] % table["num_attention_heads"]:
            raise HeadspanError("the encoder's hidden size is not a multiple of its heads")
        if table["num_hidden_layers"] > _MOST_LAYERS:
            raise HeadspanError(f"the encoder has {table['num_hidden_layers']} layers")
        self.config = SimpleNamespace(**table)
        size, eps = table["hidden_size"], table["layer_norm_eps"]
        self.embeddings = _Embeddings(table)
        self.encoder = nn.Module()
        self.layers = [
            _Layer(size, table["num_attention_heads"], table["intermediate_size"], eps)
            for _ in range(table["num_hidden_layers"])
        ]
        self.encoder.layer = nn.ModuleList(self.layers)

    def get_input_embeddings(self) -> nn.Module:
        """The table of subwords."""
        return self.embeddings.word_embeddings

    def forward(
        self, *, input_ids: Tensor, attention_mask: Tensor, output_hidden_states: bool = False
    ) -> Hidden:
        """input_ids, attention_mask: (windows, longest)."""
        x = self.embeddings(input_ids)
        unpadded = bool(attention_mask.all())
        mask = None if unpadded else attention_mask.bool()[:, None, None]
        layers = [x]
        for layer in self.layers:
            x = layer(x, mask)
            layers.append(x)
        return Hidden(x, tuple(layers) if output_hidden_states else ())


class _Embeddings(nn.Module):
    def __init__(self, table: Mapping[str, Any]) -> None:
        super().__init__()
        size = table["hidden_size"]
        self.word_embeddings = nn.Embedding(table["vocab_size"], size)
        self.position_embeddings = nn.Embedding(table["max_position_embeddings"], size)
        self.token_type_embeddings = nn.Embedding(table["type_vocab_size"], size)
        self.LayerNorm = nn.LayerNorm(size, eps=table["layer_norm_eps"])

    def forward(self, ids: Tensor) -> Tensor:
        positions = self.position_embeddings.weight[: ids.shape[1]]
        shared = positions + self.token_type_embeddings.weight[0]
        x: Tensor = self.LayerNorm(self.word_embeddings(ids) + shared)
        return x


class _Layer(nn.Module):
    def __init__(self, size: int, heads: int, inner: int, eps: float) -> None:
        super().__init__()
        self.attention = _Attention(size, heads, eps)
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(size, inner)})
        self.output = _Output(inner, size, eps)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        x = self.attention(x, mask)
        inner = functional.gelu(self.intermediate["dense"](x))
        y: Tensor = self.output(inner, x)
        return y


class _Attention(nn.Module):
    def __init__(self, size: int, heads: int, eps: float) -> None:
        super().__init__()
        self.heads = heads
        three = {name: nn.Linear(size, size) for name in ("query", "key", "value")}
        self.add_module("self", nn.ModuleDict(three))
        self.output = _Output(size, size, eps)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        split = (*x.shape[:2], self.heads, -1)
        query, key, value = (
            linear(x).view(split).transpose(1, 2)
            for linear in self.get_submodule("self").children()
        )
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        y: Tensor = self.output(attended.transpose(1, 2).flatten(2), x)
        return y


class _Output(nn.Module):
    """A linear map with a residual connection and a layer norm."""

    def __init__(self, inputs: int, outputs: int, eps: float) -> None:
        super().__init__()
        self.dense = nn.Linear(inputs, outputs)
        self.LayerNorm = nn.LayerNorm(outputs, eps=eps)

    def forward(self, x: Tensor, residual: Tensor) -> Tensor:
        y: Tensor = self.LayerNorm(self.dense(x) + residual)
        return y
