"""Running the service: its socket, its signals, and a clean end."""

from __future__ import annotations

import socket
from collections.abc import Callable
from types import FrameType

import uvicorn
from fastapi import FastAPI

from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import reason
from headspan.serve import logs


def run(app: FastAPI, *, host: str, port: int, ready: Callable[[str], None]) -> bool:
    """Serve until SIGINT or SIGTERM, then finish accepted requests; a second signal ends at once.

    ready: called with the address. Returns whether all accepted requests were finished.
    """
    logs.configure()
    listening = listen(host, port)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, proxy_headers=False, ws="none"
    )
    server = _Server(config, lambda: ready(_address(listening)))
    server.run(sockets=[listening])
    return not server.force_exit


class _Server(uvicorn.Server):
    """uvicorn, but it returns normally after a signal, and calls back when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True


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
