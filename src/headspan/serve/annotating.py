"""The routes of a session: reading sentences, changing them, and the threads behind it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import Depends, FastAPI, Request
from pydantic import Field, ValidationError
from starlette.responses import Response

from headspan.annotate.annotation import Session, StaleError
from headspan.annotate.operations import read_operation
from headspan.annotate.retraining import Retraining
from headspan.annotate.validation import official
from headspan.annotate.work_order import Filters, Order
from headspan.plumbing.errors import HeadspanError
from headspan.render.curve import curve_svg
from headspan.serve.annotation_answers import (
    Compared,
    list_answer,
    sentence_answer,
    state_answer,
    trees_answer,
)
from headspan.serve.logs import log
from headspan.serve.request_limits import Refusal, RefusalError
from headspan.serve.schemas import Strict

_BODY = 1 << 20  # bytes of a request
_SAVED_EVERY = 2.0  # seconds
_PRESENT = 12.0  # seconds after which a window that is not heard of is closed
_WINDOWS = 100
_CURVE, _WINDOW = "Corrected arcs per sentence, mean of the last 10", 10


class ShownAs(Strict):
    """How a sentence is drawn."""

    width: int = Field(900, ge=200, le=100_000)
    compact: bool = False
    compared: Compared = "nothing"
    spans: bool = False


class SentenceRequest(ShownAs):
    """A sentence to show."""

    number: int


class ChangeRequest(ShownAs):
    """A change, and the revision that it was decided on."""

    revision: int
    change: dict[str, Any]
    """An operation, or `{"do": "undo"}` and `{"do": "redo"}`."""


class ListRequest(Strict):
    """The sentences to work on."""

    order: Order = "file"
    relation: str = ""
    tag: str = ""
    word: str = ""
    unconfirmed: bool = False
    start: int = Field(0, ge=0)
    count: int = Field(100, ge=0, le=1000)


class StateRequest(Strict):
    """A sign of life of a window."""

    window: str = Field(max_length=64)


class NumberRequest(Strict):
    """A sentence, by its number."""

    number: int


class Annotating:
    """A session behind routes. One thread at a time works on it, and one may validate."""

    def __init__(self, session: Session, retraining: Retraining | None = None) -> None:
        self.session = session
        self.retraining = retraining
        self.problem = ""
        """Why the output could not be written, if so."""
        self._windows: dict[str, float] = {}
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=work, name=f"headspan-{work.__name__}", daemon=True)
            for work in (self._saving, self._looking, self._training)
        ]

    def add_to(self, app: FastAPI, checks: list[Any]) -> None:
        """Add the routes. checks: dependencies that every route has."""
        every = [*checks, Depends(check_origin)]
        for path, route in (
            ("state", self.state),
            ("sentences", self.sentences),
            ("sentence", self.sentence),
            ("trees", self.trees),
            ("change", self.change),
            ("validate", self.validate),
        ):
            app.add_api_route(
                f"/annotate/{path}", route, methods=["POST"], dependencies=every,
                include_in_schema=False,
            )  # fmt: skip

    def start(self) -> None:
        """Start saving, and looking at sentences."""
        self._limiter = CapacityLimiter(1)
        self._validating = CapacityLimiter(1)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Write everything and end."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        try:
            self.session.close()
        except HeadspanError as error:  # the journal stays
            log("not saved", detail=str(error))

    async def state(self, request: Request) -> Response:
        """The state of the file, and the lists for completion."""
        asked = await _read(request, StateRequest)
        now = time.monotonic()
        self._windows[asked.window] = now
        self._windows = dict(
            [(w, seen) for w, seen in self._windows.items() if now - seen < _PRESENT][-_WINDOWS:]
        )
        answer = await self._do(lambda: state_answer(self.session, len(self._windows)))
        answer["problem"] = self.problem
        answer["saved"] = not self.session.unsaved
        if self.retraining is not None:
            corrections = answer["progress"]["corrections"]
            answer["training"] = self.retraining.message
            if len(corrections) > 1:
                answer["curve"] = curve_svg(corrections, title=_CURVE, window=_WINDOW)
        lists = self.session.lists
        answer["lists"] = {
            name: lists.values(name) for name in ("deprels", "upos", "xpos", "feats")
        }
        return _answer(answer)

    async def sentences(self, request: Request) -> Response:
        """The sentences to work on, in an order."""
        asked = await _read(request, ListRequest)
        filters = Filters(asked.relation, asked.tag, asked.word, asked.unconfirmed)

        def listed() -> dict[str, Any]:
            numbers = self.session.numbers(asked.order, filters)
            return list_answer(self.session, numbers, asked.start, asked.count)

        return _answer(await self._do(listed))

    async def sentence(self, request: Request) -> Response:
        """One sentence, with its drawing."""
        asked = await _read(request, SentenceRequest)
        return _answer(await self._do(lambda: self._shown(asked.number, asked)))

    async def trees(self, request: Request) -> Response:
        """The best trees of a sentence; they take longer than one."""
        asked = await _read(request, NumberRequest)
        return _answer(await self._do(lambda: trees_answer(self.session, asked.number)))

    async def change(self, request: Request) -> Response:
        """Make a change; answers with the sentence as it is then. It is saved by then."""
        asked = await _read(request, ChangeRequest)

        def changed() -> dict[str, Any]:
            name = asked.change.get("do")
            if name == "undo":
                at = self.session.undo(revision=asked.revision).at
            elif name == "redo":
                at = self.session.redo(revision=asked.revision).at
            else:
                operation = read_operation(asked.change)
                at = self.session.do(operation, revision=asked.revision).at
            return self._shown(at, asked)

        return _answer(await self._do(changed))

    async def validate(self, request: Request) -> Response:
        """What UD's own validator says of a sentence."""
        asked = await _read(request, NumberRequest)

        def validated() -> dict[str, Any]:
            view = self.session.view(asked.number)
            language = self.session.assistant.parser.language or "ud"
            return {"lines": official([view.sentence], language)}

        return _answer(await self._do(validated, self._validating))  # others do not wait for it

    def _shown(self, number: int, how: ShownAs) -> dict[str, Any]:
        return sentence_answer(
            self.session, number, width=how.width, compact=how.compact, compared=how.compared,
            spans=how.spans,
        )  # fmt: skip

    async def _do(
        self, work: Callable[[], dict[str, Any]], limiter: CapacityLimiter | None = None
    ) -> dict[str, Any]:
        try:
            return await run_sync(work, limiter=limiter or self._limiter)
        except StaleError as error:
            raise RefusalError(Refusal.STALE, str(error)) from None
        except HeadspanError as error:
            raise RefusalError(Refusal.UNUSABLE, str(error)) from None

    def _saving(self) -> None:
        """Write the output every now and then."""
        while not self._stopping.wait(_SAVED_EVERY):
            try:
                self.session.save()
                self.problem = ""
            except HeadspanError as error:
                self.problem = str(error)
            except Exception as error:  # the thread lives on, and the annotator is told
                self.problem = f"not saved: {type(error).__name__}: {error}"

    def _training(self) -> None:
        """Train the model whenever enough sentences are confirmed."""
        while self.retraining is not None and not self._stopping.wait(1.0):
            self.retraining.step(self._stopping)

    def _looking(self) -> None:
        """Find out how certain the parser is of each sentence, whenever there is one to look at."""
        while not self._stopping.is_set():
            if not self.session.look_at_next():
                self._stopping.wait(0.5)
            else:
                time.sleep(0.002)  # let others have the parser


def check_origin(request: Request) -> None:
    """Refuse a request that a page of another site sends."""
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise RefusalError(Refusal.FOREIGN, "the request comes from a page of another site")


async def _read(request: Request, kind: type[Any]) -> Any:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise RefusalError(Refusal.NOT_JSON, "expected a request of type application/json")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _BODY:
            detail = f"the request is larger than {_BODY:,} bytes"
            raise RefusalError(Refusal.TOO_LARGE, detail, {"Connection": "close"})
    try:
        return kind.model_validate_json(bytes(body))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise RefusalError(Refusal.UNUSABLE, f"{where or 'the request'}: {first['msg']}") from None


def _answer(table: dict[str, Any]) -> Response:
    text = json.dumps(table, ensure_ascii=False, allow_nan=False)
    return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})
