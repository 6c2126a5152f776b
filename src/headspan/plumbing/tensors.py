"""Tensors in safetensors files, and the check that they fit a module."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from headspan.plumbing.errors import HeadspanError, named
from headspan.plumbing.files import unreadable


def write_tensors(path: Path, tensors: Mapping[str, Tensor], header: dict[str, str]) -> None:
    """Write a safetensors file. Raises OSError if it cannot be written."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    try:
        save_file(plain, path, metadata=header)
    except SafetensorError as error:  # which does not say what kind of error it is
        raise OSError(str(error)) from error


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of a safetensors file, and its header. Raises HeadspanError."""
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return tensors, file.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise unreadable(path, error) from error


def check_fit(module: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Raise HeadspanError unless the tensors are exactly those of a module.

    The module may be without memory, on the device `meta`.
    """
    expected = module.state_dict()
    for name in sorted(expected.keys() ^ tensors.keys()):
        what = "is missing" if name in expected else "does not belong to the model"
        raise HeadspanError(f"the tensor {named(name)} {what}")
    for name, tensor in tensors.items():
        own = expected[name]
        if (tensor.shape, tensor.dtype) != (own.shape, own.dtype):
            raise HeadspanError(
                f"the tensor {name} has the shape {tuple(tensor.shape)} and the type "
                f"{tensor.dtype}; expected {tuple(own.shape)} and {own.dtype}"
            )
