"""Pointer networks against their formulas as plain loops."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from headspan.inference import Constraints, ScoresError
from headspan.inference.structures.pointer import Pointer
from headspan.nn.layers import Projection
from headspan.nn.pointer import HierarchicalPointer, LeftToRightPointer, PointerScores
from headspan.registries import LOSSES, SCORERS, STRUCTURES
from headspan.runtime.tree_scores import TreeScores
from inference.brute_force import Tree, all_trees, is_projective, is_tree, spans_of

SIZE = 12
LENGTHS = np.array([6, 1, 4])
TREES: list[Tree] = [(4, 4, 2, 6, 3, 0), (0,), (3, 3, 4, 0)]
NAMES = [name for name, structure in STRUCTURES.items() if not structure.factored]
both = pytest.mark.parametrize("name", NAMES)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def numbers(module: Any) -> dict[str, np.ndarray]:
    return {name: p.detach().numpy() for name, p in module.named_parameters()}


def projected(layer: Projection, x: np.ndarray) -> np.ndarray:
    y = x @ layer.linear.weight.detach().numpy().T + layer.linear.bias.detach().numpy()
    return np.where(y > 0, y, 0.1 * y)


def lstm(scorer: LeftToRightPointer, x: np.ndarray, s: np.ndarray, m: np.ndarray) -> Any:
    w = numbers(scorer.cell)
    gates = w["weight_ih"] @ x + w["bias_ih"] + w["weight_hh"] @ s + w["bias_hh"]
    i, f, g, o = np.split(gates, 4)
    m = sigmoid(f) * m + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(m), m


def by_loops(
    scorer: LeftToRightPointer,
    c: np.ndarray,
    tree: Tree,
    masks: tuple[np.ndarray, np.ndarray] | None = None,
) -> np.ndarray:
    """The scores [h, d] as the formulas have them, for one sentence; c is c_0 … c_{n+1}.

    masks: those of dropout on the hidden half of states and on the dependents' projections.
    """
    n, w = len(tree), numbers(scorer)
    size = scorer.cell.hidden_size
    hidden, pointing = masks if masks is not None else (np.ones(size), np.ones(size))
    zero = np.zeros(size), np.zeros(size)
    states = [zero]
    scores = np.zeros((n + 1, n + 1))
    for i in range(1, n + 1):
        if isinstance(scorer, HierarchicalPointer):
            x = c[i]
            left = [d for d in range(1, i) if tree[d - 1] == i]
            outer, inner = (states[left[0]], states[left[-1]]) if left else (zero, zero)
            before = []
            for last, o, j in zip(states[-1], outer, inner, strict=True):
                gate = w["gate.weight"] @ np.concatenate([o * last, j * last]) + w["gate.bias"]
                mixed = w["mix.weight"] @ np.concatenate([last, o, j]) + w["mix.bias"]
                before.append(np.tanh(sigmoid(gate) * mixed))
        else:
            x = c[i - 1] + c[i] + c[i + 1]
            before = list(states[-1])
        states.append(lstm(scorer, projected(scorer.word, x), before[0] * hidden, before[1]))
        dependent = np.append(projected(scorer.dependent, states[-1][0]) * pointing, 1)
        for h in range(n + 1):
            head = np.append(projected(scorer.head, c[h]), 1)
            scores[h, i] = head @ w["weight"] @ dependent
    return scores


def random_scorer(name: str, *, std: float = 0.5) -> LeftToRightPointer:
    torch.manual_seed(3)
    scorer: LeftToRightPointer = SCORERS[STRUCTURES[name].pieces[0].scorer](SIZE, 5, 0.0).double()
    for parameter in scorer.parameters():
        torch.nn.init.normal_(parameter, std=std)
    return scorer


def random_context(size: int, longest: int) -> torch.Tensor:
    return torch.randn(size, longest + 2, SIZE, dtype=torch.double)


def tree_scores(
    name: str, part: PointerScores, lengths: np.ndarray, *, crossing: bool = True, beam: int = 1
) -> TreeScores:
    structure: Pointer = STRUCTURES[name].configured(crossing=crossing, beam=beam)
    return TreeScores(structure, lengths, [part])


def padded(trees: list[Tree]) -> tuple[torch.Tensor, torch.Tensor]:
    longest = max(map(len, trees))
    heads = torch.full((len(trees), longest), -1)
    spans = torch.full((len(trees), longest, 2), -1)
    for b, tree in enumerate(trees):
        heads[b, : len(tree)], spans[b, : len(tree)] = (
            torch.tensor(tree),
            torch.tensor(spans_of(tree)),
        )
    return heads, spans


@both
def test_scores_along_a_tree_are_those_of_plain_loops(name: str) -> None:
    scorer, context = random_scorer(name), random_context(3, 6)
    heads, _ = padded(TREES)
    found = scorer(context, torch.from_numpy(LENGTHS)).along(heads).detach().numpy()
    assert found.shape == (3, 7, 7)
    for b, tree in enumerate(TREES):
        n = len(tree)
        expected = by_loops(scorer, context[b].numpy(), tree)
        np.testing.assert_allclose(found[b, : n + 1, 1 : n + 1], expected[:, 1:], atol=1e-12)


@both
def test_dropout_has_one_mask_per_sentence(name: str) -> None:
    scorer, context = random_scorer(name), random_context(3, 6)
    heads, _ = padded(TREES)
    part = scorer(context, torch.from_numpy(LENGTHS))
    scorer.dropout.rate = 0.5
    torch.manual_seed(5)
    found = part.along(heads).detach().numpy()
    torch.manual_seed(5)
    hidden, pointing = (scorer.dropout.mask(3, 5, context) for _ in range(2))
    assert hidden is not None
    assert pointing is not None
    for b, tree in enumerate(TREES):
        n, masks = len(tree), (hidden[b].numpy(), pointing[b].numpy())
        expected = by_loops(scorer, context[b].numpy(), tree, masks)
        np.testing.assert_allclose(found[b, : n + 1, 1 : n + 1], expected[:, 1:], atol=1e-12)


def test_only_the_hierarchical_one_looks_at_the_tree() -> None:
    for name, same in zip(NAMES, (False, True), strict=True):
        part = random_scorer(name)(random_context(1, 4), torch.tensor([4]))
        first, second = (part.along(padded([tree])[0]) for tree in [(3, 3, 0, 3), (3, 0, 2, 2)])
        assert torch.equal(first, second) == same
        assert torch.equal(first[..., :3], second[..., :3]), (
            "words before word 3 have no dependents"
        )


@both
def test_the_loss_is_the_surprise_at_each_head(name: str) -> None:
    scorer, context = random_scorer(name), random_context(3, 6)
    heads, spans = padded(TREES)
    scores = tree_scores(name, scorer(context, torch.from_numpy(LENGTHS)), LENGTHS)
    expected = 0.0
    for b, tree in enumerate(TREES):
        own = by_loops(scorer, context[b].numpy(), tree)
        for d, h in enumerate(tree, 1):
            others = [own[g, d] for g in range(len(tree) + 1) if g != d]
            expected += np.log(np.exp(others).sum()) - own[h, d]
    loss = LOSSES["local"](scores, heads, spans)
    assert loss.item() == pytest.approx(expected)
    loss.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in scorer.parameters())


@both
def test_gradients_are_finite_differences(name: str) -> None:
    scorer, context = random_scorer(name), random_context(2, 4).requires_grad_()
    lengths = np.array([4, 3])
    gold = padded([(3, 3, 4, 0), (2, 0, 2)])

    def loss(x: torch.Tensor) -> torch.Tensor:
        scores = tree_scores(name, scorer(x, torch.from_numpy(lengths)), lengths)
        value: torch.Tensor = LOSSES["local"](scores, *gold)
        return value

    assert torch.autograd.gradcheck(loss, context)


def log_probability(scorer: LeftToRightPointer, c: np.ndarray, tree: Tree) -> float:
    own, n = by_loops(scorer, c, tree), len(tree)
    return sum(
        own[h, d] - np.log(sum(np.exp(own[g, d]) for g in range(n + 1) if g != d))
        for d, h in enumerate(tree, 1)
    )


@both
@pytest.mark.parametrize(("n", "crossing"), list(product([1, 2, 3, 4], [True, False])))
def test_a_beam_of_all_trees_finds_the_most_probable(name: str, n: int, crossing: bool) -> None:
    trees = all_trees(n, projective=not crossing)
    scorer, context = random_scorer(name), random_context(2, n)
    part, lengths = scorer(context, torch.tensor([n, n])), np.array([n, n])
    found = tree_scores(name, part, lengths, crossing=crossing, beam=len(trees)).best()
    for b in range(2):
        values = [log_probability(scorer, context[b].numpy(), tree) for tree in trees]
        assert tuple(found.heads[b]) == trees[int(np.argmax(values))]
        assert found.scores[b] == pytest.approx(max(values), abs=1e-5)
        assert tuple(map(tuple, found.spans[b])) == spans_of(tuple(found.heads[b]))


@both
@pytest.mark.parametrize("beam", [1, 3])
def test_the_score_of_a_found_tree_is_its_log_probability(name: str, beam: int) -> None:
    """So every hypothesis of a beam has its own history, whatever was given up on the way."""
    scorer, lengths = random_scorer(name, std=1.0), np.array([9, 5, 9, 1])
    context = random_context(4, 9)
    part = scorer(context, torch.from_numpy(lengths))
    found = tree_scores(name, part, lengths, beam=beam).best()
    for b, n in enumerate(lengths):
        tree = tuple(found.heads[b, :n].tolist())
        own = context[b, : n + 2].numpy()
        assert found.scores[b] == pytest.approx(log_probability(scorer, own, tree), abs=1e-4)


@both
@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("crossing", [True, False])
def test_all_trees_are_trees_and_do_not_depend_on_the_batch(
    name: str, beam: int, crossing: bool
) -> None:
    lengths = np.array([30, 1, 17, 2, 30, 8])
    scorer, context = random_scorer(name, std=1.0), random_context(6, 30)
    options = {"crossing": crossing, "beam": beam}
    scores = tree_scores(name, scorer(context, torch.from_numpy(lengths)), lengths, **options)
    found = scores.best()
    some = scores.sentences([3, 2]).best()
    for b, n in enumerate(lengths):
        tree = tuple(found.heads[b, :n].tolist())
        assert is_tree(tree)
        assert crossing or is_projective(tree)
        part = scorer(context[b : b + 1, : n + 2], torch.tensor([n]))
        alone = tree_scores(name, part, lengths[b : b + 1], **options).best()
        assert tuple(alone.heads[0].tolist()) == tree
    assert some.heads[0, :2].tolist() == found.heads[3, :2].tolist()
    assert some.heads[1].tolist() == found.heads[2, :17].tolist()


@both
def test_confidences_are_the_probabilities_of_pointing(name: str) -> None:
    scorer, context = random_scorer(name), random_context(3, 6)
    scores = tree_scores(name, scorer(context, torch.from_numpy(LENGTHS)), LENGTHS)
    trees = scores.best()
    for temperature in (1.0, 2.0):
        found = scores.arc_marginals(temperature)
        for b, n in enumerate(LENGTHS):
            own = by_loops(scorer, context[b].numpy(), tuple(trees.heads[b, :n])) / temperature
            for d in range(1, n + 1):
                shares = np.array([np.exp(own[h, d]) * (h != d) for h in range(n + 1)])
                np.testing.assert_allclose(found[b, : n + 1, d], shares / shares.sum(), atol=1e-9)
        assert (found[:, :, 0] == 0).all()


@both
def test_anything_else_is_refused_in_one_sentence(name: str) -> None:
    heads, spans = padded(TREES)
    part = random_scorer(name)(random_context(3, 6), torch.from_numpy(LENGTHS))
    scores = tree_scores(name, part, LENGTHS)
    limits = [None, None, Constraints(root=1)]
    questions: list[Any] = [
        lambda: scores.best(limits),
        lambda: scores.best(gold=heads),
        lambda: scores.k_best(0, 2),
        lambda: scores.entropy(0),
        lambda: scores.shares(0, np.zeros(1)),
        lambda: scores.arc_marginals(1.0, limits),
        lambda: LOSSES["max-margin"](scores, heads, spans),
        lambda: LOSSES["crf"](scores, heads, spans),
    ]
    for question in questions:
        with pytest.raises(ScoresError, match=r"^a model that builds one tree word by word has no"):
            question()
