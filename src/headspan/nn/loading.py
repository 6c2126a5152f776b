"""A network of torch from stored weights.

They may come from a stranger: the network is built without memory first, and the weights must fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from headspan.config import Config
from headspan.nn.network import Network
from headspan.nn.pretrained import empty_encoder, positions
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.meta_device import without_memory
from headspan.plumbing.tensors import check_fit
from headspan.runtime.inputs import VocabularySizes
from headspan.runtime.packing import Array, names, unpacked
from headspan.runtime.subwords import SubwordTokenizer

_LARGEST_BUFFERS = 1 << 26  # numbers that an encoder holds besides its weights


def load_network(
    config: Config,
    sizes: VocabularySizes,
    tokenizer: SubwordTokenizer | None,
    encoder_config: Any,
    stored: Mapping[str, Array],
) -> Network:
    """The network of a configuration with these weights, packed or not. Raises HeadspanError."""

    def build() -> Network:
        encoder = None if tokenizer is None else empty_encoder(encoder_config)
        return Network(config.model, sizes, encoder, crossing=config.data.crossing)

    with without_memory():
        network = build()
    tensors = {name: torch.from_numpy(unpacked(stored, name)) for name in names(stored)}
    check_fit(network, tensors)
    buffers = sum(buffer.numel() for buffer in network.buffers())
    if buffers > _LARGEST_BUFFERS:
        raise HeadspanError(f"its encoder holds {buffers:,} numbers besides its weights")
    pretrained = network.inputs.encoder
    if tokenizer is not None and pretrained is not None:
        tokenizer.check(pretrained.subwords, positions(pretrained.encoder.config))
        network = build()  # encoders of transformers may compute more than buffers when built
    network.load_state_dict(tensors, assign=True)
    return network.eval()
