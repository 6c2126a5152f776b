"""Whatever is under way, a request of one sentence is answered soon; too much work is refused."""

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from fastapi.testclient import TestClient

from headspan.model.parse_options import ParseOptions
from headspan.model.parser import Parser
from headspan.serve import Limits, create_app, schemas
from headspan.serve.request_limits import RefusalError
from headspan.serve.work import counted

from .serving import serving, wait_until
from .test_api import refused

WORDS = "the dog sees a cat with every hearing .".split()
UNDER_WAY: dict[str, dict[str, Any]] = {
    "many subwords": {"words": [["éa."] * 190] * 100},
    "long words": {"words": [["éa." * 160] * 190] * 20},
    "points": {"text": ("." * 499 + " ") * 2_400},
    "numbers": {"text": ("1." * 4_999 + " ") * 120},
    "paragraphs": {"text": "Hi.\n\n" * 200_000},
    "constraints": {
        "words": [["a"]] * 9_900,
        "constraints": [{"sentence": k, "required": [[0, 1]]} for k in range(1, 9_901)],
    },
    "trees": {"words": ["the dog sees .".split()] * 1_100, "best": 50},
    "long sentences": {"words": [WORDS * 22] * 30, "best": 20, "confidence": True},
    "lines": {"text": ("a " * 190 + "\n") * 3_000, "lines": True},
}


@pytest.fixture
def address(parser: Parser) -> Iterator[str]:
    with serving(create_app(parser)) as address:
        yield address.removeprefix("http://")


def send(address: str, body: bytes) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(address, timeout=60)
    connection.request("POST", "/parse", body, {"Content-Type": "application/json"})
    return connection


def waiting(address: str) -> int:
    with closing(http.client.HTTPConnection(address, timeout=60)) as connection:
        connection.request("GET", "/health")
        number: int = json.loads(connection.getresponse().read())["waiting"]
        return number


@contextmanager
def under_way(address: str, body: bytes, clients: int = 3) -> Iterator[None]:
    """Let clients send the same request, which takes long; in the end they hang up."""
    connections = [send(address, body) for _ in range(clients)]
    wait_until(lambda: waiting(address) > 0)
    yield
    for connection in connections:
        connection.close()


@pytest.mark.parametrize("name", UNDER_WAY)
def test_a_sentence_does_not_wait_for_large_requests(address: str, name: str) -> None:
    """It is answered before them, although they came first."""
    sentence = json.dumps({"text": "the dog sees a cat.", "confidence": True}).encode()
    with under_way(address, json.dumps(UNDER_WAY[name], ensure_ascii=False).encode()):
        with closing(send(address, sentence)) as connection:
            assert connection.getresponse().status == 200
        assert waiting(address) > 0
    wait_until(lambda: waiting(address) == 0)  # those that hung up do not wait any longer


@pytest.mark.parametrize(
    ("body", "status", "why"),
    [
        ({"text": "." * 4_000_000}, 413, "the text has 4,000,000 characters; the limit of this service is 1,280,000"),
        ({"text": "a " + "1." * 5_001}, 422, "the text has 10,002 characters without white space; the limit of this service is 10,000"),
        ({"text": "a " * 300_000, "lines": True}, 422, "line 1 has 300,000 words; the limit of this service is 200"),
        ({"words": [["a"], ["b", "éa." * 167]]}, 422, "word 2 of sentence 2 has 501 characters; the limit of this service is 500"),
        ({"text": "the " + "a" * 501}, 422, "word 2 of sentence 1 has 501 characters; the limit of this service is 500"),
        ({"words": [["a"] * 81], "best": 50}, 422, "sentence 1 has 81 words; with 50 trees, the limit of this service is 80"),
        ({"words": [["a"] * 10] * 600, "best": 50}, 413, "the request counts as more than 20,000 words, the limit of this service"),
        ({"words": [["a"]] * 25_000}, 413, "words: a request may not have more than 20,000 words"),
        ({"words": [WORDS], "constraints": [{}] * 25_000}, 413, "constraints: a request may not have more than 20,000 words"),
        ({"words": [[","] * 60_000]}, 413, "the request has more than 100,000 commas, the limit of this service"),
        ({"words": [WORDS], "constraints": [{"sentence": k, "required": [[1, 2]] + [[j, j + 1] for j in range(2, 190)]} for k in range(1, 120)]},
         413, "constraints: more arcs are required than the 20,000 words of a request"),
        ({"words": [WORDS], "constraints": [{"forbidden": [[j, k] for j in range(201) for k in range(1, 210)]}]},
         422, "constraints of sentence 1: a sentence may have 200 words, and 40,000 arcs"),
    ],
)  # fmt: skip
def test_too_much_work_is_refused_and_named(
    client: TestClient, body: dict[str, Any], status: int, why: str
) -> None:
    assert refused(client, status, **body) == why


def test_subwords_are_bounded(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    with TestClient(create_app(parser), base_url="http://localhost") as client:
        monkeypatch.setattr(parser, "cost", lambda sentence: 5 * len(sentence))
        assert client.post("/parse", json={"words": [["a"] * 120]}).status_code == 200
        why = "sentence 1 has 605 subwords; the limit of this service is 600"
        assert refused(client, 422, words=[["a"] * 121]) == why


def test_work_is_counted_by_what_takes_time() -> None:
    plain = ParseOptions()
    assert counted(15, 20, plain) == 15
    assert counted(1, 3, plain) == 2
    assert counted(0, 2, plain) == 1
    assert counted(15, 200, plain) == 100
    assert counted(200, 260, ParseOptions(confidence=True)) > 300
    assert counted(10, 12, ParseOptions(k=50)) == 10 + 2 + 31
    assert counted(10, 12, plain, arcs=1024) == 10 + 4


def test_what_would_take_seconds_to_validate_is_not_validated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Validation stops all other threads."""

    def validated(most: int) -> None:
        pytest.fail("the request is validated")

    monkeypatch.setattr(schemas, "_limited", validated)
    nothing = [
        b'{"words": [[' + b",".join([b'""'] * 1_300_000) + b"]]}",
        b'{"text": "a", "constraints": [' + b",".join([b"{}"] * 1_300_000) + b"]}",
        b'{"text": "a", "constraints": [' + b",".join([b"1"] * 2_000_000) + b"]}",
    ]
    for body in nothing:
        with pytest.raises(RefusalError, match="commas"):
            schemas.read_request(body, Limits())


def test_slow_uploads_keep_nobody_out(parser: Parser) -> None:
    limits = Limits(requests=2, connections=4)
    head = (
        b"POST /parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 100\r\n\r\n{"
    )
    with serving(create_app(parser, limits=limits), limits) as address:
        port = int(address.rpartition(":")[2])
        slow = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(4)]
        for connection in slow:
            connection.sendall(head)
        time.sleep(0.2)
        with closing(send(address.removeprefix("http://"), b'{"text": "the dog"}')) as connection:
            assert connection.getresponse().status == 200
        assert slow[0].recv(1000) == b""  # the one that waited the longest made room
        for connection in slow:
            connection.close()
