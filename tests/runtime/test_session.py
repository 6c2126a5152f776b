"""Sessions: threads, forks, and what is in the bytes of a graph."""

import multiprocessing
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import pytest
import torch

from conftest import ROOT
from headspan.plumbing import threads
from headspan.plumbing.errors import HeadspanError
from headspan.runtime import session as sessions
from headspan.runtime.onnx_format import Graph
from headspan.runtime.session import Session


@pytest.fixture(autouse=True)
def same_threads_afterwards(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = torch.get_num_threads()
    monkeypatch.setattr(threads, "_chosen", threads._chosen)
    yield
    torch.set_num_threads(before)


def doubling() -> Graph:
    graph = Graph("doubling")
    x, k = graph.input("x", "float32", "N"), graph.input("k", "int64", 1)
    table = graph.constant("two", np.full((1 << 20) + 1, 2, np.float32))  # large: outside the bytes
    graph.output(graph.add("Mul", x, graph.add("Gather", table, k)), "y", "float32", "N")
    return graph


def run(session: Session) -> list[float]:
    inputs = {"x": np.array([1, 2], np.float32), "k": np.array([3])}
    found: list[float] = session.run(inputs)["y"].tolist()
    return found


def test_a_graph_runs_and_is_made_once_for_a_number_of_threads() -> None:
    made = []

    def make() -> Graph:
        made.append(threads.threads())
        return doubling()

    threads.set_threads(1)
    session = Session(make)
    for count in (1, 1, 2, 2, 1):
        threads.set_threads(count)
        assert run(session) == [2, 4]
    assert made == [1, 2, 1]


def test_threads_that_come_first_at_once_make_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    real = sessions._made
    monkeypatch.setattr(sessions, "_made", lambda *of: made.append(1) or real(*of))
    session = Session(doubling)
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(run, [session] * 12)) == [[2, 4]] * 12
    assert made == [1]


def test_a_forked_process_runs_it_too() -> None:
    threads.set_threads(2)
    session = Session(doubling)
    assert run(session) == [2, 4]
    fork = multiprocessing.get_context("fork")
    answers = fork.Queue()
    child = fork.Process(target=lambda: answers.put(run(session)))
    child.start()
    assert answers.get(timeout=60) == [2, 4]
    child.join(timeout=60)
    assert child.exitcode == 0


FORKING = """
import os, sys
sys.path.insert(0, "tests")
from runtime.test_session import doubling, run
from headspan.plumbing.threads import set_threads
from headspan.runtime.session import Session
set_threads(2)
session = Session(doubling)
run(session)
if not os.fork():
    {in_child}
    sys.exit(0)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


@pytest.mark.parametrize("in_child", ["pass", "del session", "session = Session(doubling)"])
def test_a_forked_process_can_drop_it_and_end(in_child: str) -> None:
    """Deleting a session waits for its threads, which a fork does not copy."""
    done = subprocess.run(
        [sys.executable, "-c", FORKING.format(in_child=in_child)],
        cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("0\n", 0), done.stderr


def test_a_session_can_be_pickled() -> None:
    session = Session(doubling)
    run(session)
    assert run(pickle.loads(pickle.dumps(session))) == [2, 4]


def test_what_cannot_be_computed_is_an_error_in_one_line() -> None:
    with pytest.raises(HeadspanError, match="the network cannot be computed: ") as caught:
        Session(doubling).run({"x": np.zeros((2, 2, 2), np.float32), "k": np.array([3])})
    assert "\n" not in str(caught.value)


def test_threads_are_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_chosen", None)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert threads.threads() == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert threads.threads() == threads.usable_cores()
    monkeypatch.setenv("OMP_NUM_THREADS", "0")
    assert threads.threads() == 1


def test_threads_that_are_set_before_torch_is_there_hold_for_it() -> None:
    code = (
        "from headspan.plumbing.threads import set_threads\nset_threads(3)\n"
        "import headspan.nn, torch\nprint(torch.get_num_threads())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "3\n"


def test_bytes_are_those_that_onnx_reads() -> None:
    model = onnx.load_model_from_string(doubling().to_bytes())
    onnx.checker.check_model(model, full_check=True)
    assert model.graph.name == "doubling"
    assert [d.dim_param for d in model.graph.input[0].type.tensor_type.shape.dim] == ["N"]
    (large,) = model.graph.initializer
    assert onnx.numpy_helper.to_array(large).sum() == 2 * ((1 << 20) + 1)
    outside = onnx.load_model_from_string(doubling().to_bytes(outside=["two"]))
    assert outside.graph.initializer[0].external_data[0].value == "two"
    assert not outside.graph.initializer[0].raw_data


def test_attributes_of_every_kind() -> None:
    graph = Graph("attributes")
    x = graph.input("x", "float32", 2, 3)
    y = graph.add("LeakyRelu", graph.add("Transpose", x, perm=[1, 0]), alpha=0.25)
    graph.output(graph.add("Concat", y, y, axis=-1), "y", "float32", 3, 4)
    found = Session(lambda: graph).run({"x": np.array([[1, -4, 2], [3, 8, -8]], np.float32)})["y"]
    assert found.tolist() == [[1, 3, 1, 3], [-1, 8, -1, 8], [2, -2, 2, -2]]


def test_onnx_runtime_reports_to_nobody() -> None:
    """It has a thread for that, unless it is told not to."""
    code = """
import os, sys
sys.path.insert(0, "tests")
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy
from headspan.plumbing.threads import set_threads
from headspan.runtime.onnx_format import Graph
from headspan.runtime.session import Session
set_threads(1)
graph = Graph("same")
graph.output(graph.input("x", "float32", "N"), "y", "float32", "N")
print(Session(lambda: graph).run({"x": numpy.ones(1, "float32")})["y"].tolist())
print(len(os.listdir("/proc/self/task")))
"""
    environment = {k: v for k, v in os.environ.items() if "TELEMETRY" not in k and k != "CI"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT, capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    assert done.stdout == "[1.0]\n1\n"
