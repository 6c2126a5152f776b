"""The limits of the service, and the refusals of requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from enum import IntEnum

from starlette.exceptions import HTTPException

from headspan.conllu import Sentence
from headspan.plumbing.errors import HeadspanError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one request, and of all requests together."""

    body: int = 4 << 20
    """Bytes per request."""
    words: int = 20_000
    """Words per request."""
    sentence: int = 200
    """Words per sentence; the work for its confidences is cubic in them."""
    drawn: int = 2_000
    """Words of all trees drawn for one request."""
    best: int = 50
    """Trees per sentence."""
    waiting: int = 100_000
    """Words waiting to be parsed, over all requests."""
    requests: int = 256
    """Requests that are read, parsed or answered at the same time."""
    upload: float = 30.0
    """Seconds within which a request must arrive."""

    def __post_init__(self) -> None:
        for limit in fields(self):
            if getattr(self, limit.name) <= 0:
                raise HeadspanError(f"the limit {limit.name} must be more than 0")
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
    TOO_SLOW = 408, "The request took too long to arrive."
    TOO_LARGE = 413, "The request exceeds a limit, which the answer names."
    NOT_JSON = 415, "The request is not application/json."
    UNUSABLE = 422, "The request is not well-formed, or no tree satisfies its constraints."
    BUSY = 503, "Too many words are waiting; Retry-After says in how many seconds to try again."


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


def within(sentences: Iterable[Sentence], limits: Limits) -> Iterator[Sentence]:
    """Pass sentences on; raise RefusalError at the first that exceeds a limit."""
    words = 0
    for number, sentence in enumerate(sentences, 1):
        words += max(1, len(sentence))  # a sentence without words is work, too
        if len(sentence) > limits.sentence:
            raise RefusalError(
                Refusal.UNUSABLE,
                f"sentence {number} has {len(sentence):,} words; "
                f"the limit of this service is {limits.sentence:,}",
            )
        if words > limits.words:
            raise RefusalError(
                Refusal.TOO_LARGE,
                f"the request has more than {limits.words:,} words, the limit of this service",
            )
        yield sentence
