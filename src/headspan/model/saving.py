"""Write and read a parser as a model folder.

A folder may come from a stranger. Its claims are checked before memory is taken for them: the
tensors in the folder must fit the network that its configuration describes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np

from headspan.config import Config, from_table, to_table, upgraded
from headspan.model import folder as files
from headspan.model.vocabularies import LEMMAS, Vocabularies
from headspan.plumbing.arrays import read_arrays, write_arrays
from headspan.plumbing.errors import HeadspanError, check_choice, first_line, named, naming, shown
from headspan.plumbing.extras import needed_for
from headspan.plumbing.memory import give_back
from headspan.runtime import packing
from headspan.runtime.bert import BertSizes
from headspan.runtime.decoding import TEMPERATURES, Engine, Temperatures
from headspan.runtime.graph_network import GraphNetwork
from headspan.runtime.int8 import check_available, is_default
from headspan.runtime.network_graph import reason_for_torch
from headspan.runtime.packing import Array
from headspan.runtime.subwords import SubwordTokenizer
from headspan.text import Segmenter

if TYPE_CHECKING:
    from headspan.model.parser import Parser
    from headspan.nn.network import Network

_P = TypeVar("_P", bound="Parser")
EngineName: TypeAlias = Literal["onnx", "torch"]
"""What computes a network."""

FORMAT = 2
"""The version of the format."""
# the keys of config.json besides the configuration
_FORMAT, _TOKENIZER, _ENCODER = "format", "tokenizer", "encoder"
_TEMPERATURE, _RELATION_TEMPERATURE = "temperature", "relation_temperature"
_LARGEST_ATTENTION = 1 << 26  # numbers
_SEGMENTER = "segmenter."  # prefix of the names of the segmenter's tensors


def save_parser(parser: Parser, path: str | os.PathLike[str], *, small: bool = False) -> None:
    """Write a model folder, whole or not at all; an old one is replaced."""
    data = parser.config.data.without_files()
    about = {
        _FORMAT: FORMAT,
        **to_table(replace(parser.config, data=data)),
        _TEMPERATURE: parser.temperatures.trees,
        _RELATION_TEMPERATURE: parser.temperatures.relations,
    }
    tensors = parser.network.tensors()
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
        stored = packing.packed(tensors) if small else tensors
        write_arrays(folder / files.WEIGHTS, stored, {"format": "pt"})
        (folder / files.WEIGHTS).chmod(0o644)  # safetensors makes it readable by its owner only
        card = parser.card or "# A headspan model\n"
        (folder / files.CARD).write_text(card, encoding="utf-8")
        files.write_checksums(folder)


def load_parser(
    kind: type[_P],
    folder: Path,
    *,
    int8: bool | None = None,
    engine: EngineName | None = None,
) -> _P:
    """A parser of this class from a model folder; int8 and engine as for `Parser.load`.

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
        stored, of_segmenter = _read_weights(folder)
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
            if int8 is None:
                in_int8 = any(_is_linear_in_int8(name, array) for name, array in stored.items())
                int8 = in_int8 and is_default()
            elif int8:
                check_available()
            network = _network(
                config, vocabularies, tokenizer, encoder_config, stored, int8=int8, engine=engine
            )
            segmenter = None
            if files.has_file(folder, files.SEGMENTER):
                description = files.read_json(folder, files.SEGMENTER)
                segmenter = Segmenter.from_state(of_segmenter, description)
            elif of_segmenter:
                raise HeadspanError("has tensors of a segmenter, but no segmenter.json")
        give_back()  # what was read is no longer needed
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
        )


def _is_linear_in_int8(name: str, array: Array) -> bool:
    """Whether a tensor is a linear map, and not a table or an LSTM, and stored in int8."""
    return array.dtype == np.int8 and name.endswith((".dense.weight", ".linear.weight"))


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


def _read_weights(folder: Path) -> tuple[dict[str, Array], dict[str, Array]]:
    """The tensors of the network, and those of the segmenter under their own names."""
    network, segmenter = dict[str, Array](), dict[str, Array]()
    for name, array in read_arrays(files.file_in(folder, files.WEIGHTS)).items():
        if array.dtype.kind not in "fiub":  # bfloat16, for instance
            raise HeadspanError(f"the tensor {named(name)} has the type {array.dtype}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise HeadspanError(f"the tensor {named(name)} has numbers that are not finite")
        if name.startswith(_SEGMENTER):
            segmenter[name.removeprefix(_SEGMENTER)] = array
        else:
            network[name] = array
    return network, segmenter


@contextmanager
def _building() -> Iterator[None]:
    """Raise HeadspanError for sizes that a library refuses in its own words."""
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
    stored: dict[str, Array],
    *,
    int8: bool,
    engine: EngineName | None,
) -> Engine:
    if engine is not None:
        check_choice("engine", engine, EngineName)
    if tokenizer is not None and not isinstance(encoder_config, dict):
        raise HeadspanError(
            f"the encoder's configuration is {shown(encoder_config)}; expected a table"
        )
    sizes = vocabularies.sizes()
    reason = reason_for_torch(config.model, encoder_config)
    if engine == "onnx" and reason:
        raise HeadspanError(f"{reason} needs torch; expected engine='torch'")
    if engine == "torch" or reason:
        with needed_for(reason or "engine='torch'", extra="torch"):
            import torch  # noqa: F401
        from headspan.nn.loading import load_network

        network = load_network(config, sizes, tokenizer, encoder_config, stored)
        if int8:
            network.compute_in_int8(int8)
        return network
    encoder = None if encoder_config is None else BertSizes.of(encoder_config)
    if tokenizer is not None and encoder is not None:
        tokenizer.check(encoder.vocab_size, encoder.longest)
        window = encoder.longest if encoder.has_biases else tokenizer.window
        attention = encoder.num_attention_heads * window**2
        if attention > _LARGEST_ATTENTION:
            raise HeadspanError(f"its encoder holds {attention:,} numbers for a window of a text")
    return GraphNetwork(config.model, sizes, encoder, stored, int8=int8)


def with_torch(parser: Parser) -> Network:
    """The network of a parser as one of torch, with the same weights."""
    from headspan.nn.loading import load_network

    return load_network(
        parser.config,
        parser.vocabularies.sizes(),
        parser.tokenizer,
        parser.encoder_config,
        parser.network.tensors(),
    )
