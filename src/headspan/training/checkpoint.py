"""The state of a run, in one safetensors file that is replaced as a whole.

Weights and moments are tensors; the rest is JSON in the file's header.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from headspan.plumbing.errors import HeadspanError, naming
from headspan.plumbing.files import placed
from headspan.plumbing.tensors import check_fit, read_tensors, write_tensors
from headspan.text import Segmenter


def save_checkpoint(
    path: Path, network: nn.Module, optimizer: torch.optim.Optimizer, state: dict[str, Any]
) -> None:
    """Write everything that `load_checkpoint` needs to resume exactly here."""
    tensors = {f"network.{name}": tensor for name, tensor in network.state_dict().items()}
    for number, moments in optimizer.state_dict()["state"].items():
        for name, value in moments.items():
            tensors[f"optimizer.{number}.{name}"] = torch.as_tensor(value)
    _write(path, tensors, state)


def load_checkpoint(
    path: Path, network: nn.Module, optimizer: torch.optim.Optimizer
) -> dict[str, Any]:
    """Restore a run from its checkpoint; return the rest of its state."""
    tensors, state = _read(path)
    weights = _below(tensors, "network.")
    moments: dict[int, dict[str, Tensor]] = {}
    with naming(f"{path}: cannot be resumed from"):
        check_fit(network, weights)
        network.load_state_dict(weights)
        try:
            for name, tensor in _below(tensors, "optimizer.").items():
                number, _, moment = name.partition(".")
                moments.setdefault(int(number), {})[moment] = tensor
            groups = optimizer.state_dict()["param_groups"]
            optimizer.load_state_dict({"state": moments, "param_groups": groups})
        except (KeyError, ValueError, RuntimeError) as error:
            raise HeadspanError(str(error)) from error
    return state


def save_segmenter(path: Path, segmenter: Segmenter) -> None:
    """Write a segmenter, for when its run is resumed."""
    arrays, description = segmenter.state()
    _write(path, {name: torch.from_numpy(array) for name, array in arrays.items()}, description)


def load_segmenter(path: Path) -> Segmenter:
    """The segmenter that `save_segmenter` wrote."""
    tensors, description = _read(path)
    with naming(f"{path}: cannot be resumed from"):
        return Segmenter.from_state({name: t.numpy() for name, t in tensors.items()}, description)


def _write(path: Path, tensors: Mapping[str, Tensor], state: Any) -> None:
    with placed(path) as temporary:
        write_tensors(temporary, tensors, {"state": json.dumps(state)})


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    tensors, header = read_tensors(path)
    try:
        return tensors, json.loads(header["state"])
    except (KeyError, ValueError) as error:
        raise HeadspanError(f"{path}: is not a checkpoint: {error!r}") from error


def _below(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}
