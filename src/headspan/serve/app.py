"""The FastAPI app: routes, and what they share."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple

from anyio.to_thread import run_sync
from fastapi import Depends, FastAPI, Request
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response

from headspan import __version__
from headspan.inference import Constraints
from headspan.model.parse_result import Parse
from headspan.model.parser import Parser
from headspan.plumbing.errors import HeadspanError
from headspan.render import stylesheet
from headspan.serve import schemas
from headspan.serve.answers import make_answer, make_job
from headspan.serve.batcher import Batcher, Job, QueueFullError
from headspan.serve.guard import LOOPBACK, Guard
from headspan.serve.request_limits import Limits, RefusalError, too_large

_T = TypeVar("_T")
_Given = TypeVarTuple("_Given")
_TYPES = {".css": "text/css", ".html": "text/html", ".js": "text/javascript"}
_SMALL = 1 << 14  # bytes of a request that does not hold up others
_ABOUT = """Dependency trees by headed spans, exact. Answers to mistakes are `{"detail": …}`."""


def create_app(
    parser: Parser,
    *,
    name: str = "en",
    limits: Limits | None = None,
    token: str | None = None,
    hosts: Iterable[str] | None = LOOPBACK,
    origins: Iterable[str] = (),
) -> FastAPI:
    """The service around a parser.

    name: what the model is called. token: what clients must send as `Authorization: Bearer …`; None
    asks for nothing. hosts: under which names it may be asked, None for any. origins: whose pages
    may ask from a browser, beside its own.
    """
    service = _Service(parser, name, limits or Limits())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await run_sync(_warm_up, parser)
        service.batcher = Batcher(parser, limit=service.limits.waiting)
        try:
            yield
        finally:
            await run_sync(service.batcher.stop)

    app = FastAPI(
        title="headspan", version=__version__, description=_ABOUT, lifespan=lifespan,
        docs_url=None, redoc_url=None,
    )  # fmt: skip
    allowed = _checks(token)
    problems: dict[int | str, dict[str, Any]] = {
        status: {"model": schemas.Problem, "description": why} for status, why in _WHY.items()
    }
    app.add_api_route(
        "/parse", service.parse, methods=["POST"], dependencies=allowed, openapi_extra=_BODY,
        response_model=schemas.ParseAnswer, responses=problems, summary="Parse text or sentences",
    )  # fmt: skip
    app.add_api_route("/health", service.health, summary="How the service is")
    app.add_api_route(
        "/models", service.models, dependencies=allowed, summary="What the model can do"
    )
    for path, text, kind in _page():
        app.add_api_route(path, _document(text, kind), include_in_schema=False)
    app.add_exception_handler(RefusalError, _refuse)
    app.add_exception_handler(HTTPException, _explain)
    origins = list(origins)
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
            expose_headers=["Retry-After"],
        )
    app.add_middleware(Guard, hosts=hosts, shared=bool(origins))
    return app


_WHY = {
    401: "The bearer token is missing or wrong.",
    408: "The request took too long to arrive.",
    413: "The request is larger than a limit, which the answer says.",
    415: "The request is not application/json.",
    422: "The request is not well-formed, or no tree satisfies its constraints.",
    503: "Too much waits already; Retry-After says in how many seconds to try again.",
}
_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": schemas.request_schema()}},
    }
}


class _Service:
    """A parser, the requests that wait for it, and the routes that need them."""

    batcher: Batcher

    def __init__(self, parser: Parser, name: str, limits: Limits) -> None:
        self.parser = parser
        self.name = name
        self.limits = limits
        self._present = 0

    async def parse(self, request: Request) -> Response:
        """Sentences with their dependency trees."""
        if self._present >= self.limits.requests:
            raise _busy(1)
        self._present += 1
        try:
            return await self._parse(request)
        finally:
            self._present -= 1

    async def _parse(self, request: Request) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise RefusalError(415, "expected a request of the type application/json")
        body = await _read(request, self.limits)
        asked = await _do(len(body), schemas.read_request, body, self.limits)
        job = await _do(len(body), make_job, asked, self.parser, self.limits)
        parses = await self._result(job, request)
        request.state.counts = {"sentences": len(parses), "words": sum(map(len, parses))}
        size = _SMALL if asked.draw is not None else len(body)
        answer = await _do(size, make_answer, asked, parses, self.limits)
        media = "application/json" if asked.format == "json" else "text/plain; charset=utf-8"
        return Response(answer, media_type=media, headers={"Cache-Control": "no-store"})

    async def _result(self, job: Job, request: Request) -> list[Parse]:
        """The parses of a job; a client that goes away takes its job with it."""
        try:
            result = asyncio.wrap_future(self.batcher.submit(job))
        except QueueFullError as full:
            raise _busy(full.seconds) from None
        gone: asyncio.Future[Any] = asyncio.ensure_future(request.receive())
        try:
            await asyncio.wait([result, gone], return_when=asyncio.FIRST_COMPLETED)
            if not result.done():
                raise ClientDisconnect
            return result.result()
        except asyncio.CancelledError:
            if result.cancelled():
                raise RefusalError(503, "the service is stopping", {"Retry-After": "5"}) from None
            raise
        except HeadspanError as error:
            raise RefusalError(422, str(error)) from None
        finally:
            result.cancel()
            gone.cancel()

    async def health(self) -> schemas.Health:
        """Whether it runs, and how much waits."""
        return schemas.Health(
            status="ok", version=__version__, model=self.name, waiting=self.batcher.waiting
        )

    async def models(self) -> schemas.Models:
        """The model, and the limits of the service."""
        model = self.parser.config.model
        about = schemas.Model(
            name=self.name,
            structure=model.structure,
            segments=self.parser.segmenter is not None,
            predicts=list(self.parser.vocabularies.tags),
            reads=list(model.embeddings.columns),
            relations=list(self.parser.vocabularies.labels.names),
        )
        return schemas.Models(models=[about], limits=asdict(self.limits))


def _warm_up(parser: Parser) -> None:
    """Load the compiled loops, so that no request has to wait for them."""
    words = ["Well", ",", "hello", "!"]
    parser.parse([words], confidence=True, k=2)
    parser.parse([words], constraints=[Constraints(required_arcs=[(1, 2)])])
    list(parser.sentences(["Well, hello!"]))


async def _do(size: int, work: Callable[[*_Given], _T], *given: *_Given) -> _T:
    """Do some work, if it may take long in another thread, so that other requests go on."""
    return work(*given) if size < _SMALL else await run_sync(work, *given)


async def _read(request: Request, limits: Limits) -> bytes:
    """The body of a request; raises RefusalError as soon as it is too large, or takes too long."""
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and (len(announced) > 18 or int(announced) > limits.body):
        raise too_large(limits)
    body = bytearray()
    try:
        async with asyncio.timeout(limits.upload):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limits.body:
                    raise too_large(limits)
    except TimeoutError:
        detail = f"the request did not arrive within {limits.upload:g} seconds"
        raise RefusalError(408, detail, {"Connection": "close"}) from None
    return bytes(body)


def _checks(token: str | None) -> list[Any]:
    """Dependencies of a route that wants the token, if there is one."""
    if token is None:
        return []
    expected = f"Bearer {token}".encode()

    async def check(request: Request) -> None:
        sent = request.headers.get("authorization", "").encode()
        if not hmac.compare_digest(sent, expected):
            detail = "the service wants its token: Authorization: Bearer TOKEN"
            raise RefusalError(401, detail, {"WWW-Authenticate": "Bearer"})

    return [Depends(HTTPBearer(auto_error=False)), Depends(check)]


def _busy(seconds: int) -> RefusalError:
    detail = f"too much waits already; try again in {seconds} s"
    return RefusalError(503, detail, {"Retry-After": str(seconds)})


def _page() -> Iterator[tuple[str, str, str]]:
    """The files of the page: path, text, type."""
    yield "/drawing.css", stylesheet(), _TYPES[".css"]
    for file in files("headspan.serve").joinpath("page").iterdir():
        kind = _TYPES.get(Path(file.name).suffix)
        if kind is not None:
            path = "/" if file.name == "index.html" else f"/{file.name}"
            yield path, file.read_text(encoding="utf-8"), kind


def _document(text: str, kind: str) -> Callable[[], Awaitable[Response]]:
    async def document() -> Response:
        return Response(text, media_type=kind, headers={"Cache-Control": "no-cache"})

    return document


async def _refuse(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusalError)  # noqa: S101
    return JSONResponse({"detail": error.detail}, error.status, error.headers)


async def _explain(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    return JSONResponse({"detail": str(error.detail)}, error.status_code, error.headers)
