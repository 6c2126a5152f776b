"""Everything that a run depends on, so that resuming it does not mix it with another."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headspan.config import Config, Files, file_list, to_table
from headspan.plumbing.errors import HeadspanError, shown
from headspan.plumbing.files import unreadable
from headspan.training.treebank import silver_files

_TREEBANKS = ("data.train", "data.dev", "data.silver")  # compared by content, not by name
_FREE = ("data.test", "training.device", "training.log")  # may change: the model stays the same


def fingerprint(config: Config) -> dict[str, Any]:
    """A value per key of the configuration, and the SHA-256 of every treebank."""
    data = config.data
    contents = {
        "data.train": _digest(data.train),
        "data.dev": _digest(data.dev),
        "data.silver": _digest(tuple(silver_files(data.silver))),
    }
    return _settings(config) | contents


def check_same(before: Any, now: Mapping[str, Any]) -> None:
    """Raise HeadspanError, naming what differs, unless two fingerprints are the same.

    A key that headspan did not have when a run was begun has had its default.
    """
    if not isinstance(before, dict):
        raise HeadspanError("it does not say which configuration and treebanks it is of")
    before = _settings(Config()) | before
    differences = [
        f"{key} has changed"
        if key in _TREEBANKS
        else f"{key} was {shown(before.get(key))} and is {shown(now.get(key))}"
        for key in sorted(before.keys() | now.keys())
        if before.get(key) != now.get(key)
    ]
    if differences:
        raise HeadspanError(
            f"it was begun with other settings: {'; '.join(differences)}; resume with the old "
            "ones, or use another folder"
        )


def _settings(config: Config) -> dict[str, Any]:
    """The values that may not change, by dotted key, as a checkpoint gives them back."""
    table = json.loads(json.dumps(_flat(to_table(config))))
    return {key: value for key, value in table.items() if key not in _FREE}


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The values of a nested table, by dotted key."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat


def _digest(files: Files) -> str:
    """The SHA-256 of the contents of files, one after the other."""
    digest = hashlib.sha256()
    for name in file_list(files):
        try:
            with Path(name).open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        except OSError as error:
            raise unreadable(name, error) from error
    return digest.hexdigest()
