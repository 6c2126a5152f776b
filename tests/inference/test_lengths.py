"""Kernels at lengths around the width of a vector, where the enumeration of trees cannot reach.

They are compared with the recurrence on tensors, and with the plain loops of classics.py.
"""

from functools import cache
from typing import Any

import numba
import numpy as np
import pytest
import torch

from headspan.registries import STRUCTURES

from . import classics

LENGTHS = [8, 9, 15, 16, 17, 31, 33, 64]

COMPILED = [name for name, structure in STRUCTURES.items() if structure.compiled]
every_structure = pytest.mark.parametrize("name", COMPILED)
every_type = pytest.mark.parametrize("dtype", [np.float32, np.float64])
every_length = pytest.mark.parametrize("n", LENGTHS)


def scores_of(name: str, n: int, dtype: Any) -> list[np.ndarray]:
    rng = np.random.default_rng(n)
    pieces = STRUCTURES[name].pieces
    return [rng.normal(size=(2, *piece.shape(n))).astype(dtype) for piece in pieces]


@cache
def plain_loop(name: str) -> Any:
    if name == "span":
        return numba.njit(classics.headed_spans)
    if name in ("arc", "mean-field"):
        return numba.njit(classics.eisner)
    if name == "mst":
        return numba.njit(classics.spanning_tree)
    joint = numba.njit(classics.joint)
    if name == "split":
        return lambda arcs, left, right: joint(left[:, None] + right[None], arcs)
    siblings = numba.njit(classics.siblings)
    if name == "sibling":
        return lambda arcs, inner: siblings(arcs, inner, 0 * arcs, 0 * arcs)
    if name == "split-sibling":
        return siblings
    return joint


@every_structure
@every_type
@every_length
def test_best_trees_are_those_of_the_recurrence_and_of_a_plain_loop(
    name: str, dtype: Any, n: int
) -> None:
    structure, scores = STRUCTURES[name], scores_of(name, n, dtype)
    lengths = np.array([n, n - 1])
    kernels = structure.best_tree(*scores, lengths=lengths)
    tensors = structure.best_tree(
        *map(torch.from_numpy, scores), lengths=lengths, backend="batched"
    )
    np.testing.assert_array_equal(kernels.heads, tensors.heads.numpy())
    np.testing.assert_array_equal(kernels.spans, tensors.spans.numpy())
    np.testing.assert_array_equal(kernels.scores, tensors.scores.numpy())
    for b, length in enumerate(lengths):
        own = [part[b][(slice(length + 1),) * (part.ndim - 1)].astype(float) for part in scores]
        assert float(kernels.scores[b]) == pytest.approx(plain_loop(name)(*own), rel=1e-5)


@every_structure
@every_type
@every_length
def test_cost_augmented_trees_are_those_of_the_recurrence(name: str, dtype: Any, n: int) -> None:
    structure, scores = STRUCTURES[name], scores_of(name, n, dtype)
    gold = structure.best_tree(*(-part for part in scores)).heads
    options = {"gold": gold, "cost": 0.75}
    kernels = structure.cost_augmented_tree(*scores, **options)
    tensors = structure.cost_augmented_tree(
        *map(torch.from_numpy, scores), **options, backend="batched"
    )
    np.testing.assert_array_equal(kernels.heads, tensors.heads.numpy())
    np.testing.assert_allclose(kernels.scores, tensors.scores.numpy(), rtol=1e-6)


@every_structure
@every_type
@every_length
def test_sums_are_those_of_the_recurrence(name: str, dtype: Any, n: int) -> None:
    structure, scores = STRUCTURES[name], scores_of(name, n, dtype)
    lengths = np.array([n, n - 1])
    kernels = structure.marginals(*scores, lengths=lengths)
    tensors = structure.marginals(
        *map(torch.from_numpy, scores), lengths=lengths, backend="batched"
    )
    close = 2e-5 if dtype is np.float32 else 1e-11
    np.testing.assert_allclose(kernels.log_partition, tensors.log_partition.numpy(), rtol=close)
    np.testing.assert_allclose(kernels.roots, tensors.roots.numpy(), atol=close)
    for piece, marginals in kernels.by_piece.items():
        np.testing.assert_allclose(marginals, tensors.by_piece[piece].numpy(), atol=close)


@every_structure
@pytest.mark.parametrize("n", [8, 17, 33])
def test_the_first_of_the_k_best_is_the_best(name: str, n: int) -> None:
    structure, scores = STRUCTURES[name], scores_of(name, n, np.float64)
    best, several = structure.best_tree(*scores), structure.k_best(*scores, k=5)
    np.testing.assert_array_equal(several.heads[:, 0], best.heads)
    np.testing.assert_allclose(several.scores[:, 0], best.scores)
    for rank in range(5):
        again = structure.tree_score(*scores, heads=several.heads[:, rank])
        np.testing.assert_allclose(several.scores[:, rank], again)
    assert (np.diff(several.scores) < 0).all()
