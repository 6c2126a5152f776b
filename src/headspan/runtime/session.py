"""Graphs that run, with ONNX Runtime."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any
from weakref import WeakSet

from numpy.typing import NDArray

from headspan.plumbing.errors import HeadspanError, first_line, shown
from headspan.plumbing.threads import threads
from headspan.runtime.onnx_format import Graph

Arrays = dict[str, NDArray[Any]]
_ERRORS_ONLY = 3
_LARGE = 1 << 12  # bytes


class Session:
    """A graph, ready to run; may be shared among threads.

    What runs is made at the first run, again for another number of threads, and again in a forked
    process. `make` is called once at the start, so that it can raise HeadspanError.
    """

    def __init__(self, make: Callable[[], Graph]) -> None:
        self._make = make
        self._graph: Graph | None = make()
        self._start()

    def _start(self) -> None:
        self._ready: tuple[Any, int] = None, 0
        self._lock = Lock()
        _SESSIONS.add(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"_make": self._make, "_graph": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start()

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> Arrays:
        """The outputs by their names."""
        try:
            session, made_for = self._ready
            if made_for != threads():
                session = self._session()
            names = [output.name for output in session.get_outputs()]
            return dict(zip(names, session.run(names, inputs), strict=True))
        except HeadspanError:
            raise
        except Exception as error:  # ONNX Runtime has a dozen kinds
            reason = shown(first_line(error), 200)
            raise HeadspanError(f"the network cannot be computed: {reason}") from error

    def _session(self) -> Any:
        """What runs, made by one thread for all."""
        with self._lock:
            session, made_for = self._ready
            if made_for != (wanted := threads()):
                graph, self._graph = self._graph or self._make(), None
                session = _made(graph, wanted)
                self._ready = session, wanted
            return session

    def leave_to_parent(self) -> None:
        """In a forked process: keep what runs forever, and make it again when it is needed.

        Its threads were not copied, so deleting it, even at the end of the process, would wait for
        them forever.
        """
        if self._ready[0] is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._ready[0]))
        self._start()


_SESSIONS: WeakSet[Session] = WeakSet()


def _after_fork() -> None:
    for session in list(_SESSIONS):
        session.leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _made(graph: Graph, count: int) -> Any:
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # if it was imported before headspan

    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    options.intra_op_num_threads = count
    options.inter_op_num_threads = 1
    # threads that wait actively take the time of other processes
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # shapes differ from batch to batch, and an arena would keep memory for the largest
    options.enable_cpu_mem_arena = False
    # ONNX Runtime copies large constants when it makes a session: they must be there until then,
    # but not in the bytes of the graph as well
    large = {name: array for name, array in graph.constants.items() if array.nbytes >= _LARGE}
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in large.values()]
    options.add_external_initializers(list(large), values)
    return onnxruntime.InferenceSession(
        graph.to_bytes(outside=large), options, providers=["CPUExecutionProvider"]
    )
