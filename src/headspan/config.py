"""Configurations: TOML into frozen dataclasses. An unknown key is an error."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from headspan.plumbing.errors import HeadspanError, named, shown
from headspan.plumbing.files import unreadable
from headspan.pseudoprojective import Scheme
from headspan.registries import LOSSES, STRUCTURES
from headspan.treebank_conventions import Punct

_T = TypeVar("_T")
TagColumn: TypeAlias = Literal["upos", "xpos", "feats"]
Files: TypeAlias = str | tuple[str, ...]
"""A file, or several that are read as one."""
PredictedColumn: TypeAlias = Literal["upos", "xpos", "feats", "lemmas"]


@dataclass(frozen=True)
class DataConfig:
    """The treebanks, and the treatment of non-projective trees."""

    train: Files = ""
    """A file, or a list of files that are learned from together."""
    dev: Files = ""
    test: str = ""
    silver: Files = ""
    """Trees of a parser to learn from as well: files, or a folder from `headspan corpus`."""
    silver_confidence: float = 0.0
    """The least mean confidence of a silver sentence's arcs, where they have confidences."""
    nonprojective: Literal["drop", "keep"] | Scheme = "head"
    """`drop` leaves such sentences out of training; `keep` learns them as they are, with structures
    that can build them; the others encode them in the labels."""
    encoded_min_count: int = 1
    """Encoded labels that are rarer in training are not learned: their words keep the relation."""
    punct: Punct = "upos"
    """Punctuation in the scores, as for `headspan score`."""
    segment: bool | Literal["auto"] = "auto"
    """Also learn to divide raw text into sentences and words; `auto` does so if the training
    treebank says that some tokens have no space after them."""

    def without_files(self) -> DataConfig:
        """The same without the names of files, which are those of one machine."""
        return replace(self, train="", dev="", test="", silver="")

    @property
    def crossing(self) -> bool:
        """Whether crossing arcs are learned as they are."""
        return self.nonprojective == "keep"

    @property
    def scheme(self) -> Scheme | None:
        """The scheme by which labels encode non-projective trees; None if they do not."""
        if self.nonprojective == "drop" or self.nonprojective == "keep":
            return None
        return self.nonprojective


@dataclass(frozen=True)
class EncoderConfig:
    """A pretrained encoder; if its name is empty, there is none."""

    name: str = ""
    """A folder, `python:PACKAGE/FOLDER` for one inside an installed package, or a hub name."""
    layers: Literal["last", "mix"] = "last"
    """The last layer, or a learned mix of all."""
    depth: int = 0
    """Only so many layers of it, the first ones; 0 for all."""
    fine_tuned: Literal["all", "layers", "none"] = "all"
    """Fine-tune all of it, all but its table of subwords, or nothing."""


@dataclass(frozen=True)
class EmbeddingsConfig:
    """Embeddings that are learned from scratch; a size of 0 leaves one out."""

    words: int = 0
    min_count: int = 2
    """Words that are rarer in training are unknown."""
    characters: int = 0
    tags: int = 0
    """The size of each column's embedding."""
    columns: tuple[TagColumn, ...] = ()


@dataclass(frozen=True)
class TaggerConfig:
    """Columns that the network predicts besides the tree; without columns there is no tagger."""

    columns: tuple[PredictedColumn, ...] = ()
    """Lemmas are predicted as scripts that turn forms into them."""
    size: int = 256
    layer: int = 0
    """The layer of the BiLSTM whose outputs it reads; 0 for the vectors of words, which know of the
    sentence only if there is an encoder."""
    as_input: bool = True
    """The parser sees the predicted tags, as embeddings of size `embeddings.tags`."""
    weight: float = 0.2
    """The weight of the loss on tags, besides the losses on trees and relations."""


@dataclass(frozen=True)
class ModelConfig:
    """The network."""

    structure: Annotated[str, STRUCTURES] = "span"
    """The way trees are scored: a name from the registry of structures."""
    loss: Annotated[str, LOSSES] = "max-margin"
    """The loss on trees: a name from the registry of losses."""
    decoder: Literal["best", "minimum-risk"] = "best"
    """The tree with the highest score, or with the highest expected number of right heads."""
    beam: int = 1
    """The width of the search, for structures that build a tree word by word."""
    refinements: int = 0
    """How often, at most, the encoder reads the predicted tree and the tree is predicted again."""
    labels_from: Literal["words", "spans"] = "words"
    """Relations from the words of an arc, or from their headed spans (the paper's footnote)."""
    lstm_layers: int = 3
    lstm_size: int = 1000
    """The size of each direction."""
    score_size: int = 600
    label_size: int = 300
    dropout: float = 0.33
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    embeddings: EmbeddingsConfig = field(default_factory=EmbeddingsConfig)
    tagger: TaggerConfig = field(default_factory=TaggerConfig)

    @property
    def minimum_risk(self) -> bool:
        """Whether the decoder minimises risk."""
        return self.decoder == "minimum-risk"


@dataclass(frozen=True)
class TrainingConfig:
    """The optimiser and its schedule."""

    epochs: int = 10
    silver_epochs: int = 1
    """The first epochs, each of which sees an equal share of the silver sentences."""
    start: str = ""
    """A model to go on from, by name or folder: its weights and the names that it knows are kept,
    and its network must be the one configured. By default, everything above an encoder is new."""
    batch_tokens: int = 4000
    """The largest size of a batch, in the unit of `batch_by`."""
    batch_by: Literal["padded", "words"] = "padded"
    """`padded`: the length of the longest sentence times their number, in words or, with an
    encoder, in subwords; memory and time grow with it. `words`: the sum of the lengths."""
    accumulate: int = 1
    """Batches per step."""
    learning_rate: float = 25e-5
    encoder_learning_rate: float = 5e-5
    betas: tuple[float, float] = (0.9, 0.9)
    weight_decay: float = 0.0
    warmup_epochs: float = 1.0
    clip: float = 5.0
    bfloat16: bool = False
    """Multiply the encoder's matrices in bfloat16, on a processor or GPU that is faster at it."""
    word_dropout: float = 0.0
    """The share of words that are masked for the encoder and the word embeddings."""
    seed: int = 0
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """The device to train on; `auto` is a GPU if there is one."""
    log: tuple[Literal["tensorboard", "wandb"], ...] = ()
    """Destinations of losses and scores besides log.jsonl."""


@dataclass(frozen=True)
class Config:
    """The whole configuration."""

    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)


def file_list(files: Files) -> tuple[str, ...]:
    """The files; none for an empty name."""
    return (files,) * bool(files) if isinstance(files, str) else files


def read_config(
    path: str | Path | None,
    overrides: Mapping[str, str] | None = None,
    *,
    prefix: str = "",
    defaults: Mapping[str, Any] | None = None,
) -> Config:
    """A configuration from a TOML file, with overriding values for dotted keys.

    path: None for no file. prefix: what stands before a key where it was given, such as `--`; for
    messages. defaults: a table for what the file leaves open.
    """
    table = read_toml(path) if path is not None else {}
    config = from_table(Config, table, str(path))
    if defaults:
        table = _over(defaults, table)
        config = from_table(Config, table, "the defaults")
    for key, value in (overrides or {}).items():
        where = f"{prefix}{named(key)}={named(value)}"
        _put(table, key, value, where)
        config = from_table(Config, table, where)
    return config


def read_toml(path: str | Path) -> dict[str, Any]:
    """The content of a TOML file. Raises HeadspanError if it is not TOML or cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, RecursionError) as error:  # also a number of too many digits
        raise HeadspanError(f"{path}: is not TOML: {named(str(error), 200)}") from error


def _over(defaults: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """A table with the values of another where it has none."""
    merged: dict[str, Any] = {**defaults}
    for key, value in table.items():
        below = defaults.get(key)
        both = isinstance(below, Mapping) and isinstance(value, Mapping)
        merged[key] = _over(below or {}, value) if both else value
    return merged


def from_table(kind: type[_T], table: Any, where: str, prefix: str = "") -> _T:
    """A dataclass from a table, checked: no unknown key, every value of its type."""
    if not isinstance(table, Mapping):
        name = prefix.rstrip(".") or "the content"
        raise HeadspanError(f"{where}: {name} is {shown(table)}; expected a table")
    hints = get_type_hints(kind, include_extras=True)
    for key in table:
        if key not in hints:
            known = ", ".join(prefix + name for name in hints)
            raise HeadspanError(f"{where}: unknown key {prefix}{named(key)}; expected {known}")
    values = {key: _checked(hints[key], value, where, prefix + key) for key, value in table.items()}
    return kind(**values)


def upgraded(table: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration from a model or a run of an earlier headspan, with the keys of today.

    Before format 2 of model folders, `encoder.fine_tuned` was `tuned`, `batch_by = "padded"` was
    `"places"`, and there was `training.patience`.
    """
    table = {**table}
    with suppress(KeyError, TypeError):  # from_table reports all other mistakes
        encoder = {**table["model"]["encoder"]}
        encoder["fine_tuned"] = encoder.pop("tuned")
        table["model"] = {**table["model"], "encoder": encoder}
    with suppress(KeyError, TypeError):
        training = {**table["training"]}
        training.pop("patience", None)
        if training.get("batch_by") == "places":
            training["batch_by"] = "padded"
        table["training"] = training
    return table


def to_table(config: Any) -> dict[str, Any]:
    """The nested dictionary that `from_table` reads."""
    table: dict[str, Any] = dataclasses.asdict(config)
    return table


def _checked(hint: Any, value: Any, where: str, key: str) -> Any:
    if dataclasses.is_dataclass(hint):
        return from_table(hint, value, where, key + ".")  # type: ignore[arg-type]
    if hint == Files:
        hint = str if isinstance(value, str) else tuple[str, ...]
    origin = get_origin(hint)
    if origin in (Literal, Annotated, Union, UnionType):
        choices = _choices(hint)
        if any(value == choice and type(value) is type(choice) for choice in choices):
            return value
        expected = ", ".join(_CHOICE_NAMES.get(choice, choice) for choice in choices)
        raise HeadspanError(f"{where}: {key} is {shown(value)}; expected one of {expected}")
    if origin is tuple:
        kind, last = get_args(hint)[0], get_args(hint)[-1]
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise HeadspanError(f"{where}: {key} is {shown(value)}; expected a list")
        if last is not Ellipsis and len(value) != len(get_args(hint)):
            count = len(get_args(hint))
            raise HeadspanError(f"{where}: {key} is {shown(value)}; expected {count} values")
        items = tuple(_checked(kind, item, where, key) for item in value)
        if kind in (TagColumn, PredictedColumn) and len(set(items)) < len(items):
            raise HeadspanError(f"{where}: {key} is {shown(value)}; expected each column once")
        return items
    if type(value) is not hint and not (hint is float and type(value) is int):
        raise HeadspanError(f"{where}: {key} is {shown(value)}; expected {_NAMES[hint]}")
    if hint in (int, float) and not 0 <= value <= _LARGEST:
        what = "0 or more" if value < 0 else f"at most {_LARGEST:,}"
        raise HeadspanError(f"{where}: {key} is {shown(value)}; expected {what}")
    name = key.rpartition(".")[2]
    if name in _BELOW_ONE and value >= 1:
        raise HeadspanError(f"{where}: {key} is {shown(value)}; expected less than 1")
    if name in _AT_MOST and value > _AT_MOST[name]:
        raise HeadspanError(f"{where}: {key} is {shown(value)}; expected at most {_AT_MOST[name]}")
    if name in _NOT_ZERO and not value:
        raise HeadspanError(f"{where}: {key} is 0; expected at least 1")
    return hint(value)


_LARGEST = 10**12
_BELOW_ONE = {"betas", "dropout", "word_dropout"}
_NOT_ZERO = {
    "lstm_size", "score_size", "label_size", "size", "batch_tokens", "accumulate", "epochs",
    "silver_epochs", "beam",
}  # fmt: skip
_AT_MOST = {"beam": 64}
_NAMES = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}


_CHOICE_NAMES: dict[Any, str] = {True: "true", False: "false", "": "''"}


def _choices(hint: Any) -> tuple[Any, ...]:
    """The values that a hint allows: a Literal's, a registry's, both booleans, or a union's."""
    if hint is bool:
        return True, False
    if get_origin(hint) is Annotated:
        return tuple(get_args(hint)[1])
    if get_origin(hint) is Literal:
        return get_args(hint)
    return tuple(choice for part in get_args(hint) for choice in _choices(part))


def _put(table: dict[str, Any], key: str, value: str, where: str) -> None:
    """Set a dotted key to a value from the command line: TOML if it can be, else a string."""
    *path, last = key.split(".")
    for name in path:
        table = table.setdefault(name, {})
        if not isinstance(table, dict):
            raise HeadspanError(f"{where}: {name} is not a table")
    try:
        table[last] = tomllib.loads(f"value = {value}")["value"]
    except (ValueError, RecursionError):
        table[last] = value
