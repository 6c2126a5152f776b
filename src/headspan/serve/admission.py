"""The middleware that counts requests from their arrival until their answers have been sent."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headspan.serve.request_limits import busy

PARSE = "/parse"


class Admission:
    """Middleware that lets so many requests to PARSE be parsed and answered at the same time.

    A request that is still arriving does not count, so that slow uploads keep nobody out. One whose
    answer has not been sent does, since the answer takes memory.
    """

    def __init__(self, app: ASGIApp, *, limit: int) -> None:
        self.app = app
        self.limit = limit
        self._admitted = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"] != PARSE:
            await self.app(scope, receive, send)
            return
        admitted = False

        async def receive_counted() -> Message:
            nonlocal admitted
            message = await receive()
            arrived = message["type"] == "http.request" and not message.get("more_body", False)
            if arrived and not admitted:
                if self._admitted >= self.limit:
                    raise busy("too many requests are under way already; try again in 1 s", 1)
                self._admitted += 1
                admitted = True
            return message

        async def send_all(message: Message) -> None:
            """Send a message, and return when the server has passed it on.

            A server may keep the last message in memory; before it takes another one, it waits
            until the client has taken most of what came before.
            """
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                await send({**message, "more_body": True})
                message = {"type": "http.response.body", "body": b"", "more_body": False}
            await send(message)

        try:
            await self.app(scope, receive_counted, send_all)
        finally:
            self._admitted -= admitted
