"""Parser: load, parse, pipe, save."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from headspan import config as configuration
from headspan.config import Config
from headspan.conllu import Sentence
from headspan.errors import HeadspanError
from headspan.nn.inputs import Vocabularies, prepare
from headspan.nn.network import Network
from headspan.nn.pretrained import empty_encoder
from headspan.nn.subwords import SubwordTokenizer
from headspan.pseudoprojective import deprojectivize

FORMAT = 1
"""The version of the model folder's layout."""
_CONFIG, _WEIGHTS, _VOCABULARIES = "config.json", "model.safetensors", "vocabularies.json"
_TOKENIZER, _CARD = "tokenizer.json", "README.md"
_BATCH = 4096  # subwords or words a batch, padding counted
_AHEAD = 64  # batches' worth of sentences that are read ahead and sorted by length


class Parser:
    """A network with all that it needs to turn sentences into trees."""

    def __init__(
        self,
        network: Network,
        config: Config,
        vocabularies: Vocabularies,
        tokenizer: SubwordTokenizer | None = None,
        encoder_config: dict[str, Any] | None = None,
    ) -> None:
        self.network = network
        self.config = config
        self.vocabularies = vocabularies
        self.tokenizer = tokenizer
        self.encoder_config = encoder_config

    def __call__(self, sentence: Sentence | Sequence[str] | str) -> Sentence:
        """The parse of one sentence: a Sentence, its words, or a string of words with spaces."""
        if isinstance(sentence, str):
            sentence = sentence.split()
        if not isinstance(sentence, Sentence):
            sentence = Sentence.from_words(sentence)
        return self.parse([sentence])[0]

    def parse(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """The sentences with HEAD and DEPREL filled in; all else stays."""
        return list(self.pipe(sentences))

    def pipe(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Parse lazily, in order. Sentences of similar length share a batch."""
        waiting = iter(sentences)
        while some := list(islice(waiting, _AHEAD * 16)):
            done: dict[int, Sentence] = {}
            costs = [self.cost(s) for s in some]
            order = sorted((k for k, s in enumerate(some) if len(s)), key=lambda k: costs[k])
            for batch in batches(order, costs, _BATCH):
                done.update(zip(batch, self._parse([some[k] for k in batch]), strict=True))
            for k, sentence in enumerate(some):
                yield done.get(k, sentence)

    def cost(self, sentence: Sentence) -> int:
        """How many places of a batch a sentence takes."""
        return self.tokenizer.count(sentence.forms) if self.tokenizer else len(sentence) + 2

    def _parse(self, sentences: list[Sentence]) -> list[Sentence]:
        self.network.eval()
        parsed = self.network.parse(prepare(sentences, self.vocabularies, self.tokenizer))
        names = self.vocabularies.labels.names
        scheme = self.config.data.nonprojective
        results = []
        for b, sentence in enumerate(sentences):
            heads = parsed.heads[b, : len(sentence)].tolist()
            labels = [names[label - 2] for label in parsed.labels[b, : len(sentence)]]
            if scheme != "drop":
                heads, labels = deprojectivize(heads, labels, scheme=scheme)
            results.append(sentence.with_parse(heads, labels))
        return results

    def save(self, path: str | os.PathLike[str], *, card: str = "") -> None:
        """Write the model folder, whole or not at all; an old one is replaced."""
        target = Path(path)
        mark = secrets.token_hex(6)
        fresh, old = (target.with_name(f".headspan-{mark}.{what}") for what in ("new", "old"))
        fresh.mkdir(parents=True)
        try:
            tensors = {
                name: tensor.detach().cpu().contiguous()
                for name, tensor in self.network.state_dict().items()
            }
            save_file(tensors, fresh / _WEIGHTS, metadata={"format": "pt"})
            data = replace(self.config.data, train="", dev="", test="")  # paths of one machine
            config = replace(self.config, data=data)
            about: dict[str, Any] = {"format": FORMAT, **configuration.to_table(config)}
            if self.tokenizer is not None:
                text, about["tokenizer"] = self.tokenizer.to_json()
                (fresh / _TOKENIZER).write_text(text, encoding="utf-8")
                about["encoder"] = self.encoder_config
            _write_json(fresh / _CONFIG, about)
            _write_json(fresh / _VOCABULARIES, self.vocabularies.to_json())
            (fresh / _CARD).write_text(card or "# A headspan model\n", encoding="utf-8")
            if target.exists():
                target.rename(old)
            fresh.rename(target)
            shutil.rmtree(old, ignore_errors=True)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Parser:
        """A parser from a model folder. Runs nothing that lies in it; every tensor must fit."""
        folder = Path(path)
        about = _read_json(folder / _CONFIG)
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            found = about.get("format") if isinstance(about, dict) else None
            raise HeadspanError(
                f"{folder}: its format is {found!r}; this version of headspan reads {FORMAT}"
            )
        about.pop("format")
        special, encoder_config = about.pop("tokenizer", None), about.pop("encoder", None)
        config = configuration.from_table(Config, about, str(folder / _CONFIG))
        vocabularies = Vocabularies.from_json(_read_json(folder / _VOCABULARIES))
        tokenizer = encoder = None
        if special is not None:
            tokenizer = SubwordTokenizer.from_json(_read_text(folder / _TOKENIZER), special)
            encoder = empty_encoder(encoder_config)
        network = Network(config.model, vocabularies, encoder)
        _fill(network, folder / _WEIGHTS)
        return cls(network.eval(), config, vocabularies, tokenizer, encoder_config)


def batches(order: Sequence[int], costs: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Cut a sequence of sentences into batches whose longest times their number fits the budget."""
    batch: list[int] = []
    longest = 0
    for k in order:
        longest = max(longest, costs[k])
        if batch and longest * (len(batch) + 1) > budget:
            yield batch
            batch, longest = [], costs[k]
        batch.append(k)
    if batch:
        yield batch


def _fill(network: nn.Module, path: Path) -> None:
    try:
        tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        raise HeadspanError(f"{path}: cannot be read: {error}") from error
    expected = network.state_dict()
    for name in expected.keys() ^ tensors.keys():
        what = "is missing" if name in expected else "belongs to no part of the model"
        raise HeadspanError(f"{path}: the tensor {name} {what}")
    for name, tensor in tensors.items():
        if tensor.shape != expected[name].shape:
            raise HeadspanError(
                f"{path}: the tensor {name} has the shape {tuple(tensor.shape)}; "
                f"expected {tuple(expected[name].shape)}"
            )
    network.load_state_dict(tensors)


def _write_json(path: Path, data: Any) -> None:
    text = json.dumps(data, ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise HeadspanError(f"{path}: cannot be read: {error}") from error


def _read_json(path: Path) -> Any:
    try:
        return json.loads(_read_text(path))
    except (ValueError, RecursionError) as error:
        raise HeadspanError(f"{path}: is not JSON: {error}") from error
