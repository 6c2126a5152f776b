"""Sessions: threads, forks, and what is in the bytes of a graph."""

import multiprocessing
import pickle

import numpy as np
import onnx
import pytest

from headspan.plumbing import threads
from headspan.runtime.onnx_format import Graph
from headspan.runtime.session import Session


def doubling() -> Graph:
    graph = Graph("doubling")
    x = graph.input("x", "float32", "N")
    table = graph.constant("two", np.full((1 << 20) + 1, 2, np.float32))  # large: outside the bytes
    two = graph.add("Gather", table, graph.numbers(3))
    graph.output(graph.add("Mul", x, two), "y", "float32", "N")
    return graph


def run(session: Session) -> list[float]:
    found: list[float] = session.run({"x": np.array([1, 2], np.float32)})["y"].tolist()
    return found


def test_a_graph_runs_and_is_made_once_for_a_number_of_threads() -> None:
    made = []

    def make() -> Graph:
        made.append(threads.threads())
        return doubling()

    session = Session(make)
    before = threads._chosen
    try:
        for count in (1, 1, 2, 2, 1):
            threads.set_threads(count)
            assert run(session) == [2, 4]
        assert made == [1, 2, 1]
    finally:
        threads._chosen = before


def test_a_forked_process_runs_it_too() -> None:
    session = Session(doubling)
    before = threads._chosen
    threads.set_threads(2)
    try:
        assert run(session) == [2, 4]
        fork = multiprocessing.get_context("fork")
        answers = fork.Queue()
        child = fork.Process(target=lambda: answers.put(run(session)))
        child.start()
        assert answers.get(timeout=60) == [2, 4]
        child.join(timeout=60)
        assert child.exitcode == 0
    finally:
        threads._chosen = before


def test_a_session_can_be_pickled() -> None:
    session = Session(doubling)
    run(session)
    assert run(pickle.loads(pickle.dumps(session))) == [2, 4]


def test_threads_are_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_chosen", None)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert threads.threads() == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert threads.threads() == threads.usable_cores()
    monkeypatch.setenv("OMP_NUM_THREADS", "0")
    assert threads.threads() == 1


def test_bytes_are_those_that_onnx_reads() -> None:
    model = onnx.load_model_from_string(doubling().to_bytes())
    onnx.checker.check_model(model, full_check=True)
    assert model.graph.name == "doubling"
    assert [d.dim_param for d in model.graph.input[0].type.tensor_type.shape.dim] == ["N"]
    large, index = model.graph.initializer
    assert onnx.numpy_helper.to_array(index).tolist() == [3]
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
