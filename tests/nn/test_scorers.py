"""The quick ways to score against the paper's formulas written down as they stand."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from headspan.nn import scorers
from headspan.nn.layers import SharedDropout, with_one
from headspan.nn.scorers import ArcScorer, LabelScorer, SpanScorer

SIZE = 12
LENGTHS = torch.tensor([6, 5, 4, 3])


def random_scorer(dropout: float = 0.0) -> SpanScorer:
    torch.manual_seed(1)
    scorer = SpanScorer(SIZE, 7, dropout).double()
    torch.nn.init.normal_(scorer.weight)
    torch.nn.init.normal_(scorer.span.linear.bias)
    return scorer


def by_the_paper(scorer: SpanScorer, context: Tensor) -> Tensor:
    """s = [c'_k; 1]ᵀ W [e'_ij; 1], e_ij = h_j − h_i, h_k = [f_k; b_{k+1}], nothing saved."""
    half = context.shape[2] // 2
    n = context.shape[1] - 2
    posts = torch.stack(
        [torch.cat([context[:, k, :half], context[:, k + 1, half:]], -1) for k in range(n + 1)], 1
    )
    spans = posts[:, None] - posts[:, :, None]  # [b, i, j] = h_j − h_i
    e = functional.leaky_relu(scorer.span.linear(spans), 0.1)
    c = functional.leaky_relu(scorer.word.linear(context[:, : n + 1]), 0.1)
    one = e.new_ones(())
    e1 = torch.cat([e, one.expand(*e.shape[:-1], 1)], -1)
    c1 = torch.cat([c, one.expand(*c.shape[:-1], 1)], -1)
    return torch.einsum("bku,uv,bijv->bijk", c1, scorer.weight, e1)


def legal(n: int) -> Tensor:
    i, j, k = torch.meshgrid(*[torch.arange(n + 1)] * 3, indexing="ij")
    return (i < k) & (k <= j)


def test_scores_are_the_papers() -> None:
    scorer, context = random_scorer(), torch.randn(3, 8, SIZE, dtype=torch.double)
    direct = by_the_paper(scorer, context)
    factored = scorer(context, LENGTHS)
    where = legal(6)
    torch.testing.assert_close(factored.dense()[:, where], direct[:, where])
    b, i, j, k = where.expand(3, -1, -1, -1).nonzero(as_tuple=True)
    torch.testing.assert_close(factored.cells(b, i, j, k), direct[b, i, j, k])
    some = factored.sentences([2, 0], 4)
    torch.testing.assert_close(some.dense()[:, legal(4)], direct[[2, 0], :5, :5, :5][:, legal(4)])


def test_rows_of_scores_are_those_of_the_dense_array() -> None:
    scorer, context = random_scorer(), torch.randn(2, 8, SIZE, dtype=torch.double)
    factored = scorer(context, LENGTHS)
    dense, rows = factored.dense()[1, :6, :6, :6], factored.by_rows(1, 5)
    for start, stop in ((0, 2), (2, 5)):
        where = legal(5)[start:stop]
        torch.testing.assert_close(rows.rows(start, stop)[where], dense[start:stop][where])
    left, right = np.array([0, 2]), np.array([5, 4])
    cells = rows.cells(left, right)
    torch.testing.assert_close(cells[0, 1:6], dense[0, 5, 1:6])
    torch.testing.assert_close(cells[1, 3:5], dense[2, 4, 3:5])


def test_arc_scores_are_biaffine_in_head_and_dependent() -> None:
    torch.manual_seed(2)
    scorer = ArcScorer(SIZE, 6, 0.0).double()
    torch.nn.init.normal_(scorer.weight)
    context = torch.randn(2, 7, SIZE, dtype=torch.double)
    scores = scorer(context, LENGTHS)
    up, down = (with_one(part(context[:, :-1])) for part in (scorer.head, scorer.dependent))
    expected = torch.einsum("bhu,uv,bdv->bhd", up, scorer.weight, down)
    torch.testing.assert_close(scores.dense(), expected)
    b, h, d = torch.tensor([0, 1]), torch.tensor([0, 3]), torch.tensor([2, 5])
    torch.testing.assert_close(scores.cells(b, h, d), expected[b, h, d])
    torch.testing.assert_close(scores.sentences([1], 3).dense(), expected[1:, :4, :4])


def test_the_gradient_of_dense_scores_is_that_of_the_formulas() -> None:
    scorer, context = random_scorer(), torch.randn(2, 7, SIZE, dtype=torch.double)
    weights = torch.randn(2, 6, 6, 6, dtype=torch.double) * legal(5)
    gradients = []
    for make in (lambda: scorer(context, LENGTHS).dense(), lambda: by_the_paper(scorer, context)):
        scorer.zero_grad()
        (make() * weights).sum().backward()
        gradients.append([p.grad.clone() for p in scorer.parameters()])  # type: ignore[union-attr]
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_dropout_is_the_same_in_both_passes() -> None:
    """Factored scores carry their masks: single cells and dense scores agree while dropping."""
    scorer = random_scorer(0.5).train()
    factored = scorer(torch.randn(4, 8, SIZE, dtype=torch.double), LENGTHS)
    b, i, j, k = legal(6).expand(4, -1, -1, -1).nonzero(as_tuple=True)
    torch.testing.assert_close(factored.cells(b, i, j, k), factored.dense()[b, i, j, k])


def test_labels_are_biaffine_in_parent_and_child() -> None:
    torch.manual_seed(3)
    scorer = LabelScorer(SIZE, 5, 4, 0.0).double()
    torch.nn.init.normal_(scorer.weight)
    context = torch.randn(2, 6, SIZE, dtype=torch.double)
    b, i, j = torch.tensor([0, 1, 1]), torch.tensor([0, 3, 2]), torch.tensor([2, 1, 5])
    scores = scorer(context, context, b, i, j)
    for t in range(3):
        up = torch.cat([scorer.parent(context[b[t], i[t]]), context.new_ones(1)])
        down = torch.cat([scorer.child(context[b[t], j[t]]), context.new_ones(1)])
        for r in range(4):
            torch.testing.assert_close(scores[t, r], up @ scorer.weight[r] @ down)


@pytest.mark.parametrize("arcs", [0, 1, 40])
def test_many_children_of_one_parent(arcs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In families of at most four, all at once or in blocks: the formula and its gradient."""
    torch.manual_seed(5)
    scorer = LabelScorer(SIZE, 5, 4, 0.0).double()
    torch.nn.init.normal_(scorer.weight)
    context = torch.randn(2, 6, SIZE, dtype=torch.double)
    b, i, j = (torch.randint(most, (arcs,)) for most in (2, 3, 6))
    scores = scorer(context, context, b, i, j)
    up, down = (with_one(part(context)) for part in (scorer.parent, scorer.child))
    expected = torch.einsum("tu,ruv,tv->tr", up[b, i], scorer.weight, down[b, j])
    torch.testing.assert_close(scores, expected)
    weights = torch.randn(arcs, 4, dtype=torch.double)
    parameters = list(scorer.parameters())
    found, wanted = (
        torch.autograd.grad((made * weights).sum(), parameters) for made in (scores, expected)
    )
    torch.testing.assert_close(found, wanted)
    monkeypatch.setattr(scorers, "_FAMILIES", 3)
    with torch.no_grad():
        torch.testing.assert_close(scorer(context, context, b, i, j), expected.detach())


def test_shared_dropout_draws_once_per_sentence() -> None:
    dropout = SharedDropout(0.5).train()
    out = dropout(torch.ones(5, 9, 40))
    assert torch.equal(out, out[:, :1].expand_as(out))
    assert not torch.equal(out[0], out[1])
    assert set(np.unique(out.numpy())) == {0.0, 2.0}
    assert torch.equal(dropout.eval()(torch.ones(1, 2, 3)), torch.ones(1, 2, 3))
