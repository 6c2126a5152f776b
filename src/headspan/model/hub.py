"""Models on the Hugging Face hub. Nothing else uses the network."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from headspan.model.folder import FILES, find_model
from headspan.plumbing.errors import HeadspanError, first_line


def find_or_fetch(name: str | os.PathLike[str]) -> Path:
    """The folder of a model on this machine, or of the hub's `owner/name`, fetched from there."""
    try:
        return find_model(name)
    except HeadspanError:
        if Path(name).exists() or "/" not in str(name):
            raise
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(str(name), allow_patterns=list(FILES)))
    except (OSError, ValueError) as error:
        raise HeadspanError(
            f"{name}: cannot be fetched from the hub: {first_line(error)}"
        ) from error


def upload(save: Callable[[Path], None], name: str, *, private: bool) -> str:
    """Upload the model folder that `save` writes; returns its address."""
    from huggingface_hub import HfApi

    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder) / "model")
        api = HfApi()
        address = api.create_repo(name, private=private, exist_ok=True)
        api.upload_folder(repo_id=name, folder_path=Path(folder) / "model")
    return str(address)
