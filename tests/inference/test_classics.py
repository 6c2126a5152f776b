"""The classical algorithms agree with Eisner's, with ours and with the enumeration."""

import numpy as np
import pytest

from headspan.inference import arc, headed_span

from . import classics
from .brute_force import all_trees, arc_score

ON_ARCS = [classics.collins, classics.eisner_satta, classics.head_split, classics.eisner]


@pytest.mark.parametrize("algorithm", ON_ARCS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 9])
def test_all_find_the_same_best_score(algorithm: object, n: int) -> None:
    rng = np.random.default_rng(n)
    for scores in (rng.normal(size=(n + 1, n + 1)), rng.integers(-1, 2, size=(n + 1, n + 1)) * 1.0):
        found = algorithm(scores)  # type: ignore[operator]
        assert found == pytest.approx(float(arc.best_tree(scores).scores))
        if n <= 6:
            assert found == pytest.approx(max(arc_score(scores, tree) for tree in all_trees(n)))


@pytest.mark.parametrize("n", [1, 2, 3, 8, 13])
def test_the_papers_figure_2(n: int) -> None:
    scores = np.random.default_rng(n).normal(size=(n + 1, n + 1, n + 1))
    ours = float(headed_span.best_tree(scores).scores)
    assert classics.headed_spans(scores) == pytest.approx(ours)
