"""How much the service takes on, and how it says no."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields

from headspan.conllu import Sentence
from headspan.plumbing.errors import HeadspanError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one request, and all requests together, may ask for."""

    body: int = 4 << 20
    """Bytes of a request."""
    words: int = 20_000
    """Words of a request."""
    sentence: int = 200
    """Words of a sentence: the work for its confidences grows with their third power."""
    drawn: int = 2_000
    """Words of all the trees that are drawn for a request."""
    best: int = 50
    """Trees of a sentence."""
    waiting: int = 100_000
    """Words that wait to be parsed, of all requests together."""
    requests: int = 256
    """Requests that are read, parsed or answered at the same time."""
    upload: float = 30.0
    """Seconds that a request may take to arrive."""

    def __post_init__(self) -> None:
        for limit in fields(self):
            if getattr(self, limit.name) <= 0:
                raise HeadspanError(f"the limit {limit.name} must be more than 0")
        if self.waiting < self.words:
            raise HeadspanError(
                f"a request may have {self.words:,} words, but only {self.waiting:,} may wait"
            )


@dataclass(slots=True)
class RefusalError(Exception):
    """A request that the service does not take: the status and the sentence of its answer."""

    status: int
    detail: str
    headers: dict[str, str] = field(default_factory=dict)


def too_large(limits: Limits) -> RefusalError:
    """The answer to a request of too many bytes. It ends the connection, for more may come."""
    detail = f"the request is larger than {limits.body:,} bytes, the limit of this service"
    return RefusalError(413, detail, {"Connection": "close"})


def within(sentences: Iterable[Sentence], limits: Limits) -> Iterator[Sentence]:
    """The sentences, as long as they keep to the limits; else raises RefusalError."""
    words = 0
    for number, sentence in enumerate(sentences, 1):
        words += max(1, len(sentence))  # one without words is work, too
        if len(sentence) > limits.sentence:
            raise RefusalError(
                422,
                f"sentence {number} has {len(sentence):,} words; "
                f"the limit of this service is {limits.sentence:,}",
            )
        if words > limits.words:
            raise RefusalError(
                413,
                f"the request has more than {limits.words:,} words, the limit of this service",
            )
        yield sentence
