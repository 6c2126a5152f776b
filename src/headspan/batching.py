"""Sentences into batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def batches(order: Sequence[int], costs: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Cut a sequence of sentences into batches whose longest times their number fits the budget."""
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
