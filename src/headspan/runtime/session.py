"""Graphs that run, with ONNX Runtime."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray

from headspan.plumbing.threads import threads
from headspan.runtime.onnx_format import Graph

Arrays = dict[str, NDArray[Any]]
_ERRORS_ONLY = 3
_LARGE = 1 << 22  # bytes


class Session:
    """A graph, ready to run; may be shared among threads.

    It is made when it is first run; again for another number of threads; and again in a forked
    process, which has no threads but one and would wait forever for the others.
    """

    def __init__(self, make: Callable[[], Graph]) -> None:
        self._make = make
        self._ready: tuple[Any, tuple[int, int] | None] = None, None

    def __getstate__(self) -> dict[str, Any]:
        return {"_make": self._make, "_ready": (None, None)}

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> Arrays:
        """The outputs by their names."""
        session, made_for = self._ready
        now = os.getpid(), threads()
        if made_for != now:
            if made_for and made_for[0] != now[0]:
                _keep_forever(session)
            session = _session(self._make())
            self._ready = session, now
        names = [output.name for output in session.get_outputs()]
        return dict(zip(names, session.run(names, inputs), strict=True))


def _keep_forever(session: Any) -> None:
    """Never delete a session of the process that this one was forked from.

    Deleting it would wait for its threads, which were not copied.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(session))


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
    # tables are used as they are: no copies
    tables = {name: array for name, array in graph.constants.items() if array.nbytes >= _LARGE}
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in tables.values()]
    options.add_external_initializers(list(tables), values)
    return onnxruntime.InferenceSession(
        graph.to_bytes(outside=tables), options, providers=["CPUExecutionProvider"]
    )
