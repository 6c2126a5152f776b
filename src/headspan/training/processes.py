"""Several processes that train one model, started by torchrun.

Each process takes its share of every batch's sentences, gradients are added up, and all make the
same step. So the result is that of one process with the same batches, up to rounding. In a process
that was started alone, nothing here does anything.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import torch
from torch import distributed, nn
from torch.distributed.rendezvous import rendezvous

from headspan.plumbing.errors import HeadspanError

_PATIENCE = timedelta(days=1)  # for the first process, which may be training a segmenter


@contextmanager
def joined() -> Iterator[None]:
    """Join the other processes if torchrun started this one; then the process ends with the block.

    It exits at once, without Python's clean-up, in which running threads of gloo now and then abort
    a process that has done all its work.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield
        return
    _join()
    yield
    with _others():
        distributed.barrier()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _join() -> None:
    """Meet the other processes, under a prefix of their own in torchrun's store.

    When torchrun restarts processes, torch 2.13 gives them the store of those that died, with their
    addresses in it. On one machine the number of the attempt tells them apart; on several machines
    it may differ, and TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 makes torchrun take a new store.
    """
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    store, number, size = next(iter(rendezvous("env://")))
    if os.environ.get("GROUP_WORLD_SIZE") == "1":
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        store = distributed.PrefixStore(f"attempt {attempt}", store)  # type: ignore[attr-defined]
    distributed.init_process_group(
        backend, store=store, rank=number, world_size=size, timeout=_PATIENCE
    )


@contextmanager
def _others() -> Iterator[None]:
    """Raise HeadspanError if the other processes cannot be reached."""
    try:
        yield
    except RuntimeError as error:
        raise HeadspanError(
            "another process of this training is gone; resume with --resume from the last "
            f"checkpoint ({str(error).splitlines()[0]})"
        ) from error


def device(name: str) -> torch.device:
    """The device of this process, from `training.device`: `auto` is its GPU if there is one."""
    if name == "cpu" or (name == "auto" and not torch.cuda.is_available()):
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise HeadspanError("training.device is cuda, but torch finds no GPU here")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))


def count() -> int:
    """The number of processes."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def rank() -> int:
    """The number of this process; process 0 writes files and prints."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def add_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Add up the gradients of all processes, in place."""
    if count() == 1:
        return
    trained = [p for p in parameters if p.requires_grad]
    for p in trained:
        if p.grad is None:
            p.grad = torch.zeros_like(p)
    gradients = [p.grad for p in trained if p.grad is not None]
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    with _others():
        distributed.all_reduce(flat)
    pieces = torch.split(flat, [gradient.numel() for gradient in gradients])
    for gradient, piece in zip(gradients, pieces, strict=True):
        gradient.copy_(piece.view_as(gradient))


def total(values: list[float]) -> list[float]:
    """The sums of numbers over all processes."""
    if count() == 1:
        return values
    summed = torch.tensor(values, dtype=torch.double)
    with _others():
        distributed.all_reduce(summed)
    return list(summed.tolist())


def from_first(values: list[float]) -> list[float]:
    """The numbers of the first process."""
    if count() == 1:
        return values
    received = torch.tensor(values, dtype=torch.double)
    with _others():
        distributed.broadcast(received, 0)
    return list(received.tolist())
