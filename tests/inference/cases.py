"""All structures on both backends behind one face, for tests that hold for all."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from headspan.inference import Structure
from headspan.registries import STRUCTURES

from . import brute_force
from .brute_force import Tree, all_trees


@dataclass(frozen=True)
class Case:
    """One structure on one backend."""

    name: str
    structure: Structure
    kinds: tuple[str, ...]
    backend: str

    def trees(self, n: int) -> list[Tree]:
        """Every tree over n words that the structure can build."""
        return all_trees(n, projective=self.structure.projective)

    def scores(self, make: Any, size: int, longest: int, dtype: Any) -> list[np.ndarray]:
        """Scores for a batch; make(shape) gives numbers."""
        side = longest + 1
        shapes = [(size, *[side] * piece.axes) for piece in self.structure.pieces]
        return [np.asarray(make(shape)).astype(dtype) for shape in shapes]

    def hand_over(self, scores: list[np.ndarray]) -> list[Any]:
        """The scores as the backend naturally meets them."""
        return [torch.from_numpy(s) for s in scores] if self.backend == "batched" else scores

    def call(self, function: str, scores: list[np.ndarray], *args: Any, **options: Any) -> Any:
        """structure.function on this backend."""
        run = getattr(self.structure, function)
        if function not in ("sample", "k_best", "tree_score"):
            options["backend"] = self.backend
        return run(*self.hand_over(scores), *args, **options)

    def tree_score(self, scores: list[np.ndarray], tree: Tree) -> float:
        """The score of a tree by definition; scores of one sentence."""
        total = 0.0
        for kind, part in zip(self.kinds, scores, strict=True):
            total += brute_force.piece_score(kind, part, tree)
        return total

    def all_scores(self, scores: list[np.ndarray], n: int) -> np.ndarray:
        """The scores of all trees of one sentence, in the order of trees(n)."""
        return np.array([self.tree_score(scores, tree) for tree in self.trees(n)])

    def mismatches(self, tree: Tree, gold: Tree) -> int:
        """The Hamming cost that cost-augmented inference adds."""
        return sum(
            a != b
            for kind in self.kinds
            for a, b in zip(
                brute_force.CELLS[kind](tree), brute_force.CELLS[kind](gold), strict=True
            )
        )


CASES = [
    Case(name, structure, tuple(piece.name for piece in structure.pieces), backend)
    for name, structure in STRUCTURES.items()
    if structure.factored
    for backend in (("kernels", "batched") if structure.compiled else ("batched",))
]


def as_tree(heads: Any, n: int) -> Tree:
    """Heads of one sentence as a tuple."""
    return tuple(int(h) for h in heads[:n])


def exact_marginals(
    scores: np.ndarray, trees: list[Tree], longest: int
) -> tuple[float, dict[str, np.ndarray]]:
    """log Z, and the marginals of every kind of piece, from the scores of all trees."""
    largest = scores.max()
    log_z = largest + np.log(np.exp(scores - largest).sum())
    marginals = {}
    for kind, cells in brute_force.CELLS.items():
        marginals[kind] = np.zeros((longest + 1,) * len(cells((0,))[0]))
        for tree, p in zip(trees, np.exp(scores - log_z), strict=True):
            for cell in cells(tree):
                marginals[kind][cell] += p
    return log_z, marginals
