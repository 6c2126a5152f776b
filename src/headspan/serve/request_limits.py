"""The limits of the service, and the refusals of requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import IntEnum

from starlette.exceptions import HTTPException

from headspan.plumbing.errors import HeadspanError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one request, and of all requests together."""

    body: int = 4 << 20
    """Bytes per request."""
    words: int = 20_000
    """Words per request, as its work is counted."""
    sentence: int = 200
    """Words per sentence; the work for its confidences is cubic in them."""
    subwords: int = 600
    """Subwords per sentence."""
    word: int = 500
    """Characters per word."""
    run: int = 10_000
    """Characters of a text without white space."""
    best: int = 50
    """Trees per sentence."""
    trees: int = 4_000
    """Words of all trees of a sentence."""
    drawn: int = 2_000
    """Words of all trees drawn for one request."""
    waiting: int = 100_000
    """Words of all requests that are not answered yet, as their work is counted."""
    requests: int = 256
    """Requests that have arrived and whose answers have not been sent."""
    connections: int = 512
    """Connections at the same time."""
    headers: int = 100
    """Headers per request."""
    idle: float = 10.0
    """Seconds within which a connection must send the headers of its next request."""
    upload: float = 30.0
    """Seconds within which a request must arrive."""
    sending: float = 60.0
    """Seconds within which a client must take its answer."""
    stopping: float = 60.0
    """Seconds for which a service that was told to stop finishes the requests that it has."""

    def __post_init__(self) -> None:
        for limit in fields(self):
            if getattr(self, limit.name) <= 0:
                raise HeadspanError(f"the limit {limit.name} must be more than 0")
        if self.connections <= self.requests:
            raise HeadspanError(
                f"{self.requests:,} requests may be under way, but there may be only "
                f"{self.connections:,} connections"
            )
        if self.waiting < self.words:
            raise HeadspanError(
                f"a request may have {self.words:,} words, but only {self.waiting:,} may wait"
            )


class Refusal(IntEnum):
    """The HTTP statuses of refused requests, each with its meaning."""

    meaning: str

    def __new__(cls, status: int, meaning: str) -> Refusal:
        """Make a status that knows its meaning."""
        member = int.__new__(cls, status)
        member._value_ = status
        member.meaning = meaning
        return member

    NO_TOKEN = 401, "The bearer token is missing or wrong."
    FOREIGN = 403, "A page of another site sent the request."
    TOO_SLOW = 408, "The request took too long to arrive."
    STALE = 409, "The change is for an older state of the file."
    TOO_LARGE = 413, "The request exceeds a limit, which the answer names."
    NOT_JSON = 415, "The request is not application/json."
    UNUSABLE = 422, "The request is not well-formed, or no tree satisfies its constraints."
    BUSY = 503, "Too much is under way; Retry-After says in how many seconds to try again."


class RefusalError(HTTPException):
    """A request that the service refuses, with the one sentence that says why."""

    def __init__(
        self, refusal: Refusal, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(refusal.value, detail, headers)


def too_large(limits: Limits) -> RefusalError:
    """Refuse a request of too many bytes, and close the connection, since more may come."""
    detail = f"the request is larger than {limits.body:,} bytes, the limit of this service"
    return RefusalError(Refusal.TOO_LARGE, detail, {"Connection": "close"})


def busy(detail: str, seconds: int) -> RefusalError:
    """Refuse a request for now. seconds: when to try again."""
    return RefusalError(Refusal.BUSY, detail, {"Retry-After": str(seconds)})
