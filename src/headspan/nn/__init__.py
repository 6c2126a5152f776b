"""The network: from numbers of words to scores of headed spans, arcs and relations."""

import os

# oneDNN caches a program for each shape of a matrix, a thousand by default. The layers of an
# encoder share a few shapes, but the shapes of one batch seldom recur in another, and the cached
# programs lie scattered over the heap, which therefore grew.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "8")

from headspan.plumbing.extras import needed_for
from headspan.plumbing.threads import tell_torch

with needed_for("computing with torch", extra="torch"):
    import torch


tell_torch()


def _use_one_thread() -> None:
    """Let torch do without threads that a fork did not copy; it would wait for them forever."""
    torch.set_num_threads(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_use_one_thread)
