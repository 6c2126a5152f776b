"""Sentences into batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def batches(order: Sequence[int], costs: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Cut a sequence of sentences into batches whose padded size fits the budget.

    The padded size is the largest cost in a batch times the number of its sentences.
    """
    batch: list[int] = []
    longest = 0
    for k in order:
        longest = max(longest, costs[k])
        if batch and longest * (len(batch) + 1) > budget:
            yield batch
            batch, longest = [], costs[k]
        batch.append(k)
    if batch:
        yield batch


def summed_batches(
    order: Sequence[int], lengths: Sequence[int], budget: int
) -> Iterator[list[int]]:
    """Cut a sequence of sentences into batches whose total length fits the budget."""
    batch: list[int] = []
    total = 0
    for k in order:
        if batch and total + lengths[k] > budget:
            yield batch
            batch, total = [], 0
        batch.append(k)
        total += lengths[k]
    if batch:
        yield batch
