"""Where a run stands, in one safetensors file that is replaced whole: weights and moments as
tensors, the rest as JSON in its header.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from headspan.model.folder import write_tensors
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import placed
from headspan.text import Segmenter


def save_checkpoint(
    path: Path, network: nn.Module, optimizer: torch.optim.Optimizer, state: dict[str, Any]
) -> None:
    """Write everything that `load_checkpoint` needs to go on exactly here."""
    tensors: dict[str, Tensor] = {
        f"network.{name}": tensor.detach().cpu().contiguous()
        for name, tensor in network.state_dict().items()
    }
    for number, moments in optimizer.state_dict()["state"].items():
        for name, value in moments.items():
            tensors[f"optimizer.{number}.{name}"] = torch.as_tensor(value).cpu().contiguous()
    _write(path, tensors, state)


def _write(path: Path, tensors: dict[str, Tensor], state: Any) -> None:
    with placed(path) as temporary:
        write_tensors(temporary, tensors, {"state": json.dumps(state)})


def load_checkpoint(
    path: Path, network: nn.Module, optimizer: torch.optim.Optimizer
) -> dict[str, Any]:
    """Put a run back to where it stood; gives the rest of its state."""
    try:
        tensors, state = _read(path)
        network.load_state_dict(_below(tensors, "network."))
        moments: dict[int, dict[str, Tensor]] = {}
        for name, tensor in _below(tensors, "optimizer.").items():
            number, _, moment = name.partition(".")
            moments.setdefault(int(number), {})[moment] = tensor
        whole = optimizer.state_dict()
        optimizer.load_state_dict({"state": moments, "param_groups": whole["param_groups"]})
    except (OSError, SafetensorError, KeyError, ValueError, RuntimeError) as error:
        raise HeadspanError(f"{path}: cannot be resumed from: {error}") from error
    return state


def save_segmenter(path: Path, segmenter: Segmenter) -> None:
    """Keep a segmenter for the rest of a run."""
    tensors, about = segmenter.state()
    _write(path, {name: tensor.contiguous() for name, tensor in tensors.items()}, about)


def load_segmenter(path: Path) -> Segmenter:
    """The segmenter that `save_segmenter` kept."""
    try:
        return Segmenter.from_state(*_read(path))
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise HeadspanError(f"{path}: cannot be resumed from: {error}") from error


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        return tensors, json.loads((file.metadata() or {})["state"])


def _below(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}
