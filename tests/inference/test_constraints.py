"""Constrained best trees equal filtering the enumeration."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headspan.inference import (
    ConstraintError,
    Constraints,
    NoTreeError,
    ScoresError,
    arc,
    headed_span,
)

from .brute_force import Tree, spans_of
from .cases import CASES, Case, as_tree, exact_marginals


def satisfies(tree: Tree, wanted: Constraints) -> bool:
    arcs = {(h, d) for d, h in enumerate(tree, 1)}
    spans = {(i, j, k) for k, (i, j) in enumerate(spans_of(tree), 1)}
    crossing = any(i < p < j < q or p < i < q < j for i, j, _ in spans for p, q in wanted.brackets)
    return (
        arcs.issuperset(wanted.required_arcs)
        and arcs.isdisjoint(wanted.forbidden_arcs)
        and spans.issuperset(wanted.required_spans)
        and spans.isdisjoint(wanted.forbidden_spans)
        and (wanted.root is None or (0, wanted.root) in arcs)
        and not any(h in set(wanted.leaves) for h, _ in arcs)
        and not crossing
    )


@st.composite
def constraints(draw: st.DrawFn, n: int, *, on_spans: bool) -> Constraints:
    arcs = [(h, d) for h in range(n + 1) for d in range(1, n + 1) if h != d]
    spans = [(i, j, k) for i in range(n) for j in range(i + 1, n + 1) for k in range(i + 1, j + 1)]
    brackets = [(i, j) for i in range(n) for j in range(i + 1, n + 1)]
    few = {"max_size": 2}
    return Constraints(
        required_arcs=draw(st.lists(st.sampled_from(arcs), max_size=1)) if arcs else (),
        forbidden_arcs=draw(st.lists(st.sampled_from(arcs), **few)) if arcs else (),
        required_spans=draw(st.lists(st.sampled_from(spans), max_size=1)) if on_spans else (),
        forbidden_spans=draw(st.lists(st.sampled_from(spans), **few)) if on_spans else (),
        root=draw(st.none() | st.integers(1, n)),
        leaves=draw(st.lists(st.integers(1, n), max_size=1)),
        brackets=draw(st.lists(st.sampled_from(brackets), **few)) if on_spans else (),
    )


def can_limit_spans(case: Case) -> bool:
    """Whether spans are among the pieces, or `joint` can stand in."""
    return case.structure.projective and "sibling" not in case.kinds


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.name}-{c.backend}")
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_constraints_equal_filtering(case: Case, data: st.DataObject) -> None:
    lengths = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=2))
    wanted = [data.draw(constraints(n, on_spans=can_limit_spans(case))) for n in lengths]
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    scores = case.scores(lambda shape: rng.normal(size=shape), len(lengths), 5, np.float64)
    left = [
        [tree for tree in case.trees(n) if satisfies(tree, limits)]
        for n, limits in zip(lengths, wanted, strict=True)
    ]
    if not all(left):
        with pytest.raises(NoTreeError, match="no tree satisfies the constraints"):
            case.call("best_tree", scores, lengths=lengths, constraints=wanted)
        with pytest.raises(NoTreeError, match="no tree satisfies the constraints"):
            case.call("k_best", scores, 3, lengths=lengths, constraints=wanted)
        return
    found = case.call("best_tree", scores, lengths=lengths, constraints=wanted)
    for b, n in enumerate(lengths):
        own = [part[b] for part in scores]
        best = max(case.tree_score(own, tree) for tree in left[b])
        tree = as_tree(found.heads[b], n)
        assert satisfies(tree, wanted[b])
        assert case.tree_score(own, tree) == pytest.approx(best)
        assert float(found.scores[b]) == pytest.approx(best)
        assert tuple(map(tuple, found.spans[b, :n].tolist())) == spans_of(tree)
    safest = case.call("minimum_risk_tree", scores, lengths=lengths, constraints=wanted)
    for b, n in enumerate(lengths):
        values = np.array([case.tree_score([part[b] for part in scores], t) for t in left[b]])
        _, exact = exact_marginals(values, left[b], 5)
        right = [sum(exact["arc"][h, d] for d, h in enumerate(tree, 1)) for tree in left[b]]
        assert satisfies(as_tree(safest.heads[b], n), wanted[b])
        assert float(safest.scores[b]) == pytest.approx(max(right))
        under = case.call("marginals", scores, lengths=lengths, constraints=wanted)
        np.testing.assert_allclose(under.arcs[b], exact["arc"], atol=1e-6)
    several = case.call("k_best", scores, 4, lengths=lengths, constraints=wanted)
    for b, n in enumerate(lengths):
        own = [part[b] for part in scores]
        values = sorted((case.tree_score(own, tree) for tree in left[b]), reverse=True)[:4]
        assert several.counts[b] == len(values)
        trees = [as_tree(heads, n) for heads in several.heads[b, : len(values)]]
        assert len(set(trees)) == len(trees)
        assert all(satisfies(tree, wanted[b]) for tree in trees)
        assert [case.tree_score(own, tree) for tree in trees] == pytest.approx(values)
        assert several.scores[b, : len(values)].tolist() == pytest.approx(values)


@pytest.mark.parametrize(
    ("module", "axes", "cheap", "dear"),
    [
        (
            headed_span,
            3,
            Constraints(root=2, leaves=[1], brackets=[(0, 2)], forbidden_arcs=[(0, 3)]),
            Constraints(required_arcs=[(2, 3)]),
        ),
        (
            arc,
            2,
            Constraints(root=2, leaves=[1], required_arcs=[(2, 3)]),
            Constraints(brackets=[(0, 2)]),
        ),
    ],
)
def test_the_cheapest_algorithm_is_used(
    module: object,
    axes: int,
    cheap: Constraints,
    dear: Constraints,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_joint(*_: object, **__: object) -> None:
        raise AssertionError("the joint algorithm was called")

    scores = np.zeros((5,) * axes)
    monkeypatch.setattr("headspan.inference.structures.joint.Joint._best", no_joint)
    assert module.best_tree(scores, constraints=cheap).heads[1] == 0  # type: ignore[attr-defined]
    with pytest.raises(AssertionError):
        module.best_tree(scores, constraints=dear)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if not can_limit_spans(case)],
    ids=lambda c: f"{c.name}-{c.backend}",
)
def test_spans_cannot_be_limited_without_spans(case: Case) -> None:
    scores = case.scores(np.zeros, 1, 4, np.float64)
    for limits in (Constraints(brackets=[(0, 2)]), Constraints(required_spans=[(0, 2, 1)])):
        for function, more in (("best_tree", {}), ("k_best", {"k": 2}), ("minimum_risk_tree", {})):
            with pytest.raises(ScoresError, match="cannot express constraints on spans: "):
                case.call(function, scores, constraints=limits, **more)


def test_no_constraints_change_nothing() -> None:
    scores = np.random.default_rng(0).integers(-1, 2, size=(3, 7, 7, 7)).astype(np.float32)
    plain = headed_span.best_tree(scores)
    for limits in (Constraints(), [None, Constraints(), None]):
        found = headed_span.best_tree(scores, constraints=limits)
        np.testing.assert_array_equal(found.heads, plain.heads)
    alone = headed_span.best_tree(scores[0], constraints=Constraints())
    np.testing.assert_array_equal(alone.heads, plain.heads[0])


@pytest.mark.parametrize(
    "wrong",
    [
        Constraints(required_arcs=[(1, 1)]),
        Constraints(forbidden_arcs=[(1, 9)]),
        Constraints(required_spans=[(2, 1, 1)]),
        Constraints(root=5),
        Constraints(leaves=[0]),
        Constraints(brackets=[(3, 3)]),
    ],
)
def test_constraints_must_fit_the_sentence(wrong: Constraints) -> None:
    with pytest.raises(ConstraintError, match="4 words"):
        headed_span.best_tree(np.zeros((5, 5, 5)), constraints=wrong)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("required_arcs", (1, 2), "expected tuples of 2 whole numbers"),
        ("forbidden_arcs", [(1, 2, 3)], "expected tuples of 2 whole numbers"),
        ("required_spans", [(1, 2)], "expected tuples of 3 whole numbers"),
        ("brackets", ["ab"], "expected tuples of 2 whole numbers"),
        ("leaves", [1.5], "expected whole numbers"),
        ("leaves", 1, "expected whole numbers"),
        ("root", "1", "expected whole numbers"),
    ],
)
def test_constraints_are_numbers(name: str, value: Any, expected: str) -> None:
    with pytest.raises(ConstraintError, match=f"{name} has .*; {expected}"):
        Constraints(**{name: value})


def test_one_set_of_constraints_a_sentence() -> None:
    with pytest.raises(ConstraintError, match="1 constraints for 2 sentences"):
        arc.best_tree(np.zeros((2, 4, 4)), constraints=[None])
