"""Write and read a parser as a model folder.

A folder may come from a stranger. Its claims are checked before memory is taken for them: networks
are built without memory first, and the tensors in the folder must fit them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor, nn

from headspan.config import Config, from_table, to_table, upgraded
from headspan.model import folder as files
from headspan.model.vocabularies import LEMMAS, Vocabularies
from headspan.nn.bert import Bert
from headspan.nn.network import TEMPERATURES, Network, Temperatures
from headspan.nn.pretrained import empty_encoder, positions
from headspan.nn.subwords import SubwordTokenizer
from headspan.plumbing.errors import HeadspanError, first_line, named, naming, shown
from headspan.plumbing.meta_device import without_memory
from headspan.plumbing.tensors import check_fit, read_tensors, write_tensors
from headspan.text import Segmenter

if TYPE_CHECKING:
    from headspan.model.parser import Parser

_P = TypeVar("_P", bound="Parser")

FORMAT = 2
"""The version of the format."""
# the keys of config.json besides the configuration
_FORMAT, _TOKENIZER, _ENCODER = "format", "tokenizer", "encoder"
_TEMPERATURE, _RELATION_TEMPERATURE = "temperature", "relation_temperature"
_SEGMENTER = "segmenter."  # prefix of the names of the segmenter's tensors
_SCALE = ".scale"  # suffix of an int8 tensor's name: the tensor of its scales
_LARGE_MATRIX = 1 << 15  # in numbers
_LARGEST_BUFFERS = 1 << 26  # numbers that an encoder holds besides its weights


def save_parser(parser: Parser, path: str | os.PathLike[str], *, small: bool = False) -> None:
    """Write a model folder, whole or not at all; an old one is replaced."""
    data = parser.config.data.without_files()
    about = {
        _FORMAT: FORMAT,
        **to_table(replace(parser.config, data=data)),
        _TEMPERATURE: parser.temperatures.trees,
        _RELATION_TEMPERATURE: parser.temperatures.relations,
    }
    tensors = dict(parser.network.state_dict())
    with files.new_folder(path) as folder:
        if parser.tokenizer is not None:
            text, about[_TOKENIZER] = parser.tokenizer.to_json()
            about[_ENCODER] = parser.encoder_config
            (folder / files.TOKENIZER).write_text(text, encoding="utf-8")
        if parser.segmenter is not None:
            weights, description = parser.segmenter.state()
            tensors |= {_SEGMENTER + name: tensor for name, tensor in weights.items()}
            files.write_json(folder / files.SEGMENTER, description)
        files.write_json(folder / files.CONFIG, about)
        files.write_json(folder / files.VOCABULARIES, parser.vocabularies.to_json())
        if parser.vocabularies.lemmatizer is not None:
            description = parser.vocabularies.lemmatizer.to_json()
            files.write_json(folder / files.LEMMAS, description)
        stored = _packed(tensors) if small else tensors
        write_tensors(folder / files.WEIGHTS, stored, {"format": "pt"})
        (folder / files.WEIGHTS).chmod(0o644)  # safetensors makes it readable by its owner only
        card = parser.card or "# A headspan model\n"
        (folder / files.CARD).write_text(card, encoding="utf-8")
        files.write_checksums(folder)


def load_parser(kind: type[_P], folder: Path) -> _P:
    """A parser of this class from a model folder.

    Raises HeadspanError if something is missing or does not fit. Nothing outside the folder is
    read: no link that leads out of it, no pipe, no device.
    """
    with naming(str(folder)):
        files.check_checksums(folder)
        about = _checked_format(files.read_json(folder, files.CONFIG))
        special, encoder_config = about.pop(_TOKENIZER, None), about.pop(_ENCODER, None)
        temperatures = Temperatures(
            _popped_temperature(about, _TEMPERATURE),
            _popped_temperature(about, _RELATION_TEMPERATURE),  # format 2 had none at first
        )
        config = from_table(Config, about, str(folder))
        tensors, segmenter_tensors = _read_weights(folder)
        has_lemmas = LEMMAS in config.model.tagger.columns
        vocabularies = Vocabularies.from_json(
            files.read_json(folder, files.VOCABULARIES),
            config.model,
            lemmas=files.read_json(folder, files.LEMMAS) if has_lemmas else None,
        )
        with _building():
            tokenizer = None
            if special is not None:
                text = files.read_text(folder, files.TOKENIZER)
                tokenizer = SubwordTokenizer.from_json(text, special)
            else:
                encoder_config = None
            network = _network(config, vocabularies, tokenizer, encoder_config, tensors)
            segmenter = None
            if files.has_file(folder, files.SEGMENTER):
                description = files.read_json(folder, files.SEGMENTER)
                segmenter = Segmenter.from_state(_unpacked(segmenter_tensors), description)
            elif segmenter_tensors:
                raise HeadspanError("has tensors of a segmenter, but no segmenter.json")
        has_card = files.has_file(folder, files.CARD)
        return kind(
            network,
            config,
            vocabularies,
            tokenizer,
            encoder_config,
            segmenter=segmenter,
            temperatures=temperatures,
            card=files.read_text(folder, files.CARD) if has_card else "",
            stored_in_int8=_are_int8(network, tensors),
        )


def _are_int8(network: Network, tensors: dict[str, Tensor]) -> bool:
    """Whether linear maps are stored in int8."""
    return any(
        isinstance(module, nn.Linear) and tensors[f"{name}.weight"].dtype == torch.int8
        for name, module in network.named_modules()
    )


def _checked_format(about: Any) -> dict[str, Any]:
    """The content of config.json in the present format, without the number of its format."""
    if not isinstance(about, dict):
        raise HeadspanError(f"{files.CONFIG} is not a table")
    number = about.pop(_FORMAT, None)
    if type(number) is int and 1 <= number <= FORMAT:
        return upgraded(about) if number < 2 else about
    advice = "it was not written by headspan"
    if type(number) is int and number > FORMAT:
        advice = "a newer headspan wrote it; install a newer version to load it"
    raise HeadspanError(
        f"its format is {shown(number)}; this version of headspan reads 1 to {FORMAT}: {advice}"
    )


def _popped_temperature(about: dict[str, Any], name: str) -> float:
    temperature = about.pop(name, 1.0)
    low, high = TEMPERATURES
    if type(temperature) not in (int, float) or not low <= temperature <= high:
        raise HeadspanError(
            f"its {name.replace('_', ' ')} is {shown(temperature)}; expected a number from {low} "
            f"to {high}"
        )
    return float(temperature)


def _read_weights(folder: Path) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The tensors of the network, and those of the segmenter under their own names."""
    network, segmenter = dict[str, Tensor](), dict[str, Tensor]()
    for name, tensor in read_tensors(files.file_in(folder, files.WEIGHTS))[0].items():
        if not tensor.isfinite().all():
            raise HeadspanError(f"the tensor {named(name)} has numbers that are not finite")
        if name.startswith(_SEGMENTER):
            segmenter[name.removeprefix(_SEGMENTER)] = tensor
        else:
            network[name] = tensor
    return network, segmenter


@contextmanager
def _building() -> Iterator[None]:
    """Raise HeadspanError for sizes that torch refuses in its own words."""
    try:
        yield
    except HeadspanError:
        raise
    except Exception as error:
        reason = shown(first_line(error), 200)
        raise HeadspanError(f"the network cannot be built: {reason}") from error


def _network(
    config: Config,
    vocabularies: Vocabularies,
    tokenizer: SubwordTokenizer | None,
    encoder_config: Any,
    tensors: dict[str, Tensor],
) -> Network:
    def build() -> Network:
        encoder = None if tokenizer is None else empty_encoder(encoder_config)
        return Network(config.model, vocabularies.sizes(), encoder)

    with without_memory():
        network = build()
    tensors = _unpacked(tensors)
    check_fit(network, tensors)
    buffers = sum(buffer.numel() for buffer in network.buffers())
    if buffers > _LARGEST_BUFFERS:
        raise HeadspanError(f"its encoder holds {buffers:,} numbers besides its weights")
    if tokenizer is not None:
        _check_tokenizer(tokenizer, network)
    pretrained = network.inputs.encoder
    if pretrained is not None and not isinstance(pretrained.encoder, Bert):
        network = build()  # encoders of transformers may compute more than buffers when built
    network.load_state_dict(tensors, assign=True)
    return network.eval()


def _check_tokenizer(tokenizer: SubwordTokenizer, network: Network) -> None:
    pretrained = network.inputs.encoder
    assert pretrained is not None  # noqa: S101 (a tokenizer comes with an encoder)
    subwords, longest = pretrained.subwords, positions(pretrained.encoder.config)
    for name, number in tokenizer.to_json()[1].items():
        if name == "window" and number > longest:
            limit = f"takes {longest:,} at a time"
        elif name != "window" and number >= subwords:
            limit = f"has {subwords:,} subwords"
        else:
            continue
        raise HeadspanError(f"the tokenizer's {name} is {number:,}; the encoder {limit}")


def _packed(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Smaller copies: float16, and int8 with a scale per row for large matrices.

    That is how `nn/int8.py` rounds the weights of an encoder, so computing in int8 loses nothing.
    """
    small: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if tensor.dtype != torch.float32:
            small[name] = tensor
        elif tensor.dim() == 2 and tensor.numel() >= _LARGE_MATRIX:
            scale = tensor.abs().amax(1, keepdim=True).clamp(min=1e-12) / 127
            small[name] = (tensor / scale).round().to(torch.int8)
            small[name + _SCALE] = scale
        else:
            small[name] = tensor.half()
    return small


def _unpacked(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors before `_packed`, except for rounding."""
    large: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if name.endswith(_SCALE) and name.removesuffix(_SCALE) in tensors:
            continue
        scale = tensors.get(name + _SCALE)
        if tensor.dtype == torch.int8 and scale is not None:
            if tensor.dim() != 2 or scale.shape != (len(tensor), 1) or scale.dtype != torch.float32:
                raise HeadspanError(f"the tensor {named(name)} does not fit its scale")
            tensor = tensor * scale
        large[name] = tensor.float() if tensor.dtype == torch.float16 else tensor
    return large
