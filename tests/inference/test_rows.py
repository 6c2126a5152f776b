"""Scores that arrive row by row give the same trees as the whole cube."""

import tracemalloc

import numpy as np
import pytest

from headspan.inference import NoTreeError, ScoresError, TreeError, headed_span

from .brute_force import all_trees


class FromCube:
    """A provider that keeps a cube, and a note of what it was asked for."""

    def __init__(self, cube: np.ndarray) -> None:
        self.length = cube.shape[0] - 1
        self.cube = cube
        self.asked: list[int] = []

    def rows(self, start: int, stop: int) -> np.ndarray:
        self.asked.extend(range(start, stop))
        return self.cube[start:stop]

    def cells(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return self.cube[left, right]


class LowRank:
    """s(i,j,k) = <f_j - f_i, w_k>: the cube exists nowhere."""

    def __init__(self, n: int) -> None:
        rng = np.random.default_rng(0)
        self.length = n
        self.fences = rng.standard_normal((n + 1, 4), dtype=np.float32)
        self.words = rng.standard_normal((n + 1, 4), dtype=np.float32)

    def rows(self, start: int, stop: int) -> np.ndarray:
        return (self.fences[None] - self.fences[start:stop, None]) @ self.words.T

    def cells(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return (self.fences[right] - self.fences[left]) @ self.words.T


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 3, 17, 33])
@pytest.mark.parametrize("block", [1, 5, 16])
def test_same_as_the_cube(dtype: type, n: int, block: int) -> None:
    rng = np.random.default_rng(n)
    for cube in (
        rng.normal(size=(n + 1,) * 3).astype(dtype),
        rng.integers(-1, 2, size=(n + 1,) * 3).astype(dtype),
    ):
        whole = headed_span.best_tree(cube)
        for layout in (cube, np.ascontiguousarray(cube.swapaxes(1, 2)).swapaxes(1, 2)):
            provider = FromCube(layout)
            found = headed_span.best_tree_by_rows(provider, block=block)
            np.testing.assert_array_equal(found.heads, whole.heads)
            np.testing.assert_array_equal(found.spans, whole.spans)
            assert found.scores == whole.scores
            assert sorted(provider.asked) == list(range(n))


def test_cost_augmented_too() -> None:
    rng = np.random.default_rng(0)
    for tree in all_trees(5)[::20]:
        cube = rng.integers(-1, 2, size=(6, 6, 6)).astype(np.float32)
        whole = headed_span.cost_augmented_tree(cube, np.array(tree), cost=0.5)
        found = headed_span.best_tree_by_rows(FromCube(cube), block=2, gold=tree, cost=0.5)
        np.testing.assert_array_equal(found.heads, whole.heads)
        assert found.scores == whole.scores
    with pytest.raises(TreeError):
        headed_span.best_tree_by_rows(FromCube(cube), gold=[0, 0, 1, 1, 1])


def test_a_long_sentence_in_little_memory() -> None:
    n = 700
    provider = LowRank(n)
    headed_span.best_tree_by_rows(LowRank(3))
    tracemalloc.start()
    found = headed_span.best_tree_by_rows(provider, block=4)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 * 4 * (n + 1) ** 2  # the cube would take 4 (n + 1)³ bytes
    assert sorted(found.heads)[0] == 0
    assert (found.heads == 0).sum() == 1


def test_errors() -> None:
    cube = np.zeros((5, 5, 5), np.float32)
    cube[1, 3, 2] = np.nan
    with pytest.raises(ScoresError, match="rows 0 to 4"):
        headed_span.best_tree_by_rows(FromCube(cube))
    with pytest.raises(NoTreeError):
        headed_span.best_tree_by_rows(FromCube(np.full((5, 5, 5), -np.inf)))
    with pytest.raises(ScoresError, match="float32 or float64"):
        headed_span.best_tree_by_rows(FromCube(np.zeros((5, 5, 5), int)))
    broken = FromCube(np.zeros((5, 5, 5)))
    broken.length = 6
    with pytest.raises(ScoresError, match="expected"):
        headed_span.best_tree_by_rows(broken)
