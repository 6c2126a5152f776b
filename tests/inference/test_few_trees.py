"""The first trees of a process come from the recurrence, without Numba, and are the same."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from headspan.inference import NoTreeError, ScoresError, few_trees, split
from headspan.registries import STRUCTURES

WITH_ITEMS = [
    name for name, s in STRUCTURES.items() if s.compiled and s.items is not None and s.exponent == 3
]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch, compiled_loops_from_the_start: None) -> None:
    """No kernels are loaded, and there is time for some trees without them."""
    monkeypatch.setattr(few_trees, "_BUDGET", 60.0)
    monkeypatch.setattr(few_trees, "_spent", 0.0)
    for name in WITH_ITEMS:
        STRUCTURES[name].__dict__.pop("kernels", None)


@pytest.mark.parametrize("name", WITH_ITEMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.usefixtures("few")
def test_trees_spans_and_scores_are_those_of_the_kernels(name: str, dtype: Any, ties: bool) -> None:
    structure, rng = STRUCTURES[name], np.random.default_rng(1)
    for n in (1, 2, 5, 12):
        scores = [rng.normal(size=(3, *piece.shape(n))) for piece in structure.pieces]
        scores = [(part.round() if ties else part).astype(dtype) for part in scores]
        lengths = np.array([n, max(1, n - 1), 1])
        first = structure.best_tree(*scores, lengths=lengths)
        assert "kernels" not in structure.__dict__, "they were not to be loaded"
        compiled = structure.best_tree(*scores, lengths=lengths, backend="kernels")
        structure.__dict__.pop("kernels")
        np.testing.assert_array_equal(first.heads, compiled.heads)
        np.testing.assert_array_equal(first.spans, compiled.spans)
        np.testing.assert_array_equal(first.scores, compiled.scores)
        assert first.scores.dtype == compiled.scores.dtype == dtype


@pytest.mark.usefixtures("few")
def test_bad_scores_and_missing_trees_are_the_same_errors() -> None:
    zeros = np.zeros((2, 4, 4))
    bad, none = zeros.copy(), zeros.copy()
    bad[1, 2, 3], none[1, 0] = np.nan, -np.inf
    for arcs, kind in ((bad, ScoresError), (none, NoTreeError)):
        messages = []
        for backend in (None, "kernels"):
            split.__dict__.pop("kernels", None)
            with pytest.raises(kind) as raised:
                split.best_tree(arcs, zeros, zeros, backend=backend)
            messages.append(str(raised.value))
        assert messages[0] == messages[1]


def test_after_many_trees_the_kernels_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few_trees, "_BUDGET", 0.02)
    monkeypatch.setattr(few_trees, "_spent", 0.0)
    answers = [few_trees.are_few(np.array([20])) for _ in range(20)]
    assert answers[0]
    assert not answers[-1]
    assert answers == sorted(answers, reverse=True), "once they are not few, they stay many"
    assert not few_trees.are_few(np.array([1000]))


def test_parsing_a_sentence_loads_no_numba() -> None:
    code = (
        "import sys, headspan\n"
        "parser = headspan.load('en-fast')\n"
        "print(parser('Dogs bark.').to_conllu().count('\\t'), 'numba' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["27", "False"]
