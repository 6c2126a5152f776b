"""The service on a real socket."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import FastAPI

from headspan.serve import Limits
from headspan.serve.server import Server, listen


@contextmanager
def serving(app: FastAPI, limits: Limits | None = None) -> Iterator[str]:
    """Serve in a thread on a free port, and yield the address. limits: those of connections."""
    with listen("127.0.0.1", 0) as listening:
        server = Server(app, limits or Limits())
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        wait_until(lambda: server.started)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(60)
            assert not thread.is_alive()


def wait_until(condition, seconds: float = 60) -> None:  # type: ignore[no-untyped-def]
    """Wait until another thread has made a condition true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)
