"""Bytes as the body of a request to the service: 200 with trees, or 4xx with a sentence.

The app is called as a server calls it, but without a socket.
"""

import asyncio
import atexit
import json
import logging
from collections.abc import Iterator
from functools import cache
from typing import Any
from xml.etree import ElementTree

from fastapi import FastAPI

from headspan import conllu
from headspan.serve import create_app

from .golden import parser

WORDS = (
    b'"text"', b'"words"', b'"conllu"', b'"lines"', b'"format"', b'"confidence"', b'"best"',
    b'"constraints"', b'"required"', b'"forbidden"', b'"sentence"', b'"retag"', b'"draw"', b"true",
    b"null", b"1e9", b"-1", b"99999999999999999999", b"[[", b"[[1,2]]", b"\\u0000", b"\\ud800",
    b"\\n", b"\\t", b"\\r", b"1\\ta\\t_\\t_\\t_\\t_\\t0\\troot\\t_\\t_\\n",
)  # fmt: skip


def seeds() -> Iterator[bytes]:
    words = [["the", "dog", "sees", "a", "cat"]]
    columns = "1\ta\t_\t_\t_\t_\t0\troot\t_\tConfidence=0.1\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n\n"
    for request in (
        {"text": "the dog sees a cat . every dog !"},
        {"text": "a\nb", "lines": True, "format": "conllu", "confidence": True},
        {"words": words, "best": 3, "draw": 1, "confidence": True},
        {"words": words, "constraints": [{"required": [[5, 2]], "forbidden": [[0, 3]]}], "best": 2},
        {"conllu": columns, "retag": True, "draw": 1},
        {"conllu": columns.replace("\n", "\r\n"), "format": "conllu"},
        {"words": [], "text": None},
    ):
        yield json.dumps(request).encode()
    yield from (b"", b"{", b"[]", b"[" * 5000, b'{"text": "' + b"a" * 2000 + b'"}')


def check(data: bytes) -> None:
    loop, app = _service()
    status, body = loop.run_until_complete(_answer(app, data))
    if status != 200:
        assert 400 <= status < 500, (status, body)
        detail = json.loads(body)["detail"]
        assert isinstance(detail, str)
        assert len(detail) < 2000
    elif body.startswith(b'{"sentences"'):
        for sentence in json.loads(body)["sentences"]:
            assert sentence["heads"].count(0) == bool(sentence["words"])
            for drawing in sentence.get("drawing", {}).values():
                ElementTree.fromstring(drawing)
    else:
        list(conllu.parse(body.decode(), format="conllu"))


async def _answer(app: FastAPI, data: bytes) -> tuple[int, bytes]:
    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    scope: dict[str, Any] = {
        "type": "http", "method": "POST", "path": "/parse", "raw_path": b"/parse",
        "headers": headers, "query_string": b"", "http_version": "1.1", "scheme": "http",
        "root_path": "", "asgi": {"version": "3.0"}, "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8000), "state": {},
    }  # fmt: skip
    pending = [{"type": "http.request", "body": data, "more_body": False}]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if pending:
            return pending.pop()
        await asyncio.Event().wait()  # the client stays
        raise AssertionError

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


@cache
def _service() -> tuple[asyncio.AbstractEventLoop, FastAPI]:
    logging.getLogger("headspan").setLevel(logging.CRITICAL)
    app = create_app(parser(), name="golden")
    loop = asyncio.new_event_loop()
    life = app.router.lifespan_context(app)
    loop.run_until_complete(life.__aenter__())
    atexit.register(lambda: loop.run_until_complete(life.__aexit__(None, None, None)))
    return loop, app
