"""Every loss of every structure against its definition, by enumerating all trees."""

from collections.abc import Callable
from itertools import product

import pytest
import torch
from torch import Tensor

from headspan.inference import Structure
from headspan.inference.pieces import Piece
from headspan.nn import span_scores
from headspan.registries import LOSSES, SCORERS, STRUCTURES
from headspan.runtime import piece_scores
from headspan.runtime.tree_scores import TreeScores
from inference.brute_force import CELLS, LEGAL, Tree, all_trees, spans_of

SIZE = 12
LENGTHS = [5, 1, 3]
GOLD: list[Tree] = [(2, 0, 5, 3, 2), (0,), (2, 0, 2)]
CROSSING: list[Tree] = [(3, 4, 0, 3, 2), (0,), (2, 0, 2)]


class Case:
    """Random scorers of a structure, a random context, and gold trees."""

    def __init__(self, structure: Structure) -> None:
        torch.manual_seed(4)
        self.structure = structure
        self.gold = GOLD if structure.projective else CROSSING
        self.scorers = torch.nn.ModuleList(
            SCORERS[piece.scorer](SIZE, 6, 0.0).double() for piece in structure.pieces
        )
        for parameter in self.scorers.parameters():
            torch.nn.init.normal_(parameter, std=0.5)
        self.context = torch.randn(3, max(LENGTHS) + 2, SIZE, dtype=torch.double)
        self.lengths = torch.tensor(LENGTHS)
        self.heads = torch.full((3, 5), -1)
        self.spans = torch.full((3, 5, 2), -1)
        for b, tree in enumerate(self.gold):
            self.heads[b, : len(tree)] = torch.tensor(tree)
            self.spans[b, : len(tree)] = torch.tensor(spans_of(tree))

    def trees(self, n: int) -> list[Tree]:
        return all_trees(n, projective=self.structure.projective)

    def scores(self, context: Tensor) -> TreeScores:
        parts = [make(context, self.lengths) for make in self.scorers]
        return TreeScores(self.structure, self.lengths, parts)

    def loss(self, name: str, context: Tensor) -> Tensor:
        loss: Tensor = LOSSES[name](self.scores(context), self.heads, self.spans)
        return loss


def cell(piece: Piece, tree: Tree, word: int) -> tuple[int, ...]:
    """The cell of a word in a tree, by definition."""
    cells: list[tuple[int, ...]] = CELLS[piece.name](tree)
    return cells[word - 1]


def by_definition(case: Case, total: Callable[[list[Tensor], int, Tree], Tensor]) -> Tensor:
    dense = case.scores(case.context).dense()
    parts = ([part[b] for part in dense] for b in range(len(LENGTHS)))
    return sum(
        (total(own, n, gold) for own, n, gold in zip(parts, LENGTHS, case.gold, strict=True)),
        torch.zeros((), dtype=torch.double),
    )


def tree_score(case: Case, parts: list[Tensor], tree: Tree) -> Tensor:
    cells = [
        part[cell(piece, tree, word)]
        for piece, part in zip(case.structure.pieces, parts, strict=True)
        for word in range(1, len(tree) + 1)
    ]
    return torch.stack(cells).sum()


@pytest.fixture(params=[name for name, structure in STRUCTURES.items() if structure.factored])
def case(request: pytest.FixtureRequest) -> Case:
    return Case(STRUCTURES[request.param])


@pytest.mark.parametrize("by_rows", [False, True])
def test_max_margin(case: Case, by_rows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if by_rows:
        monkeypatch.setattr(piece_scores, "MOST_DENSE", 0)
        monkeypatch.setattr(span_scores, "_ROW_BLOCK", 20)

    def margin(parts: list[Tensor], n: int, gold: Tree) -> Tensor:
        def wrong(tree: Tree) -> int:
            words = range(1, n + 1)
            pieces = case.structure.pieces
            return sum(cell(p, tree, w) != cell(p, gold, w) for p in pieces for w in words)

        rivals = [tree_score(case, parts, tree) + wrong(tree) for tree in case.trees(n)]
        return torch.stack(rivals).max() - tree_score(case, parts, gold)

    expected = by_definition(case, margin)
    loss = case.loss("max-margin", case.context)
    torch.testing.assert_close(loss, expected)
    assert loss.item() > 1
    ours, direct = (
        torch.autograd.grad(value, list(case.scorers.parameters())) for value in (loss, expected)
    )
    torch.testing.assert_close(ours, direct)


def test_local(case: Case) -> None:
    def selection(parts: list[Tensor], n: int, gold: Tree) -> Tensor:
        terms = []
        for piece, part in zip(case.structure.pieces, parts, strict=True):
            for word in range(1, n + 1):
                others = product(range(n + 1), repeat=piece.axes - 1)
                cells = ((*other, word) for other in others)
                options = [part[option] for option in cells if LEGAL[piece.name](n, *option)]
                gold_score = part[cell(piece, gold, word)]
                terms.append(torch.stack(options).logsumexp(0) - gold_score)
        return torch.stack(terms).sum()

    torch.testing.assert_close(case.loss("local", case.context), by_definition(case, selection))


def test_crf(case: Case) -> None:
    def surprise(parts: list[Tensor], n: int, gold: Tree) -> Tensor:
        every = torch.stack([tree_score(case, parts, tree) for tree in case.trees(n)])
        return every.logsumexp(0) - tree_score(case, parts, gold)

    torch.testing.assert_close(case.loss("crf", case.context), by_definition(case, surprise))


@pytest.mark.parametrize("name", list(LOSSES))
def test_gradients_are_finite_differences(case: Case, name: str) -> None:
    context = case.context.requires_grad_()
    assert torch.autograd.gradcheck(lambda x: case.loss(name, x), context)
