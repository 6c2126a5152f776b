"""From a model folder to the parts of a parser, all of them checked.

A folder may come from a stranger. What it claims is compared before memory is taken for it:
networks are outlined on the device `meta`, which has none, and the tensors that are there must fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from headspan import config as configuration
from headspan.config import Config
from headspan.model.folder import ModelFolder, fitting
from headspan.nn.bert import Bert
from headspan.nn.inputs import Vocabularies
from headspan.nn.network import Network
from headspan.nn.pretrained import empty_encoder, positions
from headspan.nn.subwords import SubwordTokenizer
from headspan.plumbing.errors import HeadspanError, shown
from headspan.plumbing.meta_device import outline
from headspan.text import Segmenter

SEGMENTER = "segmenter."
"""Before the names of a segmenter's tensors."""
_LARGEST_BUFFERS = 1 << 26  # numbers that an encoder keeps beside its weights


@dataclass(frozen=True)
class Loaded:
    """What a parser is made of."""

    network: Network
    config: Config
    vocabularies: Vocabularies
    tokenizer: SubwordTokenizer | None
    encoder_config: dict[str, Any] | None
    segmenter: Segmenter | None
    temperature: float
    card: str


def assemble(folder: ModelFolder, where: str) -> Loaded:
    """The parts of a parser. Raises HeadspanError if something is missing or does not fit."""
    about = dict(folder.about)
    special, encoder_config = about.pop("tokenizer", None), about.pop("encoder", None)
    temperature = about.pop("temperature", 1.0)
    if not isinstance(temperature, float) or not 0 < temperature < math.inf:
        raise HeadspanError(f"{where}: its temperature is {shown(temperature)}")
    config = configuration.from_table(Config, about, where)
    own, others = _divided(folder.tensors)
    with _naming(where):
        vocabularies = Vocabularies.from_json(folder.vocabularies)
        vocabularies.check(config.model)
        tokenizer = None
        if special is not None:
            if folder.tokenizer is None:
                raise HeadspanError("has no tokenizer.json")
            tokenizer = SubwordTokenizer.from_json(folder.tokenizer, special)
        network = _network(config, vocabularies, tokenizer, encoder_config, others, where)
        segmenter = None
        if folder.segmenter is not None:
            segmenter = Segmenter.from_state(own, folder.segmenter)
        elif own:
            raise HeadspanError("has tensors of a segmenter, but no segmenter.json")
    encoder_config = None if tokenizer is None else encoder_config
    parts = network, config, vocabularies, tokenizer, encoder_config, segmenter
    return Loaded(*parts, temperature, folder.card)


def _network(
    config: Config,
    vocabularies: Vocabularies,
    tokenizer: SubwordTokenizer | None,
    encoder_config: Any,
    tensors: dict[str, Tensor],
    where: str,
) -> Network:
    def made() -> Network:
        encoder = None if tokenizer is None else empty_encoder(encoder_config)
        return Network(config.model, vocabularies, encoder)

    with outline():
        network = made()
    tensors = fitting(network, tensors, where)
    buffers = sum(buffer.numel() for buffer in network.buffers())
    if buffers > _LARGEST_BUFFERS:
        raise HeadspanError(f"its encoder wants {buffers:,} numbers beside its weights")
    if tokenizer is not None:
        _check_tokenizer(tokenizer, network)
    if not _is_outlined(network):
        network = made()
    network.load_state_dict(tensors, assign=True)
    return network.eval()


def _is_outlined(network: Network) -> bool:
    """Whether tensors are all that it lacks; encoders of transformers may make others for use."""
    return network.inputs.encoder is None or isinstance(network.inputs.encoder.encoder, Bert)


def _check_tokenizer(tokenizer: SubwordTokenizer, network: Network) -> None:
    pretrained = network.inputs.encoder
    assert pretrained is not None  # noqa: S101 (a tokenizer comes with an encoder)
    known, places = pretrained.subwords, positions(pretrained.encoder.config)
    special = tokenizer.to_json()[1]
    for name, number in special.items():
        if number >= known if name != "window" else number > places:
            most = f"has {known:,} subwords" if name != "window" else f"takes {places:,} at a time"
            raise HeadspanError(f"the tokenizer's {name} is {number:,}; the encoder {most}")


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """Say which folder is meant, whatever is wrong with it."""
    try:
        yield
    except HeadspanError as error:
        if str(error).startswith(where):
            raise
        raise HeadspanError(f"{where}: {error}") from error
    except Exception as error:  # sizes that torch refuses, in its own words
        reason = shown(str(error).strip().split("\n")[0], 200)
        raise HeadspanError(f"{where}: the network cannot be built: {reason}") from error


def _divided(tensors: dict[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The segmenter's tensors, under their own names, and the others."""
    own = {name: tensor for name, tensor in tensors.items() if name.startswith(SEGMENTER)}
    others = {name: tensor for name, tensor in tensors.items() if name not in own}
    return {name.removeprefix(SEGMENTER): tensor for name, tensor in own.items()}, others
