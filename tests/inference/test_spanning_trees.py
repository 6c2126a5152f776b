"""What is particular to trees that need not be projective; all else is in test_structures.py."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch

from headspan.inference import (
    Constraints,
    NoTreeError,
    ScoresError,
    Structure,
    arc,
    spanning_tree,
)
from headspan.inference.algebra import LOG_SUM, MAXIMUM
from headspan.inference.structures.spanning_tree import SpanningTree
from headspan.inference.structures.spanning_tree.recurrence import inside

from . import classics
from .brute_force import all_trees, arc_score, is_projective, is_tree

NEVER = -np.inf


def by_networkx(scores: np.ndarray) -> float:
    """The score of the best tree, by trying every word as the root."""
    n = len(scores) - 1
    best = NEVER
    for root in range(1, n + 1):
        graph = nx.DiGraph()
        graph.add_nodes_from(range(1, n + 1))
        for h in range(1, n + 1):
            for d in range(1, n + 1):
                if h != d and d != root and scores[h, d] > NEVER:
                    graph.add_edge(h, d, weight=scores[h, d])
        try:
            tree = nx.maximum_spanning_arborescence(graph)
        except nx.NetworkXException:
            continue
        best = max(best, scores[0, root] + tree.size("weight"))
    return best


@pytest.mark.parametrize("n", [8, 13, 24, 40])
@pytest.mark.parametrize("kind", ["random", "tied", "large", "forbidden"])
def test_best_trees_are_those_of_networkx(n: int, kind: str) -> None:
    rng = np.random.default_rng(n)
    scores = rng.normal(size=(n + 1, n + 1))
    if kind == "tied":
        scores = rng.integers(-2, 3, size=scores.shape) * 1.0
    elif kind == "large":
        scores *= 1e4
    elif kind == "forbidden":
        scores[rng.random(scores.shape) < 0.8] = NEVER
        scores[np.arange(n), np.arange(1, n + 1)] = -3.0  # a chain remains
    if n == 40:  # two roots take networkx long enough
        scores[0, 3:] = NEVER
    found = spanning_tree.best_tree(scores)
    assert is_tree(tuple(found.heads))
    assert found.scores == pytest.approx(by_networkx(scores))
    assert found.scores == pytest.approx(arc_score(scores, tuple(found.heads)))


def test_arcs_may_cross_where_that_is_better() -> None:
    crossing = (3, 4, 0, 3)
    scores = np.zeros((5, 5))
    for word, head in enumerate(crossing, 1):
        scores[head, word] = 1.0
    found = spanning_tree.best_tree(scores)
    assert tuple(found.heads) == crossing
    assert not is_projective(crossing)
    # Word 4 has word 2 below it, and word 3 lies between them.
    assert found.spans.tolist() == [[0, 1], [1, 2], [0, 4], [1, 4]]
    assert arc.best_tree(scores).scores < found.scores


@pytest.mark.parametrize("large", [1e4, 1e12])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_root_however_good_the_others_are(large: float, dtype: Any) -> None:
    """Small differences decide though arcs from the root score more than all others together."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        scores = rng.integers(-3, 4, size=(6, 6)).astype(dtype)
        scores[0] = large
        found = spanning_tree.best_tree(scores)
        assert list(found.heads).count(0) == 1
        rest = scores.copy()
        rest[0] = 0
        best = max(arc_score(rest, tree) for tree in all_trees(5, projective=False))
        assert arc_score(rest, tuple(found.heads)) == best


def test_ties_fall_the_same_way_every_time() -> None:
    zeros = np.zeros((3, 6, 6), np.float32)
    found = spanning_tree.best_tree(zeros)
    assert found.heads.tolist() == [[0, 1, 1, 1, 1]] * 3
    tensors = spanning_tree.best_tree(torch.from_numpy(zeros), backend="batched")
    assert tensors.heads.tolist() == found.heads.tolist()


@pytest.mark.parametrize("backend", ["kernels", "batched"])
def test_sums_where_arcs_are_few(backend: Any) -> None:
    """Most arcs are forbidden, so that a word other than the first must be the root."""
    rng = np.random.default_rng(3)
    seen, missing = 0, 0
    for _ in range(200):
        n = int(rng.integers(2, 6))
        scores = rng.normal(size=(n + 1, n + 1))
        scores[rng.random(scores.shape) < 0.55] = NEVER
        trees = all_trees(n, projective=False)
        values = np.array([arc_score(scores, tree) for tree in trees])
        if values.max() == NEVER:
            missing += 1
            for function in ("best_tree", "log_partition", "marginals"):
                with pytest.raises(NoTreeError, match="sentence 0"):
                    getattr(spanning_tree, function)(scores, backend=backend)
            for function in ("sample", "k_best"):
                options = {"seed": 1} if function == "sample" else {}
                with pytest.raises(NoTreeError, match="sentence 0"):
                    getattr(spanning_tree, function)(scores, 2, **options)
            continue
        seen += 1
        log_z = np.logaddexp.reduce(values)
        found = spanning_tree.marginals(scores, backend=backend)
        assert float(found.log_partition) == pytest.approx(log_z)
        exact = np.zeros_like(scores)
        for tree, p in zip(trees, np.exp(values - log_z), strict=True):
            exact[tree, np.arange(1, n + 1)] += p
        np.testing.assert_allclose(found.arcs, exact, atol=1e-12)
    assert seen > 50
    assert missing > 20


@pytest.mark.parametrize("n", [20, 60])
@pytest.mark.parametrize("scale", [1.0, 30.0, 1e4])
def test_marginals_hold_together_at_every_scale(n: int, scale: float) -> None:
    """Heads of a word add up to 1, one word is the root, and a sentence read backwards gives the same."""
    scores = scale * np.random.default_rng(n).normal(size=(n + 1, n + 1))
    found = spanning_tree.marginals(scores)
    np.testing.assert_allclose(found.arcs[:, 1:].sum(0), 1, atol=1e-11)
    assert found.roots.sum() == pytest.approx(1, abs=1e-11)
    best = spanning_tree.best_tree(scores)
    assert best.scores <= found.log_partition + 1e-9 * scale
    order = np.concatenate([[0], np.arange(n, 0, -1)])  # the same sentence backwards
    turned = spanning_tree.marginals(scores[np.ix_(order, order)])
    assert turned.log_partition == pytest.approx(float(found.log_partition), rel=1e-12)
    close = 1e-13 * max(scale, 100.0)
    np.testing.assert_allclose(turned.arcs[np.ix_(order, order)], found.arcs, atol=close)


@pytest.mark.parametrize("scale", [1.0, 50.0])
def test_marginals_are_those_of_determinants_with_many_digits(scale: float) -> None:
    """Koo et al. (2007): a Laplacian whose first row has the scores of the root."""
    mp = pytest.importorskip("mpmath").mp
    n = 12
    scores = scale * np.random.default_rng(1).normal(size=(n + 1, n + 1))
    words = range(1, n + 1)
    with mp.workdps(300):
        w = [[mp.exp(mp.mpf(float(x))) for x in row] for row in scores]
        laplacian = mp.matrix(n, n)
        for d in words:
            for h in range(2, n + 1):
                total = mp.fsum(w[g][d] for g in words if g != d)
                laplacian[h - 1, d - 1] = total if h == d else -w[h][d]
            laplacian[0, d - 1] = w[0][d]
        log_z = float(mp.log(mp.det(laplacian)))
        inverse = laplacian**-1
        exact = np.zeros((n + 1, n + 1))
        for d in words:
            exact[0, d] = w[0][d] * inverse[d - 1, 0]
            for h in words:
                if h != d:
                    on = inverse[d - 1, d - 1] if d > 1 else 0
                    off = inverse[d - 1, h - 1] if h > 1 else 0
                    exact[h, d] = w[h][d] * (on - off)
    found = spanning_tree.marginals(scores)
    assert float(found.log_partition) == pytest.approx(log_z, rel=1e-14)
    np.testing.assert_allclose(found.arcs, exact, atol=1e-14)


def test_words_that_want_each_other_do_not_spoil_the_sums() -> None:
    """A determinant in floating point has no digits left here."""
    scores = np.zeros((5, 5))
    scores[1, 2] = scores[2, 1] = 60.0
    scores[3, 4] = scores[4, 3] = 60.0
    trees = all_trees(4, projective=False)
    values = np.array([arc_score(scores, tree) for tree in trees])
    log_z = np.logaddexp.reduce(values)
    found = spanning_tree.marginals(scores)
    assert found.log_partition == pytest.approx(log_z, rel=1e-14)
    p = sum(np.exp(v - log_z) for v, tree in zip(values, trees, strict=True) if tree[0] == 2)
    assert found.arcs[2, 1] == pytest.approx(p, abs=1e-12)


def test_the_elimination_with_maxima_is_the_best_score() -> None:
    rng = np.random.default_rng(1)
    lengths = np.array([7, 3, 5])
    scores = rng.normal(size=(3, 8, 8))
    legal = np.full_like(scores, NEVER)
    for b, n in enumerate(lengths):
        legal[b, : n + 1, 1 : n + 1] = scores[b, : n + 1, 1 : n + 1]
        np.fill_diagonal(legal[b], NEVER)
    best = spanning_tree.best_tree(scores, lengths=lengths)
    np.testing.assert_allclose(inside(MAXIMUM, lengths, legal).total, best.scores)
    total = spanning_tree.log_partition(scores, lengths=lengths)
    np.testing.assert_allclose(inside(LOG_SUM, lengths, legal).total, total)


def test_constraints_on_spans_are_explained() -> None:
    scores = np.zeros((5, 5))
    for wrong in (Constraints(brackets=[(0, 2)]), Constraints(required_spans=[(0, 2, 1)])):
        for function, k in (("best_tree", ()), ("k_best", (2,))):
            with pytest.raises(
                ScoresError, match="SpanningTree cannot express constraints on spans: "
            ):
                getattr(spanning_tree, function)(scores, *k, constraints=wrong)
    crossing = Constraints(required_arcs=[(3, 1), (4, 2)], leaves=[1, 2])
    heads = spanning_tree.best_tree(scores, constraints=crossing).heads.tolist()
    assert heads[:2] == [3, 4]
    assert is_tree(tuple(heads))


def test_wrong_backends_are_explained() -> None:
    with pytest.raises(ScoresError, match="no backend"):
        spanning_tree.best_tree(np.zeros((3, 3)), backend="abacus")  # type: ignore[arg-type]


def test_samples_with_large_scores_are_the_best_tree() -> None:
    scores = 1e4 * np.random.default_rng(2).normal(size=(13, 13))
    best = spanning_tree.best_tree(scores).heads
    samples = spanning_tree.sample(scores, 5, seed=0).heads
    np.testing.assert_array_equal(samples, np.broadcast_to(best, samples.shape))


@pytest.mark.parametrize("n", [8, 17, 40])
def test_cost_augmented_trees_are_best_trees_of_other_scores(n: int) -> None:
    rng = np.random.default_rng(n)
    scores = rng.normal(size=(n + 1, n + 1))
    gold = spanning_tree.best_tree(rng.normal(size=(n + 1, n + 1))).heads
    dearer = scores + 0.75
    dearer[gold, np.arange(1, n + 1)] -= 0.75
    found = spanning_tree.cost_augmented_tree(scores, gold, cost=0.75)
    expected = spanning_tree.best_tree(dearer)
    np.testing.assert_array_equal(found.heads, expected.heads)
    assert float(found.scores) == pytest.approx(float(expected.scores))
    assert float(found.scores) == pytest.approx(classics.spanning_tree(dearer))


class WithoutKernels(SpanningTree):
    """The same structure on tensors alone."""

    compiled = ""
    _best = Structure._best


def test_spans_of_crossing_trees_do_not_need_kernels() -> None:
    scores = np.random.default_rng(0).normal(size=(4, 6, 6))
    expected = spanning_tree.best_tree(scores)
    found = WithoutKernels().best_tree(scores)
    np.testing.assert_array_equal(found.heads, expected.heads)
    np.testing.assert_array_equal(found.spans, expected.spans)
    assert any(not is_projective(tuple(tree.tolist())) for tree in found.heads)
