"""Attention of an encoder that reads the trees of the pass before, by which they are refined.

After Mohammadshahi and Henderson (2021), *Recursive Non-Autoregressive Graph-to-Graph Transformer*:
the arcs of predicted trees are links between subwords, the attention of every layer knows the link
of every two subwords, and the same network predicts the trees again. They say relation for link.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import MethodType
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from headspan.plumbing.errors import HeadspanError
from headspan.runtime.decoding import PredictedTrees
from headspan.runtime.inputs import Numbers, Subwords

_WITH_INTERFACE = (
    "bert", "camembert", "distilbert", "electra", "marian", "mt5", "roberta", "t5", "xlm-roberta",
)  # fmt: skip
"""Models that let transformers' registry choose the function that attends, and that give it
queries as the formulas have them; those of ModernBERT are rotated by their positions."""
_NAME = "headspan"  # of our function in the registry


class _Layer(NamedTuple):
    """What a layer's attention reads besides its queries, keys and values."""

    links: Tensor
    """r_ij, (windows, T, T)."""
    keys: Tensor
    """W_R, (kinds of links, size of an attention head)."""
    values: Tensor
    """W_RV, of the same shape."""


_LAYERS: ContextVar[Iterator[_Layer] | None] = ContextVar("layers", default=None)
"""The layers that the encoder has yet to compute, if it reads trees."""


@dataclass(frozen=True, slots=True)
class PriorTrees:
    """The trees of a batch from the pass before, as the encoder reads them; −1 beyond the ends."""

    heads: Numbers
    """(B, N)"""
    labels: Numbers
    """(B, N)"""

    @classmethod
    def of(cls, trees: PredictedTrees) -> PriorTrees:
        """Trees with their labels, without all else that is known of them."""
        return cls(trees.heads, trees.labels)

    def differing(self, other: PriorTrees | None) -> Numbers:
        """The sentences whose trees or labels are others than before; all if there were none."""
        if other is None:
            return np.arange(len(self.heads))
        same = (self.heads == other.heads) & (self.labels == other.labels)
        return np.flatnonzero(~same.all(1))

    def sentences(self, rows: Numbers) -> PriorTrees:
        """The trees of some of the sentences, with room for the longest of them."""
        longest = int((self.heads[rows] >= 0).sum(1).max())
        return PriorTrees(self.heads[rows, :longest], self.labels[rows, :longest])

    def links(self, subwords: Subwords, width: int, labels: int) -> Numbers:
        """r_ij, the link of every two subwords, (windows, T, T). labels: how many there are.

        0: none; 1 + l: an arc with the label l from i to j; 1 + labels + l: one from j to i. The
        first subword of a word has its arcs, and the start of the sentence is the root. An arc
        between words whose vectors come from different windows is not a link in either.
        """
        side = subwords.ids.shape[1]
        links = np.zeros((len(subwords.ids), side, side), np.int64)
        words, first = np.unique(subwords.owners, return_index=True)
        place = np.full(len(self.heads) * width, -1)
        place[words] = subwords.pieces[first]
        b, k = np.nonzero(self.heads >= 0)
        head, dependent = place[b * width + self.heads[b, k]], place[b * width + k + 1]
        together = head // side == dependent // side
        window, i = np.divmod(head[together], side)
        j, label = dependent[together] % side, self.labels[b, k][together]
        links[window, i, j] = 1 + label
        links[window, j, i] = 1 + labels + label
        return links


class TreeAttention(nn.Module):
    """The embeddings of links in every layer of an encoder, whose attention it extends.

    They are shared by the attention heads of a layer, and are zero at first: then the encoder
    computes what it was pretrained to compute.
    """

    def __init__(self, encoder: nn.Module, labels: int) -> None:
        super().__init__()
        config: Any = encoder.config
        _extend(encoder, config.model_type)
        self.labels = labels
        size = getattr(config, "d_kv", None) or config.hidden_size // config.num_attention_heads
        shape = config.num_hidden_layers, 2 * labels + 1, size
        self.keys = nn.Parameter(torch.zeros(shape))
        self.values = nn.Parameter(torch.zeros(shape))

    @contextmanager
    def reading(self, prior: PriorTrees | None, subwords: Subwords, width: int) -> Iterator[None]:
        """Let the encoder read trees in a pass over these subwords; None if there are none yet."""
        windows, side = subwords.ids.shape
        links = torch.zeros(windows, side, side, dtype=torch.long)
        if prior is not None:
            links = torch.from_numpy(prior.links(subwords, width, self.labels))
        links = links.to(self.keys.device)
        layers = zip(self.keys, self.values, strict=True)
        token = _LAYERS.set(_Layer(links, keys, values) for keys, values in layers)
        try:
            yield
        finally:
            _LAYERS.reset(token)


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float,
    dropout: float = 0.0,
    position_bias: Tensor | None = None,
    **_: Any,
) -> tuple[Tensor, Tensor]:
    """The attention of one layer, in the form that transformers' registry expects.

    With q_i = x_i W_Q, k_j = x_j W_K and v_j = x_j W_V, all (windows, attention heads, T, d), and
    the one-hot vector p_ij of the link r_ij:

        e_ij = q_i (k_j + p_ij W_R)ᵀ / √d
        α_i  = softmax(e_i)
        z_i  = Σ_j α_ij (v_j + p_ij W_RV)

    `scaling` is 1/√d, or 1 in T5. There are few kinds of links, so q_i W_Rᵀ is computed for all of
    them, and each j takes that of r_ij. Likewise α_ij is added up over all j with the same kind
    before it meets W_RV. So T × T vectors are never in memory.
    """
    layers = _LAYERS.get()
    layer = next(layers) if layers is not None else None
    scores = query @ key.transpose(2, 3)
    if layer is not None:
        links = layer.links[:, None].expand_as(scores)
        scores = scores + (query @ layer.keys.T).gather(-1, links)
    scores = scores * scaling
    for bias in (position_bias, attention_mask):
        if bias is not None:
            scores = scores + bias
    shares = functional.dropout(scores.softmax(-1), dropout, module.training)
    context = shares @ value
    if layer is not None:
        by_link = shares.new_zeros(*shares.shape[:-1], len(layer.values))
        context = context + by_link.scatter_add(-1, links, shares) @ layer.values
    return context.transpose(1, 2).contiguous(), shares


def _extend(encoder: Any, kind: str) -> None:
    """Make an encoder attend by `attend`. Raises HeadspanError if it cannot be made to."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    if kind in _WITH_INTERFACE:
        AttentionInterface.register(_NAME, attend)
        AttentionMaskInterface.register(_NAME, eager_mask)  # it is added to scores
        encoder.set_attn_implementation(_NAME)
    elif kind == "mpnet":
        from transformers.models.mpnet.modeling_mpnet import MPNetSelfAttention

        for module in encoder.modules():
            if isinstance(module, MPNetSelfAttention):
                module.forward = MethodType(_attend_in_mpnet, module)  # type: ignore[method-assign]
    else:
        names = ", ".join(sorted((*_WITH_INTERFACE, "mpnet")))
        raise HeadspanError(
            f"model.refinements needs an encoder whose attention can read a tree; that of {kind!r} "
            f"cannot; expected one of {names}"
        )


def _attend_in_mpnet(
    self: Any,
    hidden_states: Tensor,
    attention_mask: Tensor | None = None,
    position_bias: Tensor | None = None,
    output_attentions: bool = False,
    **_: Any,
) -> tuple[Tensor, ...]:
    """The attention of MPNet, which does not ask the registry, by `attend`."""
    grid = *hidden_states.shape[:-1], self.num_attention_heads, self.attention_head_size
    query, key, value = (
        linear(hidden_states).view(grid).transpose(1, 2) for linear in (self.q, self.k, self.v)
    )
    context, shares = attend(
        self,
        query,
        key,
        value,
        attention_mask,
        scaling=self.attention_head_size**-0.5,
        dropout=self.dropout.p,
        position_bias=position_bias,
    )
    output = self.o(context.flatten(2))
    return (output, shares) if output_attentions else (output,)
