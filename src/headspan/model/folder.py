"""The files of a model folder: finding it, telling it from others, reading it safely.

Nothing here needs torch.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import Any

from headspan.plumbing.errors import HeadspanError, shown
from headspan.plumbing.files import placed, unreadable

EMBEDDED = Path(__file__).parent.parent / "models"
"""The folder of the models that come with headspan."""
GROUP = "headspan.models"
"""The group of entry points under which packages offer models: a name, and the package with it."""
IN_PACKAGE = "model"
"""The name of the model folder inside such a package."""
FURTHER = ("fr", "nl", "pt", "tr")
"""Models that headspan's repository has as packages of their own, in models/."""
CONFIG, WEIGHTS, VOCABULARIES = "config.json", "model.safetensors", "vocabularies.json"
TOKENIZER, SEGMENTER, LEMMAS = "tokenizer.json", "segmenter.json", "lemmas.json"
CHECKSUMS, CARD = "checksums.json", "README.md"
FILES = (CONFIG, WEIGHTS, VOCABULARIES, TOKENIZER, SEGMENTER, LEMMAS, CHECKSUMS, CARD)
_CHECKED = FILES[:-2]  # the files that a model's parses depend on


def find_model(name: str | os.PathLike[str]) -> Path:
    """The folder of a model: a path, or the name of an embedded or installed model.

    A folder that is not a model, such as one of texts, does not hide a model of its name.
    """
    folder = Path(name)
    if has_file(folder, CONFIG):
        return folder
    if folder.name == str(name):
        embedded = EMBEDDED / name
        if (embedded / CONFIG).exists():
            return embedded
        if installed := installed_models().get(str(name)):
            return installed.folder
    if folder.is_dir():
        return folder
    raise HeadspanError(f"{name}: there is no such model folder; {_advice(str(name))}")


def _advice(name: str) -> str:
    """The way to a model that is missing, and the models that are there."""
    known = [*embedded_models(), *installed_models()]
    if name in FURTHER:
        way = f"install the model with `pip install ./models/{name}` in a checkout of headspan"
    elif not known:
        way = "train a model with `headspan train`, or `make model`"
    else:
        return f"models here: {', '.join(known)}"
    return f"{way}; models here: {', '.join(known) or 'none'}"


def embedded_models() -> list[str]:
    """The names of the models that come with headspan."""
    return sorted(path.parent.name for path in EMBEDDED.glob(f"*/{CONFIG}"))


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model in an installed package."""

    folder: Path
    package: str
    """The name and version of the package."""


def installed_models() -> dict[str, InstalledModel]:
    """The models in installed packages, by name. The packages are found, but not run."""
    models: dict[str, InstalledModel] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            spec = find_spec(entry.module.partition(".")[0])
        except (AttributeError, ImportError, ValueError):  # an entry that names no module
            continue
        for place in (spec.submodule_search_locations or ()) if spec else ():
            folder = Path(place) / IN_PACKAGE
            if (folder / CONFIG).exists():
                about = f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.module
                models.setdefault(entry.name, InstalledModel(folder, about))
    return models


@dataclass(frozen=True, slots=True)
class Figures:
    """What a card says of its model, in the line `headspan:` of its header."""

    language: str = ""
    """The ISO code."""
    las: float | None = None
    """LAS on the test treebank, from its words."""
    raw_las: float | None = None
    """LAS on the test treebank, from its raw text."""
    words_per_second: int | None = None
    """On one thread of the machine that measured it."""

    @classmethod
    def of(cls, card: str) -> Figures:
        """The figures of a card; those that it does not have are None."""
        first, *rest = card.splitlines() or [""]
        header = takewhile(lambda line: line != "---", rest) if first == "---" else ()
        lines = dict(line.split(": ", 1) for line in header if ": " in line)
        try:
            measured = json.loads(lines.get("headspan", "{}"))
        except (ValueError, RecursionError):
            measured = {}
        numbers = {
            name: measured[name]
            for name in ("las", "raw_las", "words_per_second")
            if isinstance(measured, dict) and type(measured.get(name)) in (int, float)
        }
        return cls(lines.get("language", ""), **numbers)


def fingerprint(folder: Path) -> str:
    """The SHA-256 of all files that a model's parses depend on."""
    digest = hashlib.sha256()
    for name in _CHECKED:
        if has_file(folder, name):
            digest.update(bytes.fromhex(_checksum(folder, name)) + name.encode())
    return digest.hexdigest()


def write_checksums(folder: Path) -> None:
    """Write the SHA-256 of every file that a model's parses depend on."""
    names = [name for name in _CHECKED if has_file(folder, name)]
    write_json(folder / CHECKSUMS, {name: _checksum(folder, name) for name in names})


def check_checksums(folder: Path) -> None:
    """Raise HeadspanError if a file is not the one that was saved; some folders cannot tell."""
    if not has_file(folder, CHECKSUMS):
        return
    saved = read_json(folder, CHECKSUMS)
    if not isinstance(saved, dict):
        raise HeadspanError(f"{CHECKSUMS} is not a table")
    for name in _CHECKED:
        found = _checksum(folder, name) if has_file(folder, name) else None
        if found != saved.get(name):
            what = "is missing" if found is None else "is not as it was saved"
            raise HeadspanError(
                f"{name} {what}: it was damaged or changed; if you changed it on purpose, delete "
                f"{CHECKSUMS}"
            )


def _checksum(folder: Path, name: str) -> str:
    path = file_in(folder, name)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from error


@contextmanager
def new_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder to write a model into, which then replaces the old one, whole or not at all."""
    target = Path(path)
    if os.path.lexists(target) and not target.is_dir():
        raise HeadspanError(f"{target}: is a file; expected a folder")
    if target.is_dir() and any(target.iterdir()) and not (target / CONFIG).exists():
        raise HeadspanError(
            f"{target}: contains other files; expected a new folder, or a model to replace"
        )
    with placed(target) as folder:
        folder.mkdir(parents=True)
        yield folder


def has_file(folder: Path, name: str) -> bool:
    """Return whether a folder has something of that name, even a broken link."""
    return os.path.lexists(folder / name)


def file_in(folder: Path, name: str) -> Path:
    """The path of a file in a folder; raises HeadspanError unless it is a file, and inside it.

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
        raise unreadable(path, error) from error
    if not any(real.is_relative_to(home) for home in homes):
        raise HeadspanError(f"{path}: is a link to {real}, which is not in the model folder")
    if not stat.S_ISREG(mode):
        raise HeadspanError(f"{path}: is not a file")
    return path


def read_text(folder: Path, name: str) -> str:
    """The text of a file in a folder."""
    path = file_in(folder, name)
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from error


def read_json(folder: Path, name: str) -> Any:
    """The content of a JSON file in a folder."""
    text = read_text(folder, name)
    try:
        return json.loads(text, object_pairs_hook=_table, parse_constant=_no_such_number)
    except (ValueError, RecursionError) as error:
        raise HeadspanError(f"{folder / name}: is not JSON: {error}") from error


def write_json(path: Path, data: Any) -> None:
    """Write a JSON file."""
    text = json.dumps(data, ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for name, value in pairs:
        if name in table:
            raise ValueError(f"the key {shown(name)} occurs twice")
        table[name] = value
    return table


def _no_such_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")
