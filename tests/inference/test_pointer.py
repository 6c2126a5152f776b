"""The search of pointer networks: legal heads, greedy and beam search, by enumeration."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from headspan.config import ModelConfig, from_table
from headspan.inference import Constraints, ScoresError
from headspan.inference.structures.pointer.partial_trees import PartialTrees
from headspan.inference.structures.pointer.search import search
from headspan.plumbing.errors import HeadspanError
from headspan.registries import STRUCTURES

from .brute_force import Tree, all_trees, is_projective, is_tree

projective_or_not = pytest.mark.parametrize("projective", [True, False])


class Toy:
    """Scores of one sentence's heads that depend on the heads before them, by a table of biases."""

    def __init__(self, n: int, beam: int, seed: int) -> None:
        self.table = np.random.default_rng(seed).normal(size=(n + 1, n + 1, n + 1))
        self.trees: list[Tree] = [()] * beam

    def of(self, before: Tree) -> np.ndarray:
        """The scores of the next word's heads: the sum of a row for every head that is known."""
        word = len(before) + 1
        return self.table[word, 0] + sum((self.table[word, h] for h in before), np.zeros(()))

    def scores(self) -> np.ndarray:
        return np.array([[self.of(tree) for tree in self.trees]])

    def attach(self, parents: np.ndarray, heads: np.ndarray) -> None:
        self.trees = [
            (*self.trees[parent], int(head))
            for parent, head in zip(parents[0], heads[0], strict=True)
        ]

    def log_probability(self, tree: Tree) -> float:
        """By definition: a softmax over all heads of every word but the word itself."""
        total, n = 0.0, len(tree)
        for word, head in enumerate(tree, 1):
            scores = self.of(tree[: word - 1])
            shares = {h: np.exp(scores[h]) for h in range(n + 1) if h != word}
            total += np.log(shares[head] / sum(shares.values()))
        return total


def completions(n: int, *, projective: bool) -> set[Tree]:
    """Every beginning of a tree over n words."""
    return {tree[:k] for tree in all_trees(n, projective=projective) for k in range(n + 1)}


@projective_or_not
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_legal_heads_are_those_that_lead_to_a_tree(n: int, projective: bool) -> None:
    """Not one more, so that there is never a dead end, and not one less."""
    possible = completions(n, projective=projective)
    beginnings = sorted(tree for tree in possible if len(tree) < n)
    for before in beginnings:
        trees = PartialTrees(np.array([n]), n, 1, projective=projective)
        for head in before:
            trees.attach(np.zeros((1, 1), int), np.array([[head]]))
        found = np.flatnonzero(trees.legal()[0, 0]).tolist()
        assert found == [h for h in range(n + 1) if (*before, h) in possible], before


@projective_or_not
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_a_beam_of_all_trees_finds_the_best(n: int, seed: int, projective: bool) -> None:
    trees = all_trees(n, projective=projective)
    toy = Toy(n, len(trees), seed)
    heads, scores = search(toy, np.array([n]), projective=projective, beam=len(trees))
    values = [toy.log_probability(tree) for tree in trees]
    assert tuple(heads[0]) == trees[int(np.argmax(values))]
    assert scores[0] == pytest.approx(max(values))


@projective_or_not
@pytest.mark.parametrize("seed", range(6))
def test_a_beam_of_one_is_greedy_and_wider_ones_are_no_worse_in_the_end(
    seed: int, projective: bool
) -> None:
    n = 5
    tree: Tree = ()
    toy = Toy(n, 1, seed)
    for _ in range(n):
        scores = toy.of(tree)
        beginnings = completions(n, projective=projective)
        legal = [h for h in range(n + 1) if (*tree, h) in beginnings]
        tree = (*tree, max(legal, key=lambda h: scores[h]))
    heads, scores = search(toy, np.array([n]), projective=projective, beam=1)
    assert tuple(heads[0]) == tree
    assert scores[0] == pytest.approx(toy.log_probability(tree))
    most = len(all_trees(n, projective=projective))
    _, wide = search(Toy(n, most, seed), np.array([n]), projective=projective, beam=most)
    assert wide[0] >= scores[0] - 1e-12


class Noise:
    """Random scores, whatever was attached before."""

    def __init__(self, size: int, beam: int, longest: int, seed: int) -> None:
        self.rng, self.shape = np.random.default_rng(seed), (size, beam, longest + 1)

    def scores(self) -> np.ndarray:
        return (5 * self.rng.normal(size=self.shape)).astype(np.float32)

    def attach(self, parents: np.ndarray, heads: np.ndarray) -> None:
        assert parents.shape == heads.shape == self.shape[:2]


@projective_or_not
@pytest.mark.parametrize("beam", [1, 3])
def test_everything_found_is_a_tree(beam: int, projective: bool) -> None:
    lengths = np.array([*range(1, 31), 30, 30, 1, 2, 7])
    for seed in range(3):
        noise = Noise(len(lengths), beam, 30, seed)
        heads, scores = search(noise, lengths, projective=projective, beam=beam)
        assert np.isfinite(scores).all()
        for row, n in zip(heads, lengths, strict=True):
            tree = tuple(row[:n].tolist())
            assert is_tree(tree)
            assert is_projective(tree) or not projective
            assert (row[n:] == -1).all()
        if not projective:
            assert not all(map(is_projective, (tuple(h[:n]) for h, n in zip(heads, lengths))))  # noqa: B905


def test_ties_go_to_the_smallest_head() -> None:
    class Ties(Noise):
        def scores(self) -> np.ndarray:
            return np.zeros(self.shape)

    for beam in (1, 4):
        heads, _ = search(Ties(1, beam, 4, 0), np.array([4]), projective=True, beam=beam)
        assert heads[0].tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_scores_are_errors(bad: float) -> None:
    class Bad(Noise):
        def scores(self) -> np.ndarray:
            scores = super().scores()
            scores[0, 0, 2] = bad
            return scores

    with pytest.raises(ScoresError, match="a score of the heads of word 1 is NaN or"):
        search(Bad(1, 1, 3, 0), np.array([3]), projective=True, beam=1)


NAMES = [name for name, structure in STRUCTURES.items() if not structure.factored]
_ZEROS = np.zeros((4, 4))
QUESTIONS: dict[str, Any] = {
    "best": lambda s: s.best_tree(_ZEROS),
    "cost": lambda s: s.cost_augmented_tree(_ZEROS, gold=np.array([0, 1, 1])),
    "constraints": lambda s: s.best_tree(_ZEROS, constraints=Constraints(root=2)),
    "log Z": lambda s: s.log_partition(_ZEROS),
    "marginals": lambda s: s.marginals(_ZEROS),
    "entropy": lambda s: s.entropy(_ZEROS),
    "risk": lambda s: s.minimum_risk_tree(_ZEROS),
    "probability": lambda s: s.log_probability(_ZEROS, np.array([0, 1, 1])),
    "k best": lambda s: s.k_best(_ZEROS, 2),
    "samples": lambda s: s.sample(_ZEROS, 2, seed=1),
}


def test_there_are_two_of_them() -> None:
    assert NAMES == ["pointer", "pointer-left-to-right"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("question", list(QUESTIONS))
def test_arrays_of_scores_are_refused(name: str, question: str) -> None:
    with pytest.raises(ScoresError, match="one tree word by word has no constraints, k best"):
        QUESTIONS[question](STRUCTURES[name])


@pytest.mark.parametrize("name", NAMES)
def test_a_configuration_decides_about_crossing_arcs_and_the_beam(name: str) -> None:
    narrow = STRUCTURES[name].configured(crossing=False, beam=3)
    assert (narrow.projective, narrow.beam) == (True, 3)
    for other in (copy.deepcopy(narrow), pickle.loads(pickle.dumps(narrow))):
        assert (other.projective, other.beam) == (True, 3)
        assert other.pieces[0].scorer == STRUCTURES[name].pieces[0].scorer
    assert not STRUCTURES[name].configured(crossing=True, beam=1).projective
    assert STRUCTURES["arc"].configured(crossing=True, beam=1) is STRUCTURES["arc"]


@pytest.mark.parametrize(("beam", "expected"), [(0, "at least 1"), (65, "at most 64")])
def test_beams_have_limits(beam: int, expected: str) -> None:
    with pytest.raises(HeadspanError, match=f"beam is {beam}; expected {expected}"):
        from_table(ModelConfig, {"beam": beam}, "a test")
