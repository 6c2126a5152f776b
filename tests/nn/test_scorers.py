"""The quick ways to score against the paper's formulas written down as they stand."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from headspan.inference import headed_span
from headspan.nn import cube, losses, scorers
from headspan.nn.layers import SharedDropout, with_one
from headspan.nn.scorers import ArcScorer, LabelScorer, SpanScorer
from headspan.tree import headed_spans

SIZE = 12


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
    terms = scorer(context)
    filled = cube.score_cube(terms)
    where = legal(6)
    torch.testing.assert_close(filled[:, where], direct[:, where])
    b, i, j, k = where.expand(3, -1, -1, -1).nonzero(as_tuple=True)
    torch.testing.assert_close(terms.cells(b, i, j, k), direct[b, i, j, k])


def test_the_cubes_gradient_is_that_of_the_formulas() -> None:
    scorer, context = random_scorer(), torch.randn(2, 7, SIZE, dtype=torch.double)
    weights = torch.randn(2, 6, 6, 6, dtype=torch.double) * legal(5)
    gradients = []
    for make in (lambda: cube.score_cube(scorer(context)), lambda: by_the_paper(scorer, context)):
        scorer.zero_grad()
        (make() * weights).sum().backward()
        gradients.append([p.grad.clone() for p in scorer.parameters()])  # type: ignore[union-attr]
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs)


def gold_trees(lengths: list[int]) -> tuple[Tensor, Tensor]:
    heads = [[0, *range(1, n)] for n in lengths]
    width = max(lengths)
    spans = [[(s.left, s.right) for s in headed_spans(h)] for h in heads]
    return losses.padded(heads, width), losses.padded(spans, width, (2,))


@pytest.mark.parametrize("by_rows", [False, True])
def test_the_max_margin_step_has_the_gradient_of_the_whole_cube(
    by_rows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by_rows:
        monkeypatch.setattr(cube, "_LARGEST_CUBE", 0)
        monkeypatch.setattr(cube, "_ROW_BLOCK", 20)
    scorer = random_scorer()
    lengths = torch.tensor([6, 1, 4])
    context = torch.randn(3, 8, SIZE, dtype=torch.double)
    heads, spans = gold_trees(lengths.tolist())
    scorer.zero_grad()
    loss = losses.span_max_margin(scorer(context), lengths, heads, spans)
    loss.backward()
    ours = [p.grad.clone() for p in scorer.parameters()]  # type: ignore[union-attr]
    scorer.zero_grad()
    direct = by_the_paper(scorer, context)
    trees = headed_span.cost_augmented_tree(direct.detach(), heads, lengths=lengths)
    expected = direct.new_zeros(())
    for b, n in enumerate(lengths.tolist()):
        for k in range(1, n + 1):
            (le, r), (gl, gr) = trees.spans[b, k - 1].tolist(), spans[b, k - 1].tolist()
            expected = expected + direct[b, le, r, k] - direct[b, gl, gr, k] + ((le, r) != (gl, gr))
    expected.backward()
    torch.testing.assert_close(loss, expected)
    for mine, p in zip(ours, scorer.parameters(), strict=True):
        torch.testing.assert_close(mine, p.grad)
    assert loss.item() > 0


def test_dropout_is_the_same_in_both_passes() -> None:
    """Terms carry their masks: cells and the cube agree while dropping."""
    scorer = random_scorer(0.5).train()
    terms = scorer(torch.randn(4, 8, SIZE, dtype=torch.double))
    filled = cube.score_cube(terms)
    b, i, j, k = legal(6).expand(4, -1, -1, -1).nonzero(as_tuple=True)
    torch.testing.assert_close(terms.cells(b, i, j, k), filled[b, i, j, k])


def test_local_span_selection_by_hand() -> None:
    scorer, lengths = random_scorer(), torch.tensor([5, 3])
    context = torch.randn(2, 7, SIZE, dtype=torch.double)
    _, spans = gold_trees([5, 3])
    direct = by_the_paper(scorer, context)
    expected = 0.0
    for b, n in enumerate([5, 3]):
        for k in range(1, n + 1):
            options = torch.stack([direct[b, p, q, k] for p in range(k) for q in range(k, n + 1)])
            i, j = spans[b, k - 1].tolist()
            expected += (options.logsumexp(0) - direct[b, i, j, k]).item()
    assert losses.span_local(scorer(context), lengths, spans).item() == pytest.approx(expected)


def test_crf_is_a_negative_log_probability() -> None:
    scorer, lengths = random_scorer(), torch.tensor([5, 3])
    context = torch.randn(2, 7, SIZE, dtype=torch.double)
    heads, spans = gold_trees([5, 3])
    loss = losses.span_crf(scorer(context), lengths, spans)
    expected = -headed_span.log_probability(
        by_the_paper(scorer, context).detach(), heads, lengths=lengths
    )
    torch.testing.assert_close(loss, expected.sum())
    loss.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in scorer.parameters())


def test_arc_losses() -> None:
    torch.manual_seed(2)
    scorer = ArcScorer(SIZE, 6, 0.0).double()
    torch.nn.init.normal_(scorer.weight)
    scores = scorer(torch.randn(2, 7, SIZE, dtype=torch.double))
    lengths, (heads, _) = torch.tensor([5, 3]), gold_trees([5, 3])
    expected = 0.0
    for b, n in enumerate([5, 3]):
        for k in range(1, n + 1):
            options = torch.stack([scores[b, h, k] for h in range(n + 1) if h != k])
            expected += (options.logsumexp(0) - scores[b, heads[b, k - 1], k]).item()
    assert losses.arc_local(scores, lengths, heads).item() == pytest.approx(expected)
    assert losses.arc_crf(scores, lengths, heads).item() > 0
    assert losses.arc_max_margin(scores, lengths, heads).item() >= 0


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


def test_shared_dropout_draws_once_a_sentence() -> None:
    dropout = SharedDropout(0.5).train()
    out = dropout(torch.ones(5, 9, 40))
    assert torch.equal(out, out[:, :1].expand_as(out))
    assert not torch.equal(out[0], out[1])
    assert set(np.unique(out.numpy())) == {0.0, 2.0}
    assert torch.equal(dropout.eval()(torch.ones(1, 2, 3)), torch.ones(1, 2, 3))
