"""A connection of a client: uvicorn's, with limits on time, and on the number of connections."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from headspan.serve.request_limits import Limits


class Connection(H11Protocol):
    """uvicorn's connection, which ends if its client takes too long.

    The client must send the headers of a request within `limits.idle` seconds, counted from the
    beginning or from the last answer, and take an answer within `limits.sending` seconds. How long
    the body of a request may take is up to the app. If there are too many connections, the one that
    has been waiting the longest for a request to arrive is closed in favour of a new one.
    """

    limits: Limits

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._waiting_since = self.loop.time()
        self._idle: asyncio.TimerHandle | None = None
        self._sending: asyncio.TimerHandle | None = None

    @property
    def arriving(self) -> bool:
        """Whether there is no request, or one whose body has not arrived in full."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; from now on the transport says when it has unsent bytes, and when it has none."""
        if len(self.connections) >= self.limits.connections:
            longest = _longest_waiting(self.connections)
            self.connections.discard(longest)  # at once: others may be coming, too
            longest.transport.abort()
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._cancel_timers()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Go on with a request; if its headers are complete, the connection is not idle."""
        super().data_received(data)
        if self._idle and self.cycle is not None and not self.cycle.response_complete:
            self._idle.cancel()
            self._idle = None

    def on_response_complete(self) -> None:
        """Wait for the next request, unless it is there already."""
        super().on_response_complete()
        if self.cycle.response_complete and not self.transport.is_closing():
            self._expect_request()

    def pause_writing(self) -> None:
        """Give the client some time to take the bytes that could not be sent at once."""
        super().pause_writing()
        if self._sending is None:
            self._sending = self.loop.call_later(self.limits.sending, self.transport.abort)

    def resume_writing(self) -> None:
        """All bytes have been sent."""
        super().resume_writing()
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, in the form of all refusals."""
        body = json.dumps({"detail": msg}).encode()
        headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            ("Connection", "close"),
        ]
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _expect_request(self) -> None:
        self._waiting_since = self.loop.time()
        if self._idle is not None:
            self._idle.cancel()
        self._idle = self.loop.call_later(self.limits.idle, self.transport.abort)

    def _cancel_timers(self) -> None:
        for timer in (self._idle, self._sending):
            if timer is not None:
                timer.cancel()
        self._idle = self._sending = None


def _longest_waiting(connections: Any) -> Connection:
    """The connection to close first: of those with no request or half of one, the oldest."""
    oldest: Connection = min(connections, key=lambda one: (not one.arriving, one._waiting_since))
    return oldest


def limited(limits: Limits) -> type[Connection]:
    """The class of connections with these limits, for uvicorn."""
    return type("LimitedConnection", (Connection,), {"limits": limits})
