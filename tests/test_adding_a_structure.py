"""A new structure and a new loss take a few lines, and nothing else has to be touched.

docs/architecture.md shows the same lines to newcomers.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from headspan import HeadspanError, Sentence, conllu
from headspan.config import Config, from_table
from headspan.inference import Constraints, ScoresError, Structure
from headspan.inference.pieces import ARC
from headspan.registries import LOSSES, STRUCTURES
from headspan.training import train
from inference.brute_force import all_trees, arc_score


class HeadInitial(Structure):
    """Trees in which every head stands before its dependents: H(i,j) has head i, words i … j."""

    pieces = (ARC,)
    all_trees = False

    def inside(self, algebra, lengths, arcs):  # type: ignore[no-untyped-def]
        size, side = arcs.shape[:2]
        chart, words = algebra.chart(size, side, side), algebra.range(1, side)
        chart[:, words, words] = 0.0
        for width in range(1, side - 1):
            i = algebra.range(1, side - width)[:, None]
            k = i + 1 + algebra.range(0, width)  # the last dependent of i
            terms = chart[:, i, k - 1] + arcs[:, i, k] + chart[:, k, i + width]
            chart[:, i[:, 0], i[:, 0] + width] = algebra.sum(terms)
        rows = algebra.range(0, size)
        return SimpleNamespace(total=chart[rows, 1, algebra.index(lengths)] + arcs[:, 0, 1])


@pytest.fixture
def structure() -> Iterator[Structure]:
    STRUCTURES.register("head-initial", HeadInitial())
    yield STRUCTURES["head-initial"]
    STRUCTURES.unregister("head-initial")


def perceptron(scores, heads, spans):  # type: ignore[no-untyped-def]
    """max over y' of s(y') − s(y): max-margin without a margin."""
    parts, lengths = scores.dense(), scores.lengths
    best = scores.best().heads
    values = (
        scores.structure.tree_score(*parts, heads=tree, lengths=lengths) for tree in (best, heads)
    )
    higher, lower = values
    return (higher - lower).sum()


@pytest.fixture
def loss() -> Iterator[str]:
    LOSSES.register("perceptron", perceptron)
    yield "perceptron"
    LOSSES.unregister("perceptron")


def head_initial_trees(n: int) -> list[tuple[int, ...]]:
    return [tree for tree in all_trees(n) if all(h < d for d, h in enumerate(tree, 1))]


def test_all_that_follows_from_its_recurrence(structure: Structure) -> None:
    n = 5
    scores = np.random.default_rng(0).normal(size=(n + 1, n + 1))
    trees = head_initial_trees(n)
    assert len(trees) == 14  # the fifth number of Catalan
    values = np.array([arc_score(scores, tree) for tree in trees])
    best = structure.best_tree(scores)
    assert tuple(best.heads) == trees[values.argmax()]
    assert best.scores == pytest.approx(values.max())
    log_z = np.log(np.exp(values).sum())
    assert structure.log_partition(scores) == pytest.approx(log_z)
    p = np.exp(values - log_z)
    marginals = structure.marginals(scores).arcs
    for h in range(n + 1):
        for d in range(1, n + 1):
            expected = sum(q for q, tree in zip(p, trees, strict=True) if tree[d - 1] == h)
            assert marginals[h, d] == pytest.approx(expected, abs=1e-9)
    assert structure.entropy(scores) == pytest.approx(-(p * np.log(p)).sum())
    gold = trees[3]
    costs = [sum(a != b for a, b in zip(tree, gold, strict=True)) for tree in trees]
    assert structure.cost_augmented_tree(scores, gold).scores == pytest.approx(
        (values + costs).max()
    )
    assert structure.log_probability(scores, gold) == pytest.approx(np.log(p[3]))
    assert isinstance(best.heads, np.ndarray)
    assert isinstance(marginals, np.ndarray)
    rooted = structure.best_tree(scores, constraints=Constraints(required_arcs=[(1, 5)]))
    assert rooted.heads[4] == 1
    with pytest.raises(ScoresError, match="HeadInitial cannot express constraints on spans: "):
        structure.best_tree(scores, constraints=Constraints(brackets=[(1, 3)]))
    with pytest.raises(ScoresError, match="HeadInitial has no items"):
        structure.k_best(scores, 2)
    with pytest.raises(ScoresError, match="HeadInitial has no kernels"):
        structure.best_tree(scores, backend="kernels")


def settings(folder: Path, **model: object) -> Config:
    table = {
        "data": {"train": str(folder / "all.conllu"), "dev": str(folder / "all.conllu")},
        "model": {
            "lstm_layers": 1, "lstm_size": 16, "score_size": 16, "label_size": 8, "dropout": 0.0,
            "embeddings": {"words": 16, "min_count": 1}, **model,
        },
        "training": {"epochs": 30, "batch_tokens": 100, "learning_rate": 0.01},
    }  # fmt: skip
    return from_table(Config, table, "a test")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    trees = [("sit down there please", (0, 1, 1, 1)), ("go and see it", (0, 1, 2, 3))]
    sentences = [
        Sentence.from_words(words.split(), heads=heads, deprels=["root", "a", "b", "c"])
        for words, heads in trees
    ]
    conllu.write(sentences, tmp_path / "all.conllu")
    return tmp_path


@pytest.mark.parametrize("name", ["max-margin", "local", "crf"])
def test_a_parser_learns_it_from_the_name_alone(
    structure: Structure, name: str, folder: Path
) -> None:
    torch.manual_seed(0)
    parser = train(settings(folder, structure="head-initial", loss=name), folder / "run")
    gold = list(conllu.read(folder / "all.conllu"))
    for parse, sentence in zip(parser.parse(gold, confidence=True), gold, strict=True):
        assert parse.heads == sentence.heads
        assert min(parse.confidences) > 0.5


def test_a_parser_learns_by_a_new_loss(loss: str, folder: Path) -> None:
    torch.manual_seed(0)
    parser = train(settings(folder, structure="arc", loss=loss), folder / "run")
    gold = list(conllu.read(folder / "all.conllu"))
    assert [parse.heads for parse in parser.parse(gold)] == [s.heads for s in gold]


def test_names_that_are_not_registered_are_listed(folder: Path) -> None:
    with pytest.raises(HeadspanError, match="structure is 'head-initial'; expected one of span"):
        settings(folder, structure="head-initial")
    with pytest.raises(HeadspanError, match="unknown loss 'none'; expected one of max-margin"):
        LOSSES["none"]


def test_the_documented_structure_is_the_one_that_is_tested() -> None:
    page = Path(__file__).parent.parent / "docs" / "architecture.md"
    source = inspect.getsource(HeadInitial).replace("  # type: ignore[no-untyped-def]", "")
    assert source in page.read_text(encoding="utf-8")
