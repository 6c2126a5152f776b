"""Checks before training: what cannot work, or will not work well, is said at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from headspan.config import Config, Files, ModelConfig, file_list
from headspan.conllu import Sentence
from headspan.nn.network import Network
from headspan.plumbing import machine
from headspan.plumbing.errors import HeadspanError, warn
from headspan.plumbing.meta_device import without_memory
from headspan.registries import STRUCTURES
from headspan.runtime.inputs import VocabularySizes

_LEARNED, _FROZEN = 16, 4
"""Bytes per weight in training: the weight, its gradient and Adam's two moments; or itself."""


def check_config(config: Config) -> None:
    """Raise HeadspanError if the parts of a configuration do not fit each other."""
    if config.training.epochs < 1:
        raise HeadspanError(f"training.epochs is {config.training.epochs}; expected at least 1")
    name = config.model.structure
    projective = STRUCTURES[name].projective
    _check_search(config.model)
    if config.data.crossing and projective:
        others = ", ".join(other for other in STRUCTURES if not STRUCTURES[other].projective)
        raise HeadspanError(
            f"data.nonprojective is 'keep', but model.structure is '{name}', which builds "
            f"projective trees only; expected one of {others}"
        )
    if config.model.labels_from == "spans" and not projective:
        raise HeadspanError(
            f"model.labels_from is 'spans', but a subtree under model.structure '{name}' need not "
            "be a span; expected words"
        )


def _check_search(model: ModelConfig) -> None:
    """Raise HeadspanError if the structure cannot be learned or searched like this."""
    if STRUCTURES[model.structure].factored:
        if model.beam != 1:
            raise HeadspanError(
                f"model.beam is {model.beam}, but model.structure is '{model.structure}', whose "
                "best tree is found exactly; expected 1"
            )
        return
    if model.loss != "local":
        raise HeadspanError(
            f"model.loss is '{model.loss}', but model.structure is '{model.structure}', which "
            "builds trees word by word and learns each word's head; expected local"
        )
    if model.minimum_risk:
        raise HeadspanError(
            f"model.decoder is 'minimum-risk', but model.structure is '{model.structure}', which "
            "builds trees word by word and has no sums over them; expected best"
        )


def check_bfloat16() -> None:
    """Raise HeadspanError if this processor is not made for bfloat16."""
    if not is_fast_at_bfloat16():
        raise HeadspanError(
            "training.bfloat16 needs a GPU, or a processor with AVX512-BF16 or AMX; this one would "
            "be slower with it"
        )


def is_fast_at_bfloat16() -> bool:
    """Return whether this processor multiplies bfloat16 faster than float32."""
    capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return any(capabilities.get(name) for name in ("avx512_bf16", "amx_bf16"))


def check_lemmas(config: Config, sentences: Sequence[Sentence]) -> None:
    """Raise HeadspanError if there are no lemmas to learn."""
    if all(lemma == "_" for sentence in sentences for lemma in sentence.lemmas):
        raise HeadspanError(
            f"{file_names(config.data.train)}: has no lemmas, but model.tagger.columns names them"
        )


def warn_without_relations(config: Config, sentences: Sequence[Sentence]) -> None:
    """Warn if there are no relations to learn."""
    if all(relation == "_" for sentence in sentences for relation in sentence.deprels):
        warn(
            f"{file_names(config.data.train)}: has no relations (DEPREL is _ everywhere); the "
            "parser will learn heads only, and LAS will say nothing about it"
        )


def check_memory(model: ModelConfig, sizes: VocabularySizes, encoder: nn.Module | None) -> None:
    """Raise HeadspanError if the network cannot be trained in the memory of this machine."""
    chosen = ", ".join(
        f"model.{name} = {getattr(model, name):,}"
        for name in ("lstm_layers", "lstm_size", "score_size", "label_size")
    )
    try:
        with without_memory():
            network = Network(model, sizes, encoder)
    except RuntimeError as error:  # torch cannot even count that far
        raise HeadspanError(f"the network is too large for any machine: {chosen}") from error
    needed = sum(
        p.numel() * (_LEARNED if p.requires_grad else _FROZEN) for p in network.parameters()
    )
    if needed > (total := machine.memory()[0]):
        raise HeadspanError(
            f"training the network needs at least {needed / 2**30:,.0f} GiB of memory; this "
            f"machine has {total / 2**30:,.0f} GiB ({chosen})"
        )


def file_names(files: Files) -> str:
    """The names of files, for messages."""
    return ", ".join(file_list(files))
