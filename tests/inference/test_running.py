"""How the code runs: lazily, in threads, after a fork, and without a cache."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numba
import numpy as np
import pytest
import torch
from numba.core.dispatcher import Dispatcher

from headspan import HeadspanError
from headspan.inference import ScoresError, arc, headed_span, joint
from headspan.inference.simd import rows
from headspan.inference.simd.compile import Kernel, array
from headspan.inference.threads import over_sentences

from .brute_force import all_trees, spans_of


def _python(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment or None
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_is_light() -> None:
    code = (
        "import sys; from headspan.inference import headed_span, arc, joint, Constraints; "
        "print([name for name in ('numba', 'llvmlite', 'torch', 'scipy') if name in sys.modules])"
    )
    assert _python(code) == "[]"


def test_arrays_do_not_need_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import numpy as np; from headspan.inference import headed_span\n"
        "print(headed_span.best_tree(np.zeros((3, 3, 3))).heads.tolist())"
    )
    assert _python(code) == "[0, 1]"


def test_without_a_writable_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("cannot cache function 'f': no locator available for file 'g'")

    monkeypatch.setattr(Dispatcher, "enable_caching", refuse)
    lazy = Kernel(lambda x: x + 1, lambda number: number(number))
    assert lazy[np.float64](1.0) == 2.0

    def fail(*_: object) -> None:
        raise RuntimeError("something else")

    monkeypatch.setattr(Dispatcher, "enable_caching", fail)
    with pytest.raises(RuntimeError, match="something else"):
        Kernel(lambda x: x, lambda number: number(number))[np.float32]


KERNEL = """
import numpy as np
from headspan.inference.simd.compile import Kernel

def plus_one(x):
    return x + 1

if __name__ == "__main__":
    print(Kernel(plus_one, lambda number: number(number))[np.float64](1.0))
"""


def test_a_cache_that_others_can_write_to_is_not_used(tmp_path: Path) -> None:
    """A pickle planted in a cache is run if the folder is private, and not if it is open to all."""
    (tmp_path / "plus.py").write_text(KERNEL, encoding="utf-8")
    for folder in ("cache", "home"):
        (tmp_path / folder).mkdir(mode=0o700)
    environment = {
        **os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path / "home"),
        "XDG_CACHE_HOME": str(tmp_path / "home" / "cache"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }  # fmt: skip
    run = f"import runpy; runpy.run_path({str(tmp_path / 'plus.py')!r}, run_name='__main__')"
    assert _python(run, **environment) == "2.0"
    (index,) = (tmp_path / "cache").rglob("*.nbi")
    assert not list((tmp_path / "home").rglob("*.nbi"))
    mark = tmp_path / "mark"
    index.write_bytes(b"cbuiltins\nopen\n(V" + str(mark).encode() + b"\nVw\ntR.")
    index.parent.chmod(0o777)
    assert _python(run, **environment) == "2.0"
    assert not mark.exists()
    assert list((tmp_path / "home").rglob("*.nbi"))  # the user's own cache stands in for it
    (tmp_path / "home").chmod(0o777)
    assert _python(run, **environment) == "2.0"
    index.parent.chmod(0o700)
    subprocess.run([sys.executable, "-c", run], env=environment, capture_output=True)
    assert mark.exists()  # or this test would show nothing


@pytest.mark.parametrize(
    ("operation", "tolerance"), [(rows.exp_sum, 1e-15), (rows.single_exp_sum, 2e-6)]
)
def test_exp_is_accurate(operation: object, tolerance: float) -> None:
    doubles = array(numba.float64, 1)

    @numba.njit(numba.float64(doubles, doubles, numba.float64, numba.int64))
    def run(out, x, c, count):  # type: ignore[no-untyped-def]
        return operation(out, 0, x, 0, c, count)  # type: ignore[operator]

    x = np.concatenate([-np.linspace(0, 30, 1000), [-80.0, -1e4, -np.inf]])
    out = np.full(len(x) + rows.PAD, 7.0)
    total = run(out, np.concatenate([x, np.zeros(rows.PAD)]), 0.0, len(x))
    np.testing.assert_allclose(out[: len(x) - 3], np.exp(x[:-3]), rtol=tolerance)
    assert total == pytest.approx(np.exp(x).sum(), rel=tolerance)
    assert out[len(x) - 2] == out[len(x) - 1] == 0
    assert out[len(x)] == 0


def test_threads_give_the_same() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(40, 31, 31, 31)).astype(np.float32)
    lengths = rng.integers(1, 31, size=40)
    one = headed_span.best_tree(scores, lengths=lengths, threads=1)
    two = headed_span.best_tree(scores, lengths=lengths, threads=2)
    np.testing.assert_array_equal(one.heads, two.heads)
    first = headed_span.marginals(scores, lengths=lengths, threads=1)
    second = headed_span.marginals(scores, lengths=lengths, threads=3)
    np.testing.assert_array_equal(first.spans, second.spans)
    np.testing.assert_array_equal(first.arcs, second.arcs)


def test_every_sentence_is_visited_once() -> None:
    lengths = np.arange(1, 50)
    seen: list[int] = []
    lock = threading.Lock()

    def run(order: np.ndarray) -> None:
        with lock:
            seen.extend(order.tolist())

    over_sentences(run, lengths, 3)
    assert sorted(seen) == list(range(49))


FORKED = """
import os, signal
import numpy as np
from headspan.inference import headed_span

def best():
    return headed_span.best_tree(np.zeros((8, 21, 21, 21), np.float32), threads=2).heads[0].tolist()

expected = best()  # and the threads are there before the fork
if (child := os.fork()) == 0:
    signal.alarm(60)
    os._exit(best() != expected)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_threads_of_its_own() -> None:
    assert _python(FORKED) == "0"


def test_read_only_and_foreign_arrays() -> None:
    scores = np.random.default_rng(0).normal(size=(1, 6, 6, 6))
    plain = headed_span.best_tree(scores)
    frozen = scores.copy()
    frozen.flags.writeable = False
    swapped = scores.astype(scores.dtype.newbyteorder())
    shared = np.broadcast_to(scores, (3, 6, 6, 6))
    backwards = np.ascontiguousarray(scores[..., ::-1])[..., ::-1]
    for other in (frozen, swapped, shared, backwards):
        np.testing.assert_array_equal(headed_span.best_tree(other).heads[0], plain.heads[0])


def test_results_live_where_the_scores_do() -> None:
    scores = torch.zeros(2, 4, 4, 4)
    found = headed_span.best_tree(scores)
    assert isinstance(found.heads, torch.Tensor)
    assert found.scores.dtype == torch.float32
    assert isinstance(headed_span.k_best(scores, 3).heads, torch.Tensor)
    assert isinstance(arc.sample(torch.zeros(3, 3), 5, seed=0).heads, torch.Tensor)
    assert isinstance(headed_span.best_tree(scores.numpy()).heads, np.ndarray)


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        (np.zeros((3, 3)), {}, "must have the shape"),
        (np.zeros((4, 3, 4)), {}, "must have the shape"),
        (np.zeros((3, 3, 3), int), {}, "float32 or float64"),
        ([1.0], {}, "NumPy array or a tensor"),
        (np.zeros((1, 1, 1)), {}, "no room"),
        (np.zeros((2, 4, 4, 4)), {"lengths": [1]}, "lengths must be"),
        (np.zeros((2, 4, 4, 4)), {"lengths": [1.0, 2.0]}, "lengths must be"),
        (np.zeros((2, 4, 4, 4)), {"lengths": [1, 4]}, "length 4 of sentence 1"),
        (np.zeros((2, 4, 4, 4)), {"lengths": [0, 2]}, "length 0 of sentence 0"),
        (np.zeros((4, 4, 4)), {"backend": "abacus"}, "no backend"),
    ],
)
def test_wrong_input_is_explained(scores: object, options: dict, message: str) -> None:
    with pytest.raises(ScoresError, match=message) as caught:
        headed_span.best_tree(scores, **options)
    assert isinstance(caught.value, HeadspanError)


def test_wrong_requests_are_explained() -> None:
    scores = np.zeros((4, 4, 4))
    with pytest.raises(ScoresError, match="the 0 best"):
        headed_span.k_best(scores, 0)
    with pytest.raises(ScoresError, match="0 samples"):
        headed_span.sample(scores, 0, seed=1)
    lists = headed_span.k_best(scores[None], 9)
    assert lists.counts[0] == 7
    with pytest.raises(IndexError, match="7 trees"):
        lists.tree(0, 7)


def test_arrays_give_arrays_on_every_backend() -> None:
    scores = np.zeros((2, 4, 4, 4), np.float32)
    trees = headed_span.best_tree(scores, backend="batched")
    marginals = headed_span.marginals(scores, backend="batched")
    results = [trees.heads, trees.spans, trees.scores, marginals.spans, marginals.arcs]
    results += [marginals.roots, marginals.log_partition, headed_span.entropy(scores)]
    results.append(headed_span.log_partition(scores, backend="batched"))
    assert all(isinstance(result, np.ndarray) for result in results)


def test_one_argument_may_follow_the_scores() -> None:
    scores = np.random.default_rng(0).normal(size=(4, 4, 4))
    gold = headed_span.best_tree(-scores).heads
    by_place = headed_span.cost_augmented_tree(scores, gold)
    assert by_place.scores == headed_span.cost_augmented_tree(scores, gold=gold).scores
    with pytest.raises(TypeError, match="takes gold after the scores"):
        headed_span.cost_augmented_tree(scores, gold, 5.0)
    with pytest.raises(TypeError, match="takes count after the scores"):
        headed_span.sample(scores, 3, 1)


def test_costs_are_one_number_or_one_per_piece() -> None:
    spans, arcs = np.zeros((4, 4, 4)), np.zeros((4, 4))
    gold = [0, 1, 2]
    assert (
        headed_span.cost_augmented_tree(spans, gold, cost=np.float32(2)).scores == 6
    )  # all three are wrong
    apart = joint.cost_augmented_tree(spans, arcs, gold, cost=(1.0, 10.0))
    assert apart.scores == max(
        10 * sum(a != b for a, b in zip(tree, gold, strict=True))
        + sum(a != b for a, b in zip(spans_of(tree), spans_of((0, 1, 2)), strict=True))
        for tree in all_trees(3)
    )
    with pytest.raises(ScoresError, match="one per piece, found 2"):
        headed_span.cost_augmented_tree(spans, gold, cost=(1.0, 2.0))


def test_no_marginals_are_made_without_a_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = torch.zeros(1, 4, 4, requires_grad=True)
    monkeypatch.setattr("headspan.inference.differentiation.LogPartition", None)
    with torch.no_grad():
        assert float(arc.log_partition(scores)) == pytest.approx(np.log(7))


def test_an_empty_batch() -> None:
    found = headed_span.best_tree(np.zeros((0, 4, 4, 4)))
    assert found.heads.shape == (0, 3)
    assert headed_span.log_partition(np.zeros((0, 4, 4, 4))).shape == (0,)
