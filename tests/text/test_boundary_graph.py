"""The boundary tagger without torch computes what that of torch computes."""

import numpy as np
import pytest
import torch

from headspan.plumbing.errors import HeadspanError
from headspan.text.boundary_graph import GraphTagger
from headspan.text.boundary_tagger import BoundaryTagger
from headspan.text.encoded_text import EncodedText, SegmenterSizes, padded

SIZES = SegmenterSizes(characters=4, convolution=6, width=3, words=5, lstm=7)


def text(rng: np.random.Generator, length: int) -> EncodedText:
    first = np.flatnonzero(rng.random(length) < 0.5)
    first = np.union1d([0], first)
    last = np.append(first[1:] - 1, length - 1)
    numbers, categories = rng.integers(1, 20, length), rng.integers(1, 25, length)
    marks = np.zeros(length, np.bool_)
    return EncodedText(
        numbers, categories, first, last, rng.integers(0, 9, len(first)), marks, marks
    )


def test_scores_are_those_of_torch() -> None:
    rng = np.random.default_rng(4)
    torch.manual_seed(4)
    tagger = BoundaryTagger(20, 9, SIZES).eval()
    for parameter in tagger.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    graph = GraphTagger(20, 9, SIZES, tagger.tensors())
    texts = [text(rng, length) for length in (1, 30, 7)]
    batch = padded(texts)
    for k, (expected, found) in enumerate(
        zip(tagger.scores(batch), graph.scores(batch), strict=True)
    ):
        for row, one in enumerate(texts):
            n = len(one.characters) if k == 0 else len(one.first)
            assert np.allclose(found[row, :n], expected[row, :n], atol=1e-4)


def test_weights_must_fit() -> None:
    tensors = BoundaryTagger(20, 9, SIZES).tensors()
    with pytest.raises(HeadspanError, match=r"embedding\.weight has the shape"):
        GraphTagger(21, 9, SIZES, tensors)
    with pytest.raises(HeadspanError, match="more does not belong"):
        GraphTagger(20, 9, SIZES, {**tensors, "more": np.zeros(1, np.float32)})
    with pytest.raises(HeadspanError, match=r"token\.bias is missing"):
        GraphTagger(20, 9, SIZES, {k: t for k, t in tensors.items() if k != "token.bias"})
