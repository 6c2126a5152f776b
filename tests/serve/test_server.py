"""The service as a process and on a socket: starting, stopping, overload."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from headspan.model.parser import Parser
from headspan.serve import Limits, create_app
from headspan.serve.server import listen

from .serving import serving, wait_until

WORDS = "the dog sees a cat with every hearing .".split()


@contextmanager
def held_up(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Let the parser begin a call, and finish it when the block ends."""
    begun, go = threading.Event(), threading.Event()
    parse = parser.parse

    def slow(*arguments: Any, **options: Any) -> Any:
        begun.set()
        assert go.wait(60)
        return parse(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(parser, "parse", slow)
        try:
            yield begun
        finally:
            go.set()


def test_an_overloaded_service_refuses_with_503_only(
    parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = Limits(words=100, waiting=100)
    with (
        serving(create_app(parser, limits=limits)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
        ThreadPoolExecutor(20) as threads,
    ):
        with held_up(parser, monkeypatch) as begun:
            asked = [
                threads.submit(client.post, "/parse", json={"words": [WORDS]}) for _ in range(20)
            ]
            assert begun.wait(60)
            wait_until(lambda: sum(one.done() for one in asked) == 9)
            assert client.get("/health").json()["waiting"] == 99
        answers = [one.result(60) for one in asked]
        full = [answer for answer in answers if answer.status_code == 503]
        assert sorted(answer.status_code for answer in answers) == [200] * 11 + [503] * 9
        assert all(int(answer.headers["retry-after"]) >= 1 for answer in full)
        assert "try again in" in full[0].json()["detail"]
        assert client.get("/health").json()["waiting"] == 0


def test_too_many_requests_at_once_are_refused(
    parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = create_app(parser, limits=Limits(requests=1))
    with serving(app) as address, ThreadPoolExecutor(1) as threads:
        with held_up(parser, monkeypatch) as begun:
            first = threads.submit(httpx.post, f"{address}/parse", json={"words": [WORDS]})
            assert begun.wait(60)
            second = httpx.post(f"{address}/parse", json={"words": [WORDS]})
            assert second.status_code == 503
            assert second.headers["retry-after"] == "1"
        assert first.result(60).status_code == 200


def test_a_client_that_disconnects_cancels_its_work(
    parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(create_app(parser)) as address:
        with held_up(parser, monkeypatch) as begun:
            with pytest.raises(httpx.TimeoutException):
                httpx.post(f"{address}/parse", json={"words": [WORDS] * 2000}, timeout=1)
            assert begun.wait(60)
            wait_until(lambda: httpx.get(f"{address}/health").json()["waiting"] == 0)
        assert httpx.post(f"{address}/parse", json={"words": [WORDS]}).status_code == 200


def test_answers_do_not_wait_for_acknowledgements() -> None:
    """asyncio switches off Nagle's algorithm only if the socket's protocol is given as TCP."""
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)), listening.accept()[0] as accepted:
            assert accepted.proto == socket.IPPROTO_TCP


def test_an_upload_that_does_not_end_is_refused(parser: Parser) -> None:
    with serving(create_app(parser, limits=Limits(upload=0.2))) as address:
        port = int(address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=60) as slow:
            slow.sendall(
                b"POST /parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: 100\r\n\r\n{"
            )
            assert slow.makefile("rb").readline().startswith(b"HTTP/1.1 408")


@pytest.fixture
def process(model_folder: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "headspan", "serve", "--model", str(model_folder)]
    started = subprocess.Popen(
        [*command, "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={k: v for k, v in os.environ.items() if k != "HEADSPAN_TOKEN"},
    )  # fmt: skip
    yield started
    started.kill()
    started.communicate()


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_accepted_requests_finish(
    process: subprocess.Popen[str], stop: signal.Signals
) -> None:
    assert process.stdout is not None
    line = process.stdout.readline()
    address = line.split()[-1]
    assert line.startswith("headspan serves ")
    with ThreadPoolExecutor(1) as threads:
        body = {"words": [WORDS] * 1500, "confidence": True}
        asked = threads.submit(httpx.post, f"{address}parse", json=body, timeout=120)
        wait_until(lambda: httpx.get(f"{address}health").json()["waiting"] > 0)
        process.send_signal(stop)
        assert len(asked.result(120).json()["sentences"]) == 1500
    rest, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert rest == ""
    last = json.loads(said.splitlines()[-1])
    assert (last["path"], last["status"], last["words"]) == ("/parse", 200, 13_500)


def test_a_second_signal_stops_at_once(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    address = process.stdout.readline().split()[-1]
    with ThreadPoolExecutor(1) as threads:
        body = {"words": [WORDS * 8] * 60, "best": 50}
        asked = threads.submit(httpx.post, f"{address}parse", json=body, timeout=120)
        wait_until(lambda: httpx.get(f"{address}health").json()["waiting"] > 0)
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: not _accepts(address))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == 1
        assert asked.exception(60) is not None or asked.result().status_code >= 500


def test_a_second_signal_to_an_idle_service_changes_nothing(
    process: subprocess.Popen[str],
) -> None:
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    while process.poll() is None:  # at every stage of its end
        process.send_signal(signal.SIGTERM)
        time.sleep(0.002)
    assert process.returncode == 0


def _accepts(address: str) -> bool:
    try:
        return httpx.get(f"{address}health").status_code == 200
    except httpx.TransportError:
        return False


def test_a_service_that_cannot_start_says_why_in_one_line(model_folder: Path) -> None:
    def said(*options: str, **environment: str) -> str:
        command = [sys.executable, "-m", "headspan", "serve", *options]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=os.environ | environment
        )
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        return done.stderr

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        line = said("--model", str(model_folder), "--port", port)
        assert line.startswith(f"headspan: 127.0.0.1, port {port}: cannot listen: ")
    assert "no such model" in said("--model", "nothing")
    assert "HEADSPAN_TOKEN is empty" in said("--model", str(model_folder), HEADSPAN_TOKEN="")
    assert "may wait" in said("--model", str(model_folder), "--max-waiting", "10")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from headspan import HeadspanError
    from headspan.cli.serve import serve

    monkeypatch.setitem(sys.modules, "fastapi", None)
    monkeypatch.delitem(sys.modules, "headspan.serve")
    with pytest.raises(HeadspanError, match=r"pip install 'headspan\[serve\]'"):
        serve(model="nothing")
