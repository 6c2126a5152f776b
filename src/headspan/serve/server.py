"""Running the service: its socket, its signals, and a clean end."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from fastapi import FastAPI
from uvicorn.server import HANDLED_SIGNALS

from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import reason
from headspan.serve import logs
from headspan.serve.connection import limited
from headspan.serve.request_limits import Limits

_SWITCH = 0.0005
"""Seconds after which a thread that runs Python gives way to another. The parser's thread gives way
at every operation of torch, and would wait for Python's default of 5 ms before each of them."""


def run(
    app: FastAPI,
    *,
    host: str,
    port: int,
    ready: Callable[[str], None],
    limits: Limits | None = None,
    log_requests: bool = True,
) -> bool:
    """Serve until SIGINT or SIGTERM, then finish accepted requests; a second signal ends at once.

    ready: called with the address. limits: those of `create_app`. log_requests: whether requests
    that did not fail are logged, too. Returns whether all accepted requests were finished.
    Afterwards both signals are ignored, since the process is about to end.
    """
    logs.configure(requests=log_requests)
    sys.setswitchinterval(_SWITCH)
    listening = listen(host, port)
    server = Server(app, limits or Limits(), lambda: ready(_address(listening)))
    server.run(sockets=[listening])
    return server.finished


class Server(uvicorn.Server):
    """uvicorn with limits, which returns normally after a signal, and calls back when ready."""

    def __init__(
        self, app: FastAPI, limits: Limits, ready: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app, http=limited(limits), ws="none", log_config=None, access_log=False,
                server_header=False, proxy_headers=False,
            )
        )  # fmt: skip
        self.limits = limits
        self.ready = ready
        self.finished = True
        """Whether all accepted requests were finished."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        limit = asyncio.get_running_loop().call_later(self.limits.stopping, self._end)
        await super().shutdown(sockets)
        limit.cancel()

    def _end(self) -> None:
        """Drop the requests that are under way."""
        self.finished = not self.server_state.tasks
        self.force_exit = True
        for connection in list(self.server_state.connections):
            connection.transport.abort()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:
            asyncio.get_running_loop().call_soon_threadsafe(self._end)
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        for sig in HANDLED_SIGNALS:
            signal.signal(sig, self.handle_exit)
        try:
            yield
        finally:
            for sig in HANDLED_SIGNALS:
                signal.signal(sig, signal.SIG_IGN)


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket.

    Its protocol is given as TCP; otherwise asyncio would not switch off Nagle's algorithm, and
    every answer would wait 40 ms for an acknowledgement.
    """
    try:
        addresses = socket.getaddrinfo(
            host, port, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
        )
        family, kind, protocol, _, address = addresses[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(2048)
    except (OSError, OverflowError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise HeadspanError(f"{host}, port {port}: cannot listen: {why}") from error
    return listening


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
