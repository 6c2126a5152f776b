"""A model folder: weights as safetensors, everything else as JSON. Nothing in it ever runs.

Finding a model and telling it from others needs no torch.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headspan.plumbing.errors import HeadspanError, named, shown
from headspan.plumbing.files import placed, reason

if TYPE_CHECKING:
    from torch import Tensor, nn

FORMAT = 1
"""The version of the layout."""
EMBEDDED = Path(__file__).parent.parent / "models"
"""Where the models that come with headspan live."""
CONFIG, WEIGHTS, VOCABULARIES = "config.json", "model.safetensors", "vocabularies.json"
TOKENIZER, SEGMENTER, CARD = "tokenizer.json", "segmenter.json", "README.md"
FILES = (CONFIG, WEIGHTS, VOCABULARIES, TOKENIZER, SEGMENTER, CARD)
_SCALE = ".scale"
_LARGE_TABLE = 1 << 20  # numbers


@dataclass
class ModelFolder:
    """What is in a model folder, as it lies there."""

    about: dict[str, Any]
    """config.json without the format: the configuration, and what else is short."""
    tensors: dict[str, Tensor]
    vocabularies: Any
    tokenizer: str | None = None
    segmenter: Any = None
    card: str = field(default="# A headspan model\n")

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the folder, whole or not at all; an old one is replaced."""
        folder = Path(path)
        if folder.is_dir() and any(folder.iterdir()) and not (folder / CONFIG).exists():
            raise HeadspanError(
                f"{folder}: has other things in it; expected a new folder, or a model to replace"
            )
        with placed(folder) as fresh:
            fresh.mkdir(parents=True)
            write_tensors(fresh / WEIGHTS, self.tensors, {"format": "pt"})
            (fresh / WEIGHTS).chmod(0o644)  # safetensors keeps it to its owner
            _write_json(fresh / CONFIG, {"format": FORMAT, **self.about})
            _write_json(fresh / VOCABULARIES, self.vocabularies)
            if self.tokenizer is not None:
                (fresh / TOKENIZER).write_text(self.tokenizer, encoding="utf-8")
            if self.segmenter is not None:
                _write_json(fresh / SEGMENTER, self.segmenter)
            (fresh / CARD).write_text(self.card, encoding="utf-8")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> ModelFolder:
        """Read a folder of this format. Raises HeadspanError if it is not one, or not whole.

        Nothing outside the folder is read: no link that leads out of it, no pipe, no device.
        """
        folder = Path(path)
        about = _read_json(_own(folder, CONFIG))
        _check_format(about, folder)
        tensors = _read_tensors(_own(folder, WEIGHTS))
        there = {name: _own(folder, name) for name in FILES if os.path.lexists(folder / name)}
        return cls(
            about,
            tensors,
            _read_json(_own(folder, VOCABULARIES)),
            _read_text(there[TOKENIZER]) if TOKENIZER in there else None,
            _read_json(there[SEGMENTER]) if SEGMENTER in there else None,
            _read_text(there[CARD]) if CARD in there else "",
        )


def write_tensors(path: Path, tensors: dict[str, Tensor], about: dict[str, str]) -> None:
    """A file of safetensors with this header. Raises OSError if it cannot be written."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    try:
        save_file(tensors, path, metadata=about)
    except SafetensorError as error:  # which does not say of which kind it is
        raise OSError(str(error)) from error


def find_model(name: str | os.PathLike[str]) -> Path:
    """The folder of a model: one that is there, or the embedded one of that name."""
    folder = Path(name)
    if folder.is_dir():
        return folder
    if (EMBEDDED / folder.name / CONFIG).exists() and folder.name == str(name):
        return EMBEDDED / folder.name
    known = sorted(path.parent.name for path in EMBEDDED.glob(f"*/{CONFIG}"))
    also = f"; embedded models: {', '.join(known)}"
    if not known:
        also = ", and no model is embedded; train one with `headspan train`, or `make model`"
    raise HeadspanError(f"{name}: there is no such model folder{also}")


def fingerprint(folder: Path) -> str:
    """The SHA-256 of all that a model's parses depend on: its files but for the card."""
    found = hashlib.sha256()
    for name in FILES:
        if name != CARD and os.path.lexists(folder / name):
            path = _own(folder, name)
            try:
                with path.open("rb") as file:
                    found.update(hashlib.file_digest(file, "sha256").digest() + name.encode())
            except OSError as error:
                raise HeadspanError(f"{path}: cannot be read: {error}") from error
    return found.hexdigest()


def fitting(network: nn.Module, tensors: dict[str, Tensor], where: str) -> dict[str, Tensor]:
    """The tensors as a network takes them; each must be there, fit, and belong.

    The network may be without memory, on the device `meta`.
    """
    tensors = _unpacked(tensors, where)
    expected = network.state_dict()
    for name in sorted(expected.keys() ^ tensors.keys()):
        what = "is missing" if name in expected else "belongs to no part of the model"
        raise HeadspanError(f"{where}: the tensor {named(name)} {what}")
    for name, tensor in tensors.items():
        if tensor.shape != expected[name].shape:
            raise HeadspanError(
                f"{where}: the tensor {name} has the shape {tuple(tensor.shape)}; "
                f"expected {tuple(expected[name].shape)}"
            )
        if tensor.dtype != expected[name].dtype:
            raise HeadspanError(f"{where}: the tensor {name} holds {tensor.dtype}")
    return tensors


def packed(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Smaller copies: float16, and int8 with a scale a row for large tables."""
    import torch

    small: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if tensor.dtype != torch.float32:
            small[name] = tensor
        elif tensor.dim() == 2 and tensor.numel() >= _LARGE_TABLE:
            scale = tensor.abs().amax(1, keepdim=True).clamp(min=1e-12) / 127
            small[name] = (tensor / scale).round().to(torch.int8)
            small[name + _SCALE] = scale
        else:
            small[name] = tensor.half()
    return small


def _unpacked(tensors: dict[str, Tensor], where: str) -> dict[str, Tensor]:
    """What `packed` was given, but for rounding."""
    import torch

    whole: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if name.endswith(_SCALE) and name.removesuffix(_SCALE) in tensors:
            continue
        scale = tensors.get(name + _SCALE)
        if tensor.dtype == torch.int8 and scale is not None:
            if tensor.dim() != 2 or scale.shape != (len(tensor), 1) or scale.dtype != torch.float32:
                raise HeadspanError(f"{where}: the tensor {named(name)} does not fit its scale")
            tensor = tensor * scale
        whole[name] = tensor.float() if tensor.dtype == torch.float16 else tensor
    return whole


def _write_json(path: Path, data: Any) -> None:
    text = json.dumps(data, ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def _check_format(about: Any, folder: Path) -> None:
    """Take the format out of config.json; raises HeadspanError if it is not one of ours."""
    if not isinstance(about, dict):
        raise HeadspanError(f"{folder / CONFIG}: is not a table")
    found = about.pop("format", None)
    if found == FORMAT and type(found) is int:
        return
    advice = "it was not written by headspan"
    if type(found) is int and found > FORMAT:
        advice = "a newer headspan wrote it; install a newer version to load it"
    raise HeadspanError(
        f"{folder}: its format is {shown(found)}; this version of headspan reads {FORMAT}: {advice}"
    )


def _own(folder: Path, name: str) -> Path:
    """The path of a file in a folder; raises HeadspanError for what only looks like one.

    A link may lead to another place in the folder. In the cache of the Hugging Face hub, where a
    model's files are links to blobs, it may also lead there.
    """
    path = folder / name
    try:
        real, homes = path.resolve(strict=True), [folder.resolve()]
        if folder.parent.name == "snapshots":
            homes.append(folder.parent.parent.resolve() / "blobs")
        mode = real.stat().st_mode
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise HeadspanError(f"{path}: cannot be read: {reason(error)}") from error
    if not any(real.is_relative_to(home) for home in homes):
        raise HeadspanError(f"{path}: is a link to {real}, which is not in the model folder")
    if not stat.S_ISREG(mode):
        raise HeadspanError(f"{path}: is not a file")
    return path


def _read_tensors(path: Path) -> dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise HeadspanError(f"{path}: cannot be read: {error}") from error


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise HeadspanError(f"{path}: cannot be read: {error}") from error


def _read_json(path: Path) -> Any:
    try:
        return json.loads(
            _read_text(path), object_pairs_hook=_table, parse_constant=_no_such_number
        )
    except (ValueError, RecursionError) as error:
        raise HeadspanError(f"{path}: is not JSON: {error}") from error


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for name, value in pairs:
        if name in table:
            raise ValueError(f"the key {shown(name)} is there twice")
        table[name] = value
    return table


def _no_such_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")
