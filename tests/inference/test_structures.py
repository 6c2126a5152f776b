"""Every function against the enumeration of all trees: all structures, two backends."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headspan.inference import NoTreeError, ScoresError, TreeError

from .brute_force import CELLS, LEGAL, spans_of
from .cases import CASES, Case, as_tree, exact_marginals

LENGTHS = np.array([6, 1, 4, 2, 5, 3])
ROOM = 7


def _forbid_some(rng: np.random.Generator) -> Callable[[tuple[int, ...]], np.ndarray]:
    """Scores of which a tenth is -inf."""

    def make(shape: tuple[int, ...]) -> np.ndarray:
        scores = rng.normal(size=shape)
        scores[rng.random(shape) < 0.1] = -np.inf
        return scores

    return make


MAKERS = {
    "random": lambda rng: lambda shape: rng.normal(size=shape),
    "tied": lambda rng: lambda shape: rng.integers(-1, 2, size=shape),
    "large": lambda rng: lambda shape: rng.choice([-1e4, 1e4], size=shape),
    "forbidden": _forbid_some,
}

every_case = pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.name}-{c.backend}")
every_type = pytest.mark.parametrize("dtype", [np.float32, np.float64])
every_kind = pytest.mark.parametrize("kind", MAKERS)


def _scores(case: Case, kind: str, dtype: type, seed: int = 0) -> list[np.ndarray]:
    """A ragged batch; illegal cells hold NaN, which nobody may read."""
    rng = np.random.default_rng(seed)
    scores = case.scores(MAKERS[kind](rng), len(LENGTHS), ROOM, dtype)
    for piece, part in zip(case.kinds, scores, strict=True):
        for b, n in enumerate(LENGTHS):
            if kind == "forbidden":  # a chain 1 -> 2 -> … always remains
                for cell in CELLS[piece](tuple(range(n))):
                    part[(b, *cell)] = 0.5
            for cell in np.ndindex(part.shape[1:]):
                if not LEGAL[piece](n, *cell):
                    part[(b, *cell)] = np.nan
    return scores


@every_case
@every_type
@every_kind
def test_best_tree(case: Case, dtype: type, kind: str) -> None:
    scores = _scores(case, kind, dtype)
    found = case.call("best_tree", scores, lengths=LENGTHS)
    for b, n in enumerate(LENGTHS):
        own = [part[b] for part in scores]
        tree = as_tree(found.heads[b], n)
        best = case.all_scores(own, n).max()
        assert case.tree_score(own, tree) == pytest.approx(best, rel=1e-5)
        assert float(found.scores[b]) == pytest.approx(best, rel=1e-5)
        assert tuple(map(tuple, found.spans[b, :n].tolist())) == spans_of(tree)
        assert (np.asarray(found.heads[b, n:]) == -1).all()
        assert (np.asarray(found.sentence(b).heads) == np.asarray(tree)).all()


@every_case
@every_type
@every_kind
def test_cost_augmented_tree(case: Case, dtype: type, kind: str) -> None:
    scores = _scores(case, kind, dtype)
    before = [part.copy() for part in scores]
    rng = np.random.default_rng(1)
    gold = np.full((len(LENGTHS), ROOM), -1)
    for b, n in enumerate(LENGTHS):
        gold[b, :n] = case.trees(n)[rng.integers(len(case.trees(n)))]
    found = case.call("cost_augmented_tree", scores, gold, lengths=LENGTHS)
    for b, n in enumerate(LENGTHS):
        own, avoided = [part[b] for part in scores], as_tree(gold[b], n)
        costs = [case.mismatches(tree, avoided) for tree in case.trees(n)]
        best = (case.all_scores(own, n) + costs).max()
        tree = as_tree(found.heads[b], n)
        reached = case.tree_score(own, tree) + case.mismatches(tree, avoided)
        assert reached == pytest.approx(best, rel=1e-5)
        assert float(found.scores[b]) == pytest.approx(best, rel=1e-5)
    for part, old in zip(scores, before, strict=True):
        np.testing.assert_array_equal(part, old)


@every_case
@every_type
@every_kind
def test_sums(case: Case, dtype: type, kind: str) -> None:
    scores = _scores(case, kind, dtype)
    found = case.call("marginals", scores, lengths=LENGTHS)
    alone = case.call("log_partition", scores, lengths=LENGTHS)
    entropy = case.call("entropy", scores, lengths=LENGTHS)
    expected = case.call("expected_score", scores, lengths=LENGTHS)
    close = 2e-6 if dtype is np.float32 else 1e-12
    for b, n in enumerate(LENGTHS):
        values = case.all_scores([part[b] for part in scores], n)
        log_z, exact = exact_marginals(values, case.trees(n), ROOM)
        assert float(found.log_partition[b]) == pytest.approx(log_z, rel=close, abs=close * 10)
        assert float(alone[b]) == float(found.log_partition[b])
        assert set(case.kinds) | {"arc"} <= set(found.by_piece)
        for piece, marginals in found.by_piece.items():
            np.testing.assert_allclose(marginals[b], exact[piece], atol=close * 4)
        np.testing.assert_allclose(found.roots[b], exact["arc"][0], atol=close * 4)
        p = np.exp(values - log_z)
        possible = p > 0
        mean = (p[possible] * values[possible]).sum()
        scale = max(1.0, np.abs(values[possible]).max())
        assert float(expected[b]) == pytest.approx(mean, abs=close * 20 * scale)
        surprise = -(p[possible] * np.log(p[possible])).sum()
        assert float(entropy[b]) == pytest.approx(surprise, abs=close * 20 * scale)


@every_case
@every_type
def test_probabilities_of_given_trees(case: Case, dtype: type) -> None:
    scores = _scores(case, "random", dtype)
    gold = np.full((len(LENGTHS), ROOM), -1)
    for b, n in enumerate(LENGTHS):
        gold[b, :n] = case.trees(n)[-1]
    score = case.call("tree_score", scores, gold, lengths=LENGTHS)
    log_p = case.call("log_probability", scores, gold, lengths=LENGTHS)
    for b, n in enumerate(LENGTHS):
        values = case.all_scores([part[b] for part in scores], n)
        log_z, _ = exact_marginals(values, case.trees(n), ROOM)
        assert float(score[b]) == pytest.approx(values[-1], abs=1e-5)
        assert float(log_p[b]) == pytest.approx(values[-1] - log_z, abs=1e-5)


@every_case
def test_expected_values_of_other_things(case: Case) -> None:
    """With 1 on every piece, the expectation is the number of pieces."""
    scores = _scores(case, "random", np.float64)
    ones = case.hand_over([np.ones_like(part) for part in scores])
    values = ones[0] if len(ones) == 1 else ones
    found = case.call("expected_score", scores, values=values, lengths=LENGTHS)
    np.testing.assert_allclose(found, LENGTHS * len(case.kinds))


@every_case
def test_counts_every_tree_once(case: Case) -> None:
    projective, every = [1, 2, 7, 30, 143, 728, 3876], [n ** (n - 1) for n in range(1, 8)]
    for n, count in enumerate(projective if case.structure.projective else every, 1):
        zeros = case.scores(np.zeros, 1, n, np.float64)
        assert np.exp(float(case.call("log_partition", zeros)[0])) == pytest.approx(count)


@every_case
@every_type
def test_minimum_risk_tree(case: Case, dtype: type) -> None:
    scores = _scores(case, "random", dtype)
    found = case.call("minimum_risk_tree", scores, lengths=LENGTHS)
    for b, n in enumerate(LENGTHS):
        values = case.all_scores([part[b] for part in scores], n)
        arcs = exact_marginals(values, case.trees(n), ROOM)[1]["arc"]
        right = [sum(arcs[h, d] for d, h in enumerate(tree, 1)) for tree in case.trees(n)]
        assert float(found.scores[b]) == pytest.approx(max(right), abs=1e-5)
        tree = as_tree(found.heads[b], n)
        assert sum(arcs[h, d] for d, h in enumerate(tree, 1)) == pytest.approx(max(right))


@every_case
@every_kind
def test_both_backends_break_ties_alike(case: Case, kind: str) -> None:
    for seed in range(10):
        scores = _scores(case, kind, np.float32, seed)
        ours = case.call("best_tree", scores, lengths=LENGTHS)
        other = case.structure.best_tree(*scores, lengths=LENGTHS)  # by kernels, if there are any
        np.testing.assert_array_equal(ours.heads, other.heads)
        np.testing.assert_array_equal(ours.scores, other.scores)


@every_case
def test_ties_do_not_depend_on_the_layout(case: Case) -> None:
    scores = _scores(case, "tied", np.float32)
    turned = [np.ascontiguousarray(s.swapaxes(-1, -2)).swapaxes(-1, -2) for s in scores]
    odd = [np.repeat(s, 2, axis=-1)[..., ::2] for s in scores]
    plain = case.call("best_tree", scores, lengths=LENGTHS)
    for other in (turned, odd):
        found = case.call("best_tree", other, lengths=LENGTHS)
        np.testing.assert_array_equal(found.heads, plain.heads)
        sums = case.call("log_partition", other, lengths=LENGTHS)
        np.testing.assert_allclose(sums, case.call("log_partition", scores, lengths=LENGTHS))


@every_case
def test_without_a_batch_axis(case: Case) -> None:
    scores = _scores(case, "random", np.float64)
    whole = case.call("best_tree", scores, lengths=LENGTHS)
    alone = case.call("best_tree", [part[0] for part in scores], lengths=6)
    np.testing.assert_array_equal(alone.heads, whole.heads[0])
    np.testing.assert_array_equal(alone.spans, whole.spans[0])
    assert float(alone.scores) == float(whole.scores[0])
    together = case.call("marginals", scores, lengths=LENGTHS)
    apart = case.call("marginals", [part[0] for part in scores], lengths=6)
    np.testing.assert_allclose(apart.arcs, together.arcs[0])
    np.testing.assert_allclose(apart.roots, together.roots[0])


@every_case
def test_no_tree_left_is_an_error(case: Case) -> None:
    scores = case.scores(lambda shape: np.zeros(shape), 2, 4, np.float32)
    scores[0][1, 0] = -np.inf  # no span from 0, or no root
    for function in ("best_tree", "log_partition", "marginals"):
        with pytest.raises(NoTreeError, match="sentence 1"):
            case.call(function, scores)


@every_case
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_and_plus_infinity_are_errors(case: Case, value: float) -> None:
    for position in range(len(case.kinds)):
        scores = case.scores(lambda shape: np.zeros(shape), 2, 4, np.float32)
        part = scores[position]
        cell, name = {
            "span": ((1, 3, 2), "span .1, 3. with head 2"),
            "arc": ((3, 2), "arc from 3 to 2"),
            "left_end": ((1, 2), "left end 1 of word 2"),
            "right_end": ((3, 2), "right end 3 of word 2"),
            "sibling": ((4, 3, 1), "arc from 4 to 1 with the sibling 3 between them"),
        }[case.kinds[position]]
        part[(1, *cell)] = value
        for function in ("best_tree", "log_partition"):
            with pytest.raises(ScoresError, match=f"{name} in sentence 1 is (nan|inf)"):
                case.call(function, scores)


@every_case
def test_a_gold_tree_must_be_a_tree(case: Case) -> None:
    scores = case.scores(np.zeros, 1, 4, np.float32)
    wrong_trees = [(2, 1, 0, 3), (0, 0, 2, 3), (0, 1, 1, 9)]
    if case.structure.projective:
        wrong_trees.append((3, 4, 0, 3))
    for wrong in wrong_trees:
        with pytest.raises(TreeError):
            case.call("cost_augmented_tree", scores, np.array([wrong]))


@every_case
def test_gradients_are_marginals(case: Case) -> None:
    lengths = np.array([3, 1, 2])
    scores = case.scores(lambda shape: np.random.default_rng(0).normal(size=shape), 3, 3, float)
    tensors = [torch.tensor(part, requires_grad=True) for part in scores]

    def log_z(*parts: torch.Tensor) -> torch.Tensor:
        return case.structure.log_partition(*parts, lengths=lengths, backend=case.backend)

    assert torch.autograd.gradcheck(log_z, tensors)
    single = [torch.tensor(part, dtype=torch.float32, requires_grad=True) for part in scores]
    weights = torch.tensor([1.0, 2.0, 3.0])
    (log_z(*single) * weights).sum().backward()
    found = case.call("marginals", [part.astype(np.float32) for part in scores], lengths=lengths)
    for kind, part in zip(case.kinds, single, strict=True):
        marginals = torch.as_tensor(found.by_piece[kind])
        shaped = weights.reshape(-1, *[1] * (part.ndim - 1))
        torch.testing.assert_close(part.grad, marginals * shaped)
    gold = np.array([[0, 1, 2], [0, -1, -1], [2, 0, -1]])
    for part in single:
        part.grad = None
    case.structure.log_probability(
        *single, gold, lengths=lengths, backend=case.backend
    ).sum().backward()
    assert all(part.grad is not None and part.grad.isfinite().all() for part in single)


@every_case
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_marginals_are_finite_differences(case: Case, data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 7))
    seed = data.draw(st.integers(0, 2**32 - 1))
    scale = data.draw(st.sampled_from([0.1, 1.0, 5.0]))
    rng = np.random.default_rng(seed)
    scores = case.scores(lambda shape: scale * rng.normal(size=shape), 1, n, np.float64)
    found = case.call("marginals", scores)
    step = 1e-5
    for kind, part in zip(case.kinds, scores, strict=True):
        j = data.draw(st.integers(1, n))
        k = data.draw(st.integers(1, j))
        i = data.draw(st.integers(0, k - 1))
        cells = {"span": (i, j, k), "right_end": (j, k), "sibling": (i, i, k)}
        cell = (0, *cells.get(kind, (i, k)))
        values = []
        for sign in (-1, 1):
            part[cell] += sign * step
            values.append(float(case.call("log_partition", scores)[0]))
            part[cell] -= sign * step
        p = found.by_piece[kind][cell]
        assert float(p) == pytest.approx((values[1] - values[0]) / (2 * step), abs=1e-6)


@every_case
@pytest.mark.parametrize("sign", [1, -1])
def test_float32_sums_are_stable(case: Case, sign: int) -> None:
    rng = np.random.default_rng(0)
    n = 12 if case.backend == "batched" else 40
    scores = case.scores(lambda shape: sign * 1e4 + rng.normal(size=shape), 1, n, np.float32)
    found = case.call("marginals", scores)
    np.testing.assert_allclose(np.asarray(found.arcs)[0, :, 1:].sum(0), 1, atol=1e-5)
    exact = case.call("marginals", [part.astype(np.float64) for part in scores])
    np.testing.assert_allclose(found.arcs, exact.arcs, atol=1e-5)


@every_case
def test_long_and_short_together(case: Case) -> None:
    longest = {("joint", "kernels"): 60, ("joint", "batched"): 24}.get((case.name, case.backend))
    longest = longest or (500 if case.backend == "kernels" else 120)
    rng = np.random.default_rng(0)
    scores = case.scores(
        lambda shape: rng.standard_normal(shape, dtype=np.float32), 2, longest, np.float32
    )
    found = case.call("best_tree", scores, lengths=[1, longest])
    assert as_tree(found.heads[0], 1) == (0,)
    again = case.call("tree_score", scores, found.heads, lengths=[1, longest])
    np.testing.assert_allclose(again, found.scores, rtol=1e-4)
    total = case.call("log_partition", scores, lengths=[1, longest])
    assert float(total[0]) == float(found.scores[0])
    assert float(total[1]) > float(found.scores[1])


with_items = pytest.mark.parametrize(
    "case",
    [c for c in CASES if c.structure.items or not c.structure.projective],
    ids=lambda c: f"{c.name}-{c.backend}",
)


@with_items
@every_type
@every_kind
def test_k_best_is_the_sorted_enumeration(case: Case, dtype: type, kind: str) -> None:
    scores = _scores(case, kind, dtype)
    found = case.call("k_best", scores, 100, lengths=LENGTHS)
    for b, n in enumerate(LENGTHS):
        own = [part[b] for part in scores]
        values = case.all_scores(own, n)
        wanted = np.sort(values[values > -np.inf])[::-1][:100]
        assert found.counts[b] == len(wanted)
        np.testing.assert_allclose(found.scores[b, : len(wanted)], wanted, rtol=1e-6, atol=1e-6)
        trees = [as_tree(heads, n) for heads in found.heads[b, : len(wanted)]]
        assert len(set(trees)) == len(trees)
        again = [case.tree_score(own, tree) for tree in trees]
        np.testing.assert_allclose(again, wanted, rtol=1e-6, atol=1e-6)
        assert tuple(map(tuple, found.tree(b, 0).spans.tolist())) == spans_of(trees[0])
        assert (found.scores[b, len(wanted) :] == -np.inf).all()


def _chi_square_deviation(seen: np.ndarray, expected: np.ndarray) -> float:
    """Pearson's statistic in standard deviations of a normal, after Wilson and Hilferty."""
    freedom = len(seen) - 1
    statistic = ((seen - expected) ** 2 / expected).sum()
    spread = 2 / (9 * freedom)
    return float(((statistic / freedom) ** (1 / 3) - (1 - spread)) / spread**0.5)


@with_items
@every_type
def test_sample_frequencies(case: Case, dtype: type) -> None:
    lengths = np.array([1, 2, 3, 4])
    scores = case.scores(lambda shape: np.random.default_rng(5).normal(size=shape), 4, 4, dtype)
    count = 20_000
    found = case.call("sample", scores, count, seed=11, lengths=lengths)
    again = case.call("sample", scores, count, seed=11, lengths=lengths)
    other = case.call("sample", scores, count, seed=12, lengths=lengths)
    np.testing.assert_array_equal(found.heads, again.heads)
    assert (found.heads != other.heads).any()
    for b, n in enumerate(lengths):
        values = case.all_scores([part[b] for part in scores], n)
        log_z, _ = exact_marginals(values, case.trees(n), 4)
        place = {tree: t for t, tree in enumerate(case.trees(n))}
        seen = np.bincount(
            [place[as_tree(heads, n)] for heads in found.heads[b]], minlength=len(place)
        )
        if n > 1:
            assert _chi_square_deviation(seen, count * np.exp(values - log_z)) < 3.1  # p > 0.001
        first = values[place[as_tree(found.heads[b, 0], n)]]
        assert float(found.scores[b, 0]) == pytest.approx(first, abs=1e-5)
