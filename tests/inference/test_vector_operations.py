"""Every vector operation equals its plain twin, whatever the length, type and place of a row."""

from functools import cache
from typing import Any

import numba
import numpy as np
import pytest

from headspan.inference.simd import plain, rows, tiles
from headspan.inference.simd.compile import array, score_array

COUNTS = [0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64]
TYPES = {np.float32: numba.float32, np.float64: numba.float64}
every_type = pytest.mark.parametrize("dtype", list(TYPES))
every_count = pytest.mark.parametrize("count", COUNTS)

ONE_SOURCE = ["max_plus", "add_scaled", "exp_sum"]
TWO_SOURCES = ["max_plus_plus", "plus_max", "plus_plus_max", "exp_plus_sum"]


@cache
def compiled(operation: Any, *types: Any) -> Any:
    """A function of these types that calls the operation, which only compiled code can."""
    arguments = ", ".join(f"x{t}" for t in range(len(types)))
    scope = {"operation": operation}
    exec(f"def run({arguments}):\n    return operation({arguments})", scope)
    return numba.njit(types)(scope["run"])


def a_row(rng: np.random.Generator, dtype: Any) -> np.ndarray:
    """A flat array with a row at 3 of at most 64 elements and room behind it."""
    values = rng.normal(size=3 + 64 + 2 * rows.PAD).astype(dtype)
    values[rng.random(len(values)) < 0.1] = -np.inf
    return values


def agree(vector: np.ndarray, scalar: np.ndarray, count: int, dtype: Any, *, exact: bool) -> None:
    np.testing.assert_array_equal(vector[:3], scalar[:3])  # nothing before the row is touched
    inside = slice(3, 3 + count)
    if exact:
        np.testing.assert_array_equal(vector[inside], scalar[inside])
    else:
        close = 1e-6 if dtype is np.float32 else 1e-14
        np.testing.assert_allclose(vector[inside], scalar[inside], rtol=close, atol=close)


@every_type
@every_count
@pytest.mark.parametrize("name", ONE_SOURCE + TWO_SOURCES)
def test_row_operations(name: str, dtype: Any, count: int) -> None:
    rng = np.random.default_rng(count)
    number, index = TYPES[dtype], numba.int64
    flat = array(number, 1)
    sources = 1 if name in ONE_SOURCE else 2
    types = [flat, index] + [flat, index] * sources + [number, index]
    dst, *given = (a_row(rng, dtype) for _ in range(1 + sources))
    if name == "add_scaled":
        given[0] = np.nan_to_num(given[0], neginf=0.0)
        dst = np.nan_to_num(dst, neginf=0.0)
    c = dtype(2.5)  # above all terms, as in the sums
    results = []
    for module in (rows, plain):
        copy = dst.copy()
        places = [x for source in given for x in (source.copy(), 3)]
        results.append((copy, compiled(getattr(module, name), *types)(copy, 3, *places, c, count)))
    (vector, first), (scalar, second) = results
    exact = "exp" not in name and name != "add_scaled"
    agree(vector, scalar, count, dtype, exact=exact)
    if first is not None:
        assert first == second if exact else first == pytest.approx(second, rel=1e-5)


@every_count
@pytest.mark.parametrize("name", ["exp_sum", "exp_plus_sum"])
def test_exponentials_with_the_digits_of_float32(name: str, count: int) -> None:
    rng = np.random.default_rng(count)
    flat, index = array(numba.float64, 1), numba.int64
    sources = 1 if name == "exp_sum" else 2
    types = [flat, index] + [flat, index] * sources + [numba.float64, index]
    given = [x for _ in range(sources) for x in (a_row(rng, np.float64), 3)]
    vector, scalar = np.zeros(3 + 64 + 2 * rows.PAD), np.zeros(3 + 64 + 2 * rows.PAD)
    total = compiled(getattr(rows, f"single_{name}"), *types)(vector, 3, *given, 4.0, count)
    expected = compiled(getattr(plain, name), *types)(scalar, 3, *given, 4.0, count)
    np.testing.assert_allclose(vector[3 : 3 + count], scalar[3 : 3 + count], rtol=5e-6)
    assert total == pytest.approx(expected, rel=5e-6)


@every_type
@every_count
def test_scaling(dtype: Any, count: int) -> None:
    rng = np.random.default_rng(count)
    narrow, wide, index = array(TYPES[dtype], 1), array(numba.float64, 1), numba.int64
    types = (narrow, index, wide, index, numba.float64, index)
    terms = np.zeros(64 + 4 * rows.PAD)
    terms[:count] = rng.random(count)
    copies = []
    for module in (rows, plain):
        dst = np.full(3 + 64 + 2 * rows.PAD, 7, dtype)
        compiled(module.store_scaled, *types)(dst, 3, terms, 0, 0.3, count)
        copies.append(dst)
    agree(*copies, count, dtype, exact=True)
    types = (wide, narrow, index, numba.float64, index)
    pairs = []
    row = rng.random(3 + 64 + 2 * rows.PAD).astype(dtype)
    for module in (rows, plain):
        dst = row.copy()
        out = np.full(64 + 2 * rows.PAD, 7.0)
        compiled(module.scale_in_place, *types)(out, dst, 3, 0.3, count)
        pairs.append((out, dst))
    (first, vector), (second, scalar) = pairs
    np.testing.assert_allclose(first[:count], second[:count], rtol=1e-6)
    agree(vector, scalar, count, dtype, exact=False)
    np.testing.assert_array_equal(vector[3 + count :], scalar[3 + count :])  # it is not padded


@every_type
@every_count
@pytest.mark.parametrize("upper", [True, False])
def test_triangles(upper: bool, dtype: Any, count: int) -> None:
    rng = np.random.default_rng(count)
    name = "add_upper_triangle" if upper else "add_lower_triangle"
    flat, index = array(TYPES[dtype], 1), numba.int64
    stride = 64 + rows.PAD
    square = rng.normal(size=(65, stride)).astype(dtype)
    r, t = np.indices(square.shape)
    square[(r > t) if upper else (r < t)] = 0  # the other side holds zeros
    factors = rng.normal(size=64 + rows.PAD).astype(dtype)
    results = []
    for module in (rows, plain):
        dst = np.ones(3 + 64 + 2 * rows.PAD, dtype)
        run = compiled(getattr(module, name), flat, index, flat, index, index, flat, index)
        run(dst, 3, square.reshape(-1), 0, stride, factors, count)
        results.append(dst)
    close = 1e-4 if dtype is np.float32 else 1e-12
    inside = slice(3, 3 + count)
    np.testing.assert_allclose(results[0][inside], results[1][inside], rtol=close, atol=close)


@every_type
@every_count
def test_extend(dtype: Any, count: int) -> None:
    rng = np.random.default_rng(count)
    flat, index = array(TYPES[dtype], 1), numba.int64
    room = 64 + 2 * rows.PAD
    alpha, gamma, scores = (rng.normal(size=3 * room).astype(dtype) for _ in range(3))
    results = []
    for module in (rows, plain):
        own = [x.copy() for x in (alpha, gamma, scores)]
        types = (flat, flat, flat, index, index, index, TYPES[dtype], index)
        compiled(module.extend, *types)(*own, 0, room, 2 * room, dtype(0.5), count)
        results.append(own)
    for vector, scalar in zip(*results, strict=True):
        np.testing.assert_array_equal(vector[:count], scalar[:count])
        np.testing.assert_array_equal(vector[room:], scalar[room:])


@every_type
@every_count
def test_two_rows_at_once(dtype: Any, count: int) -> None:
    rng = np.random.default_rng(count)
    number, index = TYPES[dtype], numba.int64
    flat = array(number, 1)
    rows_of = [a_row(rng, dtype) for _ in range(4)]
    results = []
    for module in (rows, plain):
        first, second, a, b = (row.copy() for row in rows_of)
        types = (flat, flat, index, flat, flat, index, number, number, index)
        run = compiled(module.max_plus_pair, *types)
        run(first, second, 3, a, b, 3, dtype(0.5), dtype(-0.25), count)
        results.append((first, second))
    for vector, scalar in zip(*results, strict=True):
        agree(vector, scalar, count, dtype, exact=True)


@every_type
@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("bad", [None, np.nan, np.inf])
def test_tiles(dtype: Any, diagonal: bool, bad: float | None) -> None:
    rng = np.random.default_rng(0)
    lanes = 32 // np.dtype(dtype).itemsize
    number, index = TYPES[dtype], numba.int64
    name = "transpose_diagonal_tile" if diagonal else "transpose_tile"
    run = compiled(getattr(tiles, name), array(number, 1), index, index, score_array(number, 2),
                   index, index, index, index)  # fmt: skip
    twin = compiled(plain.transpose_tile, array(number, 1), index, index, score_array(number, 2),
                    numba.boolean)  # fmt: skip
    for last in (lanes - 1, 2):
        square = rng.normal(size=(lanes, lanes)).astype(dtype)
        if diagonal:
            square[np.triu_indices(lanes, 1)] = np.nan  # never read
        if bad is not None:
            square[2, 1] = bad
        vector, scalar = (np.zeros(lanes * 40, dtype) for _ in range(2))
        stride = square.strides[0]
        said = run(vector, 5, 40, square, 0, stride, last, 0)
        expected = twin(scalar, 5, 40, square[: last + 1], diagonal)
        assert said == expected == (bad is not None)
        for k in range(lanes):
            for t in range(last + 1):
                if not diagonal or k <= t:
                    np.testing.assert_equal(vector[5 + k * 40 + t], scalar[5 + k * 40 + t])


@every_type
@every_count
def test_copies_of_spans(dtype: Any, count: int) -> None:
    rng = np.random.default_rng(count)
    number, index = TYPES[dtype], numba.int64
    wide = array(numba.float64, 1)
    run = compiled(tiles.copy_span, wide, index, score_array(number, 1), index, index, index)
    twin = compiled(plain.copy_span, wide, index, score_array(number, 1), index, index)
    scores = rng.normal(size=3 + count).astype(dtype)
    vector, scalar = (np.zeros(64 + 2 * rows.PAD) for _ in range(2))
    offset = 3 * scores.itemsize
    assert run(vector, 0, scores, offset, count, 0) == twin(scalar, 0, scores, 3, count)
    np.testing.assert_array_equal(vector[:count], scalar[:count])
    if count:
        scores[-1] = np.inf
        assert run(vector, 0, scores, offset, count, 0)
        assert twin(scalar, 0, scores, 3, count)
