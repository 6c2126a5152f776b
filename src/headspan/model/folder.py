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
from pathlib import Path
from typing import Any

from headspan.plumbing.errors import HeadspanError, shown
from headspan.plumbing.files import placed, unreadable

EMBEDDED = Path(__file__).parent.parent / "models"
"""The folder of the models that come with headspan."""
CONFIG, WEIGHTS, VOCABULARIES = "config.json", "model.safetensors", "vocabularies.json"
TOKENIZER, SEGMENTER, LEMMAS = "tokenizer.json", "segmenter.json", "lemmas.json"
CARD = "README.md"
FILES = (CONFIG, WEIGHTS, VOCABULARIES, TOKENIZER, SEGMENTER, LEMMAS, CARD)


def find_model(name: str | os.PathLike[str]) -> Path:
    """The folder of a model: a path, or the name of an embedded model."""
    folder = Path(name)
    if folder.is_dir():
        return folder
    if (EMBEDDED / folder.name / CONFIG).exists() and folder.name == str(name):
        return EMBEDDED / folder.name
    known = sorted(path.parent.name for path in EMBEDDED.glob(f"*/{CONFIG}"))
    advice = f"; embedded models: {', '.join(known)}"
    if not known:
        advice = ", and no model is embedded; train one with `headspan train`, or `make model`"
    raise HeadspanError(f"{name}: there is no such model folder{advice}")


def fingerprint(folder: Path) -> str:
    """The SHA-256 of all files that a model's parses depend on: all but the card."""
    digest = hashlib.sha256()
    for name in FILES:
        if name != CARD and has_file(folder, name):
            path = file_in(folder, name)
            try:
                with path.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest() + name.encode())
            except OSError as error:
                raise unreadable(path, error) from error
    return digest.hexdigest()


@contextmanager
def new_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder to write a model into, which then replaces the old one, whole or not at all."""
    target = Path(path)
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
