"""The loss on relations against its definition, for labels from words and from headed spans."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from headspan.config import EmbeddingsConfig, ModelConfig
from headspan.nn.network import Gold, Network
from headspan.runtime.inputs import Inputs, VocabularySizes

LENGTHS = [4, 2]
HEADS = [[2, 0, 4, 2], [0, 1]]
SPANS = [[(0, 1), (0, 4), (2, 3), (2, 4)], [(0, 2), (1, 2)]]
LABELS = [[2, 3, 4, 5], [3, 2]]


def vector(context: Tensor, b: int, place: int, source: str) -> Tensor:
    """The vector of a word, or of its headed span, which for the root is the whole sentence."""
    if source == "words":
        return context[b, place]
    half = context.shape[2] // 2
    left, right = SPANS[b][place - 1] if place else (0, LENGTHS[b])
    posts = [torch.cat([context[b, p, :half], context[b, p + 1, half:]]) for p in (left, right)]
    return posts[1] - posts[0]


@pytest.mark.parametrize("source", ["words", "spans"])
def test_the_loss_is_cross_entropy_of_a_biaffine_form(source: str) -> None:
    torch.manual_seed(0)
    model = ModelConfig(
        structure="arc", labels_from=source, lstm_layers=1, lstm_size=4, score_size=3, label_size=3,
        dropout=0.0, embeddings=EmbeddingsConfig(words=5),
    )  # fmt: skip
    network = Network(model, VocabularySizes(6, 10, 2, (), (), 2)).double()
    torch.nn.init.normal_(network.labels.weight)
    grid = np.array([[0, 2, 3, 4, 5, 0], [0, 6, 7, 0, 0, 0]])
    inputs = Inputs(np.array(LENGTHS), None, grid, None, None, None)

    def padded(rows: list[list[int]]) -> Tensor:
        return torch.tensor([row + [-1] * (4 - len(row)) for row in rows])

    spans = torch.tensor([[*row, *[(-1, -1)] * (4 - len(row))] for row in SPANS])
    gold = Gold(padded(HEADS), spans, padded(LABELS))
    loss = network.loss(inputs, gold).label
    context, _ = network.context(inputs)
    scorer, one = network.labels, torch.ones(1, dtype=torch.double)
    expected = torch.zeros((), dtype=torch.double)
    for b, heads in enumerate(HEADS):
        for word, head in enumerate(heads, 1):
            parent = torch.cat([scorer.parent(vector(context, b, head, source)), one])
            child = torch.cat([scorer.child(vector(context, b, word, source)), one])
            scores = torch.stack([parent @ weight @ child for weight in scorer.weight])
            label = torch.tensor(LABELS[b][word - 1])
            expected = expected + functional.cross_entropy(scores, label)
    torch.testing.assert_close(loss, expected)
    ours, direct = (
        torch.autograd.grad(value, list(network.labels.parameters()), retain_graph=True)
        for value in (loss, expected)
    )
    torch.testing.assert_close(ours, direct)
