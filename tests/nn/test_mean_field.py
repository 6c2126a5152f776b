"""Mean-field inference against its formulas as plain loops, and against exact posteriors."""

from itertools import product

import numpy as np
import pytest
import torch
from torch import Tensor

from headspan.inference import Constraints, arc
from headspan.nn.mean_field import MeanFieldScorer, posterior
from headspan.registries import STRUCTURES
from headspan.runtime import piece_scores
from headspan.runtime.tree_scores import TreeScores

SIZE = 12
LENGTHS = [5, 1, 3]


def random_scores(size: int, n: int, *, second_order: float = 1.0) -> list[Tensor]:
    """Scores of arcs, siblings, co-parents and grandparents."""
    scores = [torch.randn(size, *[n + 1] * axes, dtype=torch.double) for axes in (2, 3, 3, 3)]
    return [scores[0], *(second_order * part for part in scores[1:])]


def heads_of(d: int, n: int) -> list[int]:
    return [h for h in range(n + 1) if h != d]


def softmax(logits: np.ndarray, n: int) -> np.ndarray:
    """q[h, d] over the legal heads of every word, 0 elsewhere."""
    q = np.zeros((n + 1, n + 1))
    for d in range(1, n + 1):
        for h in heads_of(d, n):
            q[h, d] = np.exp(logits[h, d]) / sum(np.exp(logits[g, d]) for g in heads_of(d, n))
    return q


def by_loops(
    arcs: np.ndarray, sib: np.ndarray, cop: np.ndarray, gp: np.ndarray, n: int, iterations: int
) -> np.ndarray:
    """The update as it is written down, for one sentence."""
    logits = arcs
    for _ in range(iterations):
        q = softmax(logits, n)
        logits = arcs.copy()
        for d in range(1, n + 1):
            for h in heads_of(d, n):
                for k in set(range(n + 1)) - {h, d}:
                    logits[h, d] += q[h, k] * sib[h, min(d, k), max(d, k)]
                    logits[h, d] += q[k, d] * cop[d, min(h, k), max(h, k)]
                    logits[h, d] += q[d, k] * gp[d, h, k]
                    logits[h, d] += q[k, h] * gp[h, k, d]
    return logits


def exact_posterior(arcs: np.ndarray, sib: np.ndarray, gp: np.ndarray, n: int) -> np.ndarray:
    """p[h, d] by enumerating the heads of all words; a word and its head may head each other."""
    total, p = 0.0, np.zeros((n + 1, n + 1))
    for assigned in product(*(heads_of(d, n) for d in range(1, n + 1))):
        head = dict(enumerate(assigned, 1))
        score = sum(arcs[h, d] for d, h in head.items())
        for d, h in head.items():
            score += sum(sib[h, d, k] for k in range(d + 1, n + 1) if head[k] == h)
            if h and head[h] != d:
                score += gp[h, head[h], d]
        total += np.exp(score)
        for d, h in head.items():
            p[h, d] += np.exp(score)
    return p / total


def random_scorer() -> MeanFieldScorer:
    torch.manual_seed(3)
    scorer = MeanFieldScorer(SIZE, 6, 0.0).double()
    for parameter in scorer.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return scorer


def legal(n: int) -> np.ndarray:
    return softmax(np.zeros((n + 1, n + 1)), n) > 0


@pytest.mark.parametrize("iterations", [0, 1, 3])
def test_logits_are_those_of_plain_loops(iterations: int) -> None:
    torch.manual_seed(0)
    scores = random_scores(3, 5)
    found = posterior(*scores, torch.tensor(LENGTHS), iterations)
    for b, n in enumerate(LENGTHS):
        own = [part[b].numpy() for part in scores]
        expected = by_loops(*own, n, iterations)
        where = legal(n)
        np.testing.assert_allclose(
            found[b, : n + 1, : n + 1].numpy()[where], expected[: n + 1, : n + 1][where], atol=1e-6
        )


def test_padding_and_illegal_arcs_count_nothing() -> None:
    """Whatever is there, logits stay the same to the last bit, and gradients there are 0."""
    torch.manual_seed(1)
    scores, n = random_scores(1, 6), 4
    where = torch.from_numpy(legal(n))
    other = [part.clone() for part in scores]
    for part in other:
        places = torch.meshgrid(*[torch.arange(7)] * (part.ndim - 1), indexing="ij")
        twice = places[-1] == places[-2]
        part[:, twice | (torch.stack(places) > n).any(0)] = 1e6
    other[0][:, :, 0] = 1e6
    first, second = (posterior(*some, torch.tensor([n])) for some in (scores, other))
    assert torch.equal(first[0, :5, :5][where], second[0, :5, :5][where])
    leaves = [part.requires_grad_() for part in other]
    logits = posterior(*leaves, torch.tensor([n]))[0, :5, :5][where]
    for part in torch.autograd.grad(logits.square().sum(), leaves):
        assert part.isfinite().all()
        assert not part[0, n + 1 :].any()
        assert not part[0, :, n + 1 :].any()
        assert not part[0, ..., n + 1 :].any()


@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.parametrize("most", [0, 1 << 22])
def test_scores_do_not_depend_on_the_batch(
    gradient: bool, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(piece_scores, "MOST_DENSE", most)
    scorer = random_scorer()
    context = torch.randn(3, 7, SIZE, dtype=torch.double)
    with torch.set_grad_enabled(gradient):
        together = scorer(context, torch.tensor(LENGTHS)).dense().detach()
        for b, n in enumerate(LENGTHS):
            alone = scorer(context[b : b + 1, : n + 2], torch.tensor([n])).dense().detach()
            where = torch.from_numpy(legal(n))
            torch.testing.assert_close(together[b, : n + 1, : n + 1][where], alone[0][where])


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_without_second_order_scores_the_posterior_is_exact(n: int) -> None:
    torch.manual_seed(n)
    scores = random_scores(1, n, second_order=0.0)
    arcs, siblings, _, grandparents = (part[0].numpy() for part in scores)
    q = softmax(posterior(*scores, torch.tensor([n]))[0].numpy(), n)
    np.testing.assert_allclose(q, exact_posterior(arcs, siblings, grandparents, n), atol=1e-12)


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("seed", range(5))
def test_the_posterior_is_nearer_to_the_exact_one_than_first_order_is(n: int, seed: int) -> None:
    """Its error is of the second order in small second-order scores; softmax's is of the first."""
    torch.manual_seed(seed)
    scores = random_scores(1, n)
    scores[2].zero_()

    def errors(scale: float) -> tuple[float, float]:
        own = [scores[0], *(scale * part for part in scores[1:])]
        arcs, siblings, _, grandparents = (part[0].numpy() for part in own)
        exact = exact_posterior(arcs, siblings, grandparents, n)
        refined = softmax(posterior(*own, torch.tensor([n]))[0].numpy(), n)
        return float(np.abs(refined - exact).max()), float(np.abs(softmax(arcs, n) - exact).max())

    coarse, first_order = errors(0.1)
    assert coarse < 0.5 * first_order
    fine, first_order = errors(0.001)
    assert fine < 0.01 * first_order
    assert fine < 0.001 * coarse


def test_gradients_reach_all_scorers() -> None:
    scorer = random_scorer()
    context = torch.randn(3, 7, SIZE, dtype=torch.double, requires_grad=True)
    where = torch.from_numpy(legal(5))
    scorer(context, torch.tensor(LENGTHS)).dense()[0][where].square().sum().backward()
    for name, parameter in scorer.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 1e-6, name
    assert context.grad is not None
    assert context.grad[0, :6].abs().min() > 0


def test_a_new_scorer_learns_from_the_first_step_on() -> None:
    """Second-order scores start at 0, but not their gradients."""
    torch.manual_seed(2)
    scorer = MeanFieldScorer(SIZE, 6, 0.0)
    torch.nn.init.normal_(scorer.arcs.weight)
    logits = scorer(torch.randn(1, 7, SIZE), torch.tensor([5])).dense()
    logits[0][torch.from_numpy(legal(5))].square().sum().backward()
    for part in (scorer.siblings, scorer.coparents, scorer.grandparents):
        assert not part.weight.any()
        assert part.weight.grad is not None
        assert part.weight.grad.any()


def test_everything_that_arcs_can_be_asked_for() -> None:
    """Trees, confidences, k best trees and constraints on spans are those of arcs with its scores."""
    context = torch.randn(3, 7, SIZE, dtype=torch.double)
    n = torch.tensor(LENGTHS)
    with torch.no_grad():
        part = random_scorer()(context, n)
    ours, arcs = (TreeScores(some, n, [part]) for some in (STRUCTURES["mean-field"], arc))
    limits = [Constraints(brackets=[(1, 3)], forbidden_arcs=[(0, 2)]), None, None]
    for constraints in (None, limits):
        np.testing.assert_array_equal(ours.best(constraints).heads, arcs.best(constraints).heads)
    np.testing.assert_array_equal(ours.arc_marginals(2.0), arcs.arc_marginals(2.0))
    for limit in (None, limits[0]):
        np.testing.assert_array_equal(
            ours.k_best(0, 5, limit).heads, arcs.k_best(0, 5, limit).heads
        )
