"""Configurations: TOML into frozen dataclasses. An unknown key is an error."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from headspan.plumbing.errors import HeadspanError, named, shown
from headspan.plumbing.files import reason
from headspan.registries import LOSSES, STRUCTURES
from headspan.treebank_conventions import Punct

_T = TypeVar("_T")


@dataclass(frozen=True)
class Data:
    """Which treebanks, and what becomes of non-projective trees."""

    train: str = ""
    dev: str = ""
    test: str = ""
    nonprojective: Literal["drop", "head", "path", "head+path"] = "head"
    """`drop` leaves such sentences out of training; the others encode them in the labels."""
    encoded_min_count: int = 1
    """Encoded labels that are rarer in training are not learned: their words keep the relation."""
    punct: Punct = "upos"
    """Punctuation in the scores, as for `headspan score`."""
    segment: bool = False
    """Whether to learn, too, how raw text falls into sentences and words."""


@dataclass(frozen=True)
class Encoder:
    """A pretrained encoder. Without a name there is none."""

    name: str = ""
    """A folder, `python:PACKAGE/FOLDER` for one inside an installed package, or a hub name."""
    layers: Literal["last", "mix"] = "last"
    """The last layer, or a learned mix of all."""
    tuned: Literal["all", "layers", "none"] = "all"
    """What of it is fine-tuned: all, all but its table of subwords, or nothing."""


@dataclass(frozen=True)
class Embeddings:
    """What is learned from scratch; a size of 0 leaves it out."""

    words: int = 0
    min_count: int = 2
    """Words that are rarer in training are unknown."""
    characters: int = 0
    tags: int = 0
    """The size of each column's embedding."""
    columns: tuple[Literal["upos", "xpos", "feats"], ...] = ()


@dataclass(frozen=True)
class Tagger:
    """Columns that the network predicts beside the tree; without columns there is no tagger."""

    columns: tuple[Literal["upos", "xpos", "feats"], ...] = ()
    size: int = 256
    as_input: bool = True
    """Whether the parser sees what the tagger thinks, as embeddings of size `embeddings.tags`."""
    weight: float = 0.2
    """Of their loss, beside those of trees and relations."""


@dataclass(frozen=True)
class Model:
    """The network."""

    structure: Annotated[str, STRUCTURES] = "span"
    """The way trees are scored: a name from the registry of structures."""
    loss: Annotated[str, LOSSES] = "max-margin"
    """The loss on trees: a name from the registry of losses."""
    labels_from: Literal["words", "spans"] = "words"
    """Relations from parent and child words, or from their headed spans (the paper's footnote)."""
    lstm_layers: int = 3
    lstm_size: int = 1000
    """The size of each direction."""
    score_size: int = 600
    label_size: int = 300
    dropout: float = 0.33
    encoder: Encoder = field(default_factory=Encoder)
    embeddings: Embeddings = field(default_factory=Embeddings)
    tagger: Tagger = field(default_factory=Tagger)


@dataclass(frozen=True)
class Training:
    """The optimiser and its schedule."""

    epochs: int = 10
    batch_tokens: int = 4000
    """How large a batch is, in what `batch_by` says."""
    batch_by: Literal["places", "words"] = "places"
    """`places`: the longest sentence times their number, in words or, with an encoder, in subwords,
    which is what memory and time go by; `words`: the lengths of its sentences, added up."""
    accumulate: int = 1
    """Batches a step."""
    learning_rate: float = 25e-5
    encoder_learning_rate: float = 5e-5
    betas: tuple[float, float] = (0.9, 0.9)
    weight_decay: float = 0.0
    warmup_epochs: float = 1.0
    clip: float = 5.0
    word_dropout: float = 0.0
    """The share of words that the encoder and the word embeddings do not see."""
    patience: int = 0
    """Stop after so many epochs without a better dev score; 0 never does."""
    seed: int = 0
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to train; `auto` is a GPU if there is one."""
    log: tuple[Literal["tensorboard", "wandb"], ...] = ()
    """Where losses and scores go beside log.jsonl."""


@dataclass(frozen=True)
class Config:
    """All of it."""

    data: Data = field(default_factory=Data)
    model: Model = field(default_factory=Model)
    training: Training = field(default_factory=Training)


def read_config(path: str | Path, overrides: Mapping[str, str] | None = None) -> Config:
    """A configuration from a TOML file, with values for dotted keys put in over it."""
    table = read_toml(path)
    for key, value in (overrides or {}).items():
        _put(table, key, value)
    return from_table(Config, table, str(path))


def read_toml(path: str | Path) -> dict[str, Any]:
    """What a TOML file holds. Raises HeadspanError if it holds none, or cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise HeadspanError(f"{path}: cannot be read: {reason(error)}") from error
    except (ValueError, RecursionError) as error:  # also a number of too many digits
        raise HeadspanError(f"{path}: is not TOML: {named(str(error), 200)}") from error


def from_table(kind: type[_T], table: Any, where: str, prefix: str = "") -> _T:
    """A dataclass from a table, checked: no unknown key, every value of its type."""
    if not isinstance(table, Mapping):
        raise HeadspanError(f"{where}: {prefix.rstrip('.') or 'it'} is not a table")
    hints = get_type_hints(kind, include_extras=True)
    for key in table:
        if key not in hints:
            known = ", ".join(prefix + name for name in hints)
            raise HeadspanError(f"{where}: unknown key {prefix}{named(key)}; there are {known}")
    values = {key: _checked(hints[key], value, where, prefix + key) for key, value in table.items()}
    return kind(**values)


def to_table(config: Any) -> dict[str, Any]:
    """The nested dictionary that `from_table` reads."""
    table: dict[str, Any] = dataclasses.asdict(config)
    return table


def _checked(hint: Any, value: Any, where: str, key: str) -> Any:
    if dataclasses.is_dataclass(hint):
        return from_table(hint, value, where, key + ".")  # type: ignore[arg-type]
    origin = get_origin(hint)
    if origin in (Literal, Annotated):
        choices = get_args(hint) if origin is Literal else tuple(get_args(hint)[1])
        if value in choices:
            return value
        expected = ", ".join(name or "''" for name in choices)
        raise HeadspanError(f"{where}: {key} is {shown(value)}; expected one of {expected}")
    if origin is tuple:
        kind, last = get_args(hint)[0], get_args(hint)[-1]
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise HeadspanError(f"{where}: {key} is {shown(value)}; expected a list")
        if last is not Ellipsis and len(value) != len(get_args(hint)):
            raise HeadspanError(f"{where}: {key} is {shown(value)}; expected {len(get_args(hint))}")
        return tuple(_checked(kind, item, where, key) for item in value)
    if type(value) is not hint and not (hint is float and type(value) is int):
        raise HeadspanError(f"{where}: {key} is {shown(value)}; expected {_NAMES[hint]}")
    if hint in (int, float) and not 0 <= value <= _LARGEST:
        what = "no negative number" if value < 0 else f"at most {_LARGEST:,}"
        raise HeadspanError(f"{where}: {key} is {shown(value)}; expected {what}")
    name = key.rpartition(".")[2]
    if name in _BELOW_ONE and value >= 1:
        raise HeadspanError(f"{where}: {key} is {shown(value)}; expected less than 1")
    if name in _NOT_ZERO and not value:
        raise HeadspanError(f"{where}: {key} is 0; expected at least 1")
    return hint(value)


_LARGEST = 10**12
_BELOW_ONE = {"betas", "dropout", "word_dropout"}
_NOT_ZERO = {"lstm_size", "score_size", "label_size", "size", "batch_tokens", "accumulate"}
_NAMES = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}


def _put(table: dict[str, Any], key: str, value: str) -> None:
    """Put a value, as typed on the command line, at a dotted key: TOML if it is, else a string."""
    *path, last = key.split(".")
    for name in path:
        table = table.setdefault(name, {})
        if not isinstance(table, dict):
            raise HeadspanError(f"{key}: {name} is not a table")
    try:
        table[last] = tomllib.loads(f"value = {value}")["value"]
    except (ValueError, RecursionError):
        table[last] = value
