"""The middleware around every route: headers, in and out, HEAD, and a log line per request."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headspan.serve.logs import log

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_ANY = frozenset({"0.0.0.0", "::", ""})  # noqa: S104
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


_HOST = re.compile(r"(?:\[(?P<ipv6>[0-9a-f.]*:[0-9a-f.:]*)\]|(?P<name>[^\[\]:]+))(?::\d*)?")


def hosts_of(host: str) -> frozenset[str] | None:
    """The Host names allowed for a service bound to this address; None for any."""
    return None if host in _ANY else LOOPBACK | {host.lower()}


class Guard:
    """Middleware that checks and adds headers, answers HEAD, logs requests and hides failures.

    hosts: the allowed names, or None for any. A page of another site whose name was made to point
    here (DNS rebinding) sends that name, and is refused. HEAD is answered as GET, without the body.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Iterable[str] | None,
        shared: bool = False,
        most_headers: int = 100,
    ) -> None:
        self.app = app
        self.most_headers = most_headers
        self.hosts = None if hosts is None else frozenset(hosts)
        self.headers = dict(_HEADERS)
        if shared:  # other origins are allowed
            self.headers["Cross-Origin-Resource-Policy"] = "cross-origin"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        status = 0
        method = scope["method"]
        if method == "HEAD":
            scope = {**scope, "method": "GET"}

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
            elif method == "HEAD":
                message = {**message, "body": b""}
            await send(message)

        failure: Exception | None = None
        try:
            refusal = self._refusal(scope)
            await (refusal or self.app)(scope, receive, send_guarded)
        except Exception as error:
            failure = error
            if not status:
                detail = "the service failed; its log says where"
                await JSONResponse({"detail": detail}, 500)(scope, receive, send_guarded)
        route = scope.get("route")
        log(
            "request",
            level=logging.ERROR if failure else logging.INFO,
            error=failure,
            method=method,
            path=getattr(route, "path", None),
            status=status,
            seconds=round(time.perf_counter() - start, 4),
            **scope.get("state", {}).get("counts", {}),
        )

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        """The answer to a request whose headers are not as they should be."""
        if len(scope["headers"]) > self.most_headers:
            detail = f"the request has more than {self.most_headers:,} headers"
            return JSONResponse({"detail": detail}, 431)
        if not self._allowed(Headers(scope=scope).get("host", "")):
            return JSONResponse({"detail": "the service does not answer to this Host name"}, 421)
        return None

    def _allowed(self, host: str) -> bool:
        if self.hosts is None:
            return True
        match = _HOST.fullmatch(host.lower())
        return match is not None and (match["ipv6"] or match["name"]) in self.hosts
