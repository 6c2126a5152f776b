"""The state of a run, in one safetensors file that is replaced as a whole.

Weights and moments are tensors; the rest is JSON in the file's header, with a checksum of all of
it. Nothing is restored before everything has been checked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from headspan.plumbing.errors import HeadspanError, named, naming
from headspan.plumbing.files import placed
from headspan.plumbing.tensors import check_fit, read_tensors, write_tensors
from headspan.text import Segmenter

_STATE = "state"  # the one key of the header; safetensors would write several in any order
_STEP = "step"  # a number among the moments of a weight
_MOMENTS = {_STEP, "exp_avg", "exp_avg_sq"}


@dataclass(frozen=True)
class Checkpoint:
    """What a file holds, undamaged, but not necessarily of this run."""

    path: Path
    tensors: dict[str, Tensor]
    state: Any

    def restore(self, network: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Put weights and moments in their places. Raises HeadspanError if they do not fit."""
        with naming(_unusable(self.path)):
            weights = _below(self.tensors, "network.")
            check_fit(network, weights)
            moments = _moments(_below(self.tensors, "optimizer."), optimizer)
        network.load_state_dict(weights)
        groups = optimizer.state_dict()["param_groups"]
        optimizer.load_state_dict({"state": moments, "param_groups": groups})


def save_checkpoint(
    path: Path, network: nn.Module, optimizer: torch.optim.Optimizer, state: Mapping[str, Any]
) -> None:
    """Write everything that is needed to resume exactly here."""
    tensors = {f"network.{name}": tensor for name, tensor in network.state_dict().items()}
    for number, moments in optimizer.state_dict()["state"].items():
        for name, value in moments.items():
            tensors[f"optimizer.{number}.{name}"] = torch.as_tensor(value)
    _write(path, tensors, state)


def read_checkpoint(path: Path) -> Checkpoint:
    """The content of a file that `save_checkpoint` or `save_segmenter` wrote.

    Raises HeadspanError if it is damaged, or has numbers that are not finite.
    """
    tensors, header = read_tensors(path)
    with naming(_unusable(path)):
        checksum, separator, state = header.get(_STATE, "").partition("\n")
        if not separator:
            raise HeadspanError("it is not a checkpoint, or one of an earlier headspan")
        if checksum != _checksum(tensors, state):
            raise HeadspanError("it is damaged: its content does not have its checksum")
        for name, tensor in tensors.items():
            if not tensor.isfinite().all():
                raise HeadspanError(f"the tensor {named(name)} has numbers that are not finite")
        try:
            return Checkpoint(path, tensors, json.loads(state))
        except (ValueError, RecursionError) as error:
            raise HeadspanError(f"its state is not JSON: {error}") from error


def save_segmenter(path: Path, segmenter: Segmenter, run: Mapping[str, Any] | None = None) -> None:
    """Write a segmenter, for when its run is resumed. run: the fingerprint of the run."""
    arrays, description = segmenter.state()
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    _write(path, tensors, {"segmenter": description, "run": run})


def load_segmenter(path: Path) -> Segmenter:
    """The segmenter that `save_segmenter` wrote."""
    return load_segmenter_of_run(path)[0]


def load_segmenter_of_run(path: Path) -> tuple[Segmenter, Any]:
    """The segmenter that `save_segmenter` wrote, and the fingerprint of its run."""
    checkpoint = read_checkpoint(path)
    with naming(_unusable(path)):
        if not isinstance(checkpoint.state, dict) or "segmenter" not in checkpoint.state:
            raise HeadspanError("it is not a segmenter")
        arrays = {name: tensor.numpy() for name, tensor in checkpoint.tensors.items()}
        segmenter = Segmenter.from_state(arrays, checkpoint.state["segmenter"])
        return segmenter, checkpoint.state.get("run")


def _write(path: Path, tensors: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
    text = json.dumps(state)
    with placed(path) as temporary:
        write_tensors(temporary, tensors, {_STATE: f"{_checksum(tensors, text)}\n{text}"})


def _checksum(tensors: Mapping[str, Tensor], state: str) -> str:
    """The SHA-256 of everything in a checkpoint."""
    digest = hashlib.sha256(state.encode())
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        digest.update(f"\0{name} {tensor.dtype} {tuple(tensor.shape)}\0".encode())
        digest.update(tensor.flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _moments(
    tensors: Mapping[str, Tensor], optimizer: torch.optim.Optimizer
) -> dict[int, dict[str, Tensor]]:
    """The moments by the number of their weight. Raises HeadspanError unless they fit."""
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    numbers = {str(number): number for number in range(len(weights))}
    moments: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        number, _, moment = name.partition(".")
        if number not in numbers or moment not in _MOMENTS:
            raise HeadspanError(f"the optimiser's tensor {named(name)} does not belong to this run")
        shape = () if moment == _STEP else weights[numbers[number]].shape
        if tensor.shape != shape or tensor.dtype != torch.float32:
            raise HeadspanError(
                f"the optimiser's tensor {name} has the shape {tuple(tensor.shape)} and the type "
                f"{tensor.dtype}; expected {tuple(shape)} and {torch.float32}"
            )
        moments.setdefault(numbers[number], {})[moment] = tensor
    for place, present in moments.items():
        for missing in sorted(_MOMENTS - present.keys()):
            raise HeadspanError(f"the optimiser's tensor {place}.{missing} is missing")
    return moments


def _unusable(path: Path) -> str:
    return f"{path}: cannot be resumed from"


def _below(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}
