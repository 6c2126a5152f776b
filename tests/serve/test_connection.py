"""Connections: idle ones, clients that do not read, too many of them, and what is not HTTP."""

import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2 as httpx
import pytest
from fastapi.testclient import TestClient

from headspan import HeadspanError
from headspan.model.parser import Parser
from headspan.serve import Limits, create_app
from headspan.serve.server import Server, listen

from .serving import serving, wait_until

WORDS = "the dog sees a cat with every hearing .".split()
LARGE = 16 << 20  # bytes of an answer that fills the buffers of the system


@pytest.fixture
def large_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headspan.serve.app.make_answer", lambda *_: b"x" * LARGE)


@contextmanager
def connected(address: str, sent: bytes = b"") -> Iterator[socket.socket]:
    port = int(address.rpartition(":")[2])
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(60)
        connection.connect(("127.0.0.1", port))
        connection.sendall(sent)
        yield connection


def post(body: bytes = b'{"words": [["a"]]}') -> bytes:
    head = "POST /parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def read_to_the_end(connection: socket.socket) -> bytes:
    data = b""
    try:
        while part := connection.recv(1 << 16):
            data += part
    except ConnectionResetError:
        pass
    return data


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /health HTTP/1.1\r\nHost: lo",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /health HTTP/1.1\r\nHo",
    ],
)
def test_connections_without_a_request_are_closed(parser: Parser, sent: bytes) -> None:
    with serving(create_app(parser), Limits(idle=0.3)) as address, connected(address, sent) as idle:
        start = time.monotonic()
        answer = read_to_the_end(idle)
        assert time.monotonic() - start < Limits().idle
        assert answer.count(b"HTTP/1.1 200") == sent.count(b"\r\n\r\n")


def test_headers_must_arrive_in_time_though_some_always_come(parser: Parser) -> None:
    def trickle(slow: socket.socket) -> None:
        for _ in range(100):
            slow.sendall(b"X: 1\r\n")
            time.sleep(0.05)

    with serving(create_app(parser), Limits(idle=0.3)) as address, connected(address) as slow:
        slow.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
        with pytest.raises(OSError, match=r"reset|pipe|abort"):
            trickle(slow)


def test_a_request_that_takes_long_does_not_count_as_idle(
    parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = parser.parse

    def slow(*arguments: Any, **options: Any) -> Any:
        time.sleep(0.6)
        return parse(*arguments, **options)

    with serving(create_app(parser), Limits(idle=0.2)) as address:
        monkeypatch.setattr(parser, "parse", slow)
        assert httpx.post(f"{address}/parse", json={"words": [WORDS]}).status_code == 200


@pytest.mark.usefixtures("large_answers")
def test_a_client_that_does_not_read_its_answer_is_dropped(parser: Parser) -> None:
    limits = Limits(sending=1.0, requests=1)
    with serving(create_app(parser, limits=limits), limits) as address:
        with connected(address, post()) as deaf:
            assert deaf.recv(12) == b"HTTP/1.1 200"
            # it counts until its answer has been sent, or can no longer be
            assert httpx.post(f"{address}/parse", json={"words": [["a"]]}).status_code == 503
            wait_until(lambda: _answers(address), seconds=10)
            assert len(read_to_the_end(deaf)) < LARGE
        assert _answers(address)


def _answers(address: str) -> bool:
    with httpx.stream("POST", f"{address}/parse", json={"words": [["a"]]}) as answer:
        return len(answer.read()) == LARGE


@pytest.mark.usefixtures("large_answers")
def test_a_slow_reader_gets_all_of_its_answer(parser: Parser) -> None:
    request = post().replace(b"localhost", b"localhost\r\nConnection: close")
    with serving(create_app(parser)) as address, connected(address, request) as slow:
        time.sleep(0.5)
        body = read_to_the_end(slow).partition(b"\r\n\r\n")[2]
        assert body == b"x" * LARGE


@pytest.mark.usefixtures("large_answers")
def test_stopping_does_not_wait_for_clients_that_do_not_read(parser: Parser) -> None:
    with listen("127.0.0.1", 0) as listening:
        server = Server(create_app(parser), Limits(stopping=0.5))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        wait_until(lambda: server.started)
        with connected(f":{listening.getsockname()[1]}", post()) as deaf:
            assert deaf.recv(12) == b"HTTP/1.1 200"
            server.should_exit = True
            thread.join(Limits().stopping / 2)
            assert not thread.is_alive()
            assert not server.finished


def test_connections_are_bounded(parser: Parser) -> None:
    limits = Limits(requests=2, connections=5)
    with serving(create_app(parser), limits) as address:
        port = int(address.rpartition(":")[2])
        idle = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(20)]
        assert httpx.get(f"{address}/health").status_code == 200
        for connection in idle[:15]:
            assert read_to_the_end(connection) == b""
        for connection in idle:
            connection.close()
    with pytest.raises(HeadspanError, match="only 200 connections"):
        Limits(connections=200)


def test_clients_that_hang_up_are_not_failures(
    parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[dict[str, Any]] = []
    monkeypatch.setattr(
        "headspan.serve.guard.log", lambda _, **fields: lines.append(fields) or None
    )
    many = json.dumps({"words": [WORDS] * 1500, "confidence": True}).encode()
    with serving(create_app(parser)) as address:
        for sent in (post()[:-5], post(many)):
            with connected(address, sent):
                time.sleep(0.2)
        wait_until(lambda: len(lines) == 2)
    assert [line["status"] for line in lines] == [499, 499]
    assert all(line["level"] == logging.INFO and line["error"] is None for line in lines)


def test_what_is_not_http_is_refused_as_everything_else(parser: Parser) -> None:
    with serving(create_app(parser)) as address, connected(address, b"\0\1\2\r\n\r\n") as client:
        head, _, body = read_to_the_end(client).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400")
        assert b"application/json" in head
        assert list(json.loads(body)) == ["detail"]


def test_many_headers_are_refused(parser: Parser) -> None:
    many = b"".join(b"X-%d: 1\r\n" % k for k in range(20_000))
    with serving(create_app(parser)) as address:
        request = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
        with connected(address, request + many[:-2] + b"\r\n\r\n") as client:
            assert client.recv(12) in (b"HTTP/1.1 431", b"HTTP/1.1 400")
        answer = httpx.get(f"{address}/health", headers={f"X-{k}": "1" for k in range(101)})
        assert answer.status_code == 431
        assert answer.json() == {"detail": "the request has more than 100 headers"}


@pytest.mark.parametrize("path", ["/", "/health", "/models"])
def test_head_is_get_without_a_body(client: TestClient, path: str) -> None:
    answer, whole = client.head(path), client.get(path)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-length"] == whole.headers["content-length"]
    assert client.head("/parse").status_code == 405


def test_head_on_a_socket(parser: Parser) -> None:
    request = b"HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with serving(create_app(parser)) as address, connected(address, request) as client:
        head, _, body = read_to_the_end(client).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
        assert body == b""
