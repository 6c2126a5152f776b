"""Graphs that run, with ONNX Runtime."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray

from headspan.plumbing.threads import threads
from headspan.runtime.onnx_format import Graph

Arrays = dict[str, NDArray[Any]]
_ERRORS_ONLY = 3


class Session:
    """A graph, ready to run; may be shared among threads.

    It is made again for another number of threads, and in a forked process, which has no threads
    but one and would wait forever for the others.
    """

    def __init__(self, make: Callable[[], Graph]) -> None:
        self._make = make
        self._made_for = _circumstances()
        self._session = _session(make())

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> Arrays:
        """The outputs by their names."""
        if self._made_for != _circumstances():
            self._session, self._made_for = _session(self._make()), _circumstances()
        session = self._session
        names = [output.name for output in session.get_outputs()]
        return dict(zip(names, session.run(names, inputs), strict=True))


def _circumstances() -> tuple[int, int]:
    return os.getpid(), threads()


def _session(graph: Graph) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    options.intra_op_num_threads = threads()
    options.inter_op_num_threads = 1
    # threads that wait actively take the time of other processes
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # shapes differ from batch to batch, and an arena would keep memory for the largest
    options.enable_cpu_mem_arena = False
    return onnxruntime.InferenceSession(
        graph.to_bytes(), options, providers=["CPUExecutionProvider"]
    )
