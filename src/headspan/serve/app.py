"""The FastAPI app and its routes."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import Depends, FastAPI, Request
from fastapi.security import HTTPBearer
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from headspan import __version__
from headspan.inference import Constraints
from headspan.model.parse_result import Parse
from headspan.model.parser import Parser
from headspan.plumbing.errors import HeadspanError, shown
from headspan.render import stylesheet
from headspan.serve import schemas
from headspan.serve.admission import PARSE, Admission
from headspan.serve.answers import make_answer, make_job
from headspan.serve.batcher import Batcher, ParseJob, QueueFullError
from headspan.serve.guard import LOOPBACK, Guard
from headspan.serve.request_limits import Limits, Refusal, RefusalError, busy, too_large

if TYPE_CHECKING:
    from headspan.annotate import Session
    from headspan.annotate.retraining import Retraining

_T = TypeVar("_T")
_Arguments = TypeVarTuple("_Arguments")
_TYPES = {".css": "text/css", ".html": "text/html", ".js": "text/javascript"}
_SMALL = 1 << 12  # bytes of a request too small to hold up others
_ABOUT = """Exact dependency parsing with headed spans. Refusals are `{"detail": …}`."""


def create_app(
    parser: Parser,
    *,
    name: str = "en",
    further: Mapping[str, Parser] | None = None,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: Iterable[str] | None = LOOPBACK,
    origins: Iterable[str] = (),
    session: Session | None = None,
    retraining: Retraining | None = None,
) -> FastAPI:
    """Make the service around a parser.

    name: the model's name. further: more models by name, which requests can ask for. token: the
    bearer token that clients must send as `Authorization: Bearer …`; None for none. hosts: the Host
    names under which the service answers; None for any. origins: other sites whose pages may send
    requests from a browser. session: a file to annotate on the page, which then is about this file;
    it is closed when the service stops. retraining: what trains the model of the session.
    """
    if token is not None and not token.strip():
        raise HeadspanError("the token of the service is empty; expected one, or none at all")
    service = _Service({name: parser, **(further or {})}, limits or Limits())
    annotating = None
    if session is not None:
        from headspan.serve.annotating import Annotating  # needs fcntl, which Windows lacks

        annotating = Annotating(session, retraining)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        for one in service.parsers.values():
            await run_sync(_warm_up, one)
        service.start()
        if annotating is not None:
            annotating.start()
        try:
            yield
        finally:
            await run_sync(service.batcher.stop)
            if annotating is not None:
                await run_sync(annotating.stop)

    app = FastAPI(
        title="headspan", version=__version__, description=_ABOUT, lifespan=lifespan,
        docs_url=None, redoc_url=None,
    )  # fmt: skip
    token_checks = _token_checks(token)
    refusals: dict[int | str, dict[str, Any]] = {
        int(refusal): {"model": schemas.ErrorAnswer, "description": refusal.meaning}
        for refusal in Refusal
        if refusal not in (Refusal.FOREIGN, Refusal.STALE)  # those of annotating
    }
    app.add_exception_handler(ClientDisconnect, _hung_up)
    app.add_api_route(
        PARSE, service.parse, methods=["POST"], dependencies=token_checks, openapi_extra=_BODY,
        response_model=schemas.ParseAnswer, responses=refusals, summary="Parse text or sentences",
    )  # fmt: skip
    app.add_api_route("/health", service.health, summary="The state of the service")
    app.add_api_route(
        "/models", service.models, dependencies=token_checks, summary="The models and the limits"
    )
    if annotating is not None:
        annotating.add_to(app, token_checks)
    for path, text, media_type in _page(annotates=annotating is not None):
        app.add_api_route(path, _document(text, media_type), include_in_schema=False)
    app.add_middleware(Admission, limit=service.limits.requests)
    origins = list(origins)
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
            expose_headers=["Retry-After"],
        )
    app.add_middleware(
        Guard, hosts=hosts, shared=bool(origins), most_headers=service.limits.headers
    )
    return app


_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": schemas.request_schema()}},
    }
}


class _Service:
    """The routes that need the parser or the requests waiting for it."""

    batcher: Batcher

    def __init__(self, parsers: Mapping[str, Parser], limits: Limits) -> None:
        self.parsers = parsers
        self.name = next(iter(parsers))  # of the model for requests that ask for none
        self.limits = limits

    def start(self) -> None:
        """Start the threads: one parses, one reads and writes what is large, two draw."""
        self.batcher = Batcher(self.parsers[self.name], limit=self.limits.waiting)
        self._large, self._drawing = CapacityLimiter(1), CapacityLimiter(2)

    async def parse(self, request: Request) -> Response:
        """Parse text or sentences into dependency trees."""
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type != "application/json":
            raise RefusalError(Refusal.NOT_JSON, "expected a request of type application/json")
        body = await _read(request, self.limits)
        threads = self._large if len(body) > _SMALL else None
        read = await _do(threads, schemas.read_request, body, self.limits)
        job = await _do(threads, make_job, read, self._parser(read.model), self.limits)
        parses = await self._result(job, request)
        request.state.counts = {"sentences": len(parses), "words": sum(map(len, parses))}
        if read.draw is not None:
            threads = self._drawing
        elif sum(len(parse) for parse in parses) * read.best > _SMALL:
            threads = self._large
        answer = await _do(threads, make_answer, read, parses, self.limits)
        media = "application/json" if read.format == "json" else "text/plain; charset=utf-8"
        return Response(answer, media_type=media, headers={"Cache-Control": "no-store"})

    def _parser(self, name: str | None) -> Parser:
        """The parser that a request asks for; raises RefusalError if there is none."""
        parser = self.parsers.get(self.name if name is None else name)
        if parser is None:
            names = ", ".join(self.parsers)
            detail = f"the service has no model {shown(name)}; expected one of {names}"
            raise RefusalError(Refusal.UNUSABLE, detail)
        return parser

    async def _result(self, job: ParseJob, request: Request) -> list[Parse]:
        """Wait for the parses of a job; if the client disconnects, the job is cancelled."""
        try:
            result = asyncio.wrap_future(self.batcher.submit(job))
        except QueueFullError as full:
            detail = f"too many words are waiting already; try again in {full.seconds} s"
            raise busy(detail, full.seconds) from None
        disconnected: asyncio.Future[Any] = asyncio.ensure_future(request.receive())
        try:
            await asyncio.wait([result, disconnected], return_when=asyncio.FIRST_COMPLETED)
            if not result.done():
                raise ClientDisconnect
            return result.result()
        except asyncio.CancelledError:
            if result.cancelled():
                raise busy("the service is stopping", 5) from None
            raise
        except HeadspanError as error:
            raise RefusalError(Refusal.UNUSABLE, str(error)) from None
        finally:
            result.cancel()
            disconnected.cancel()

    async def health(self) -> schemas.Health:
        """Say that the service is running, and how many words are waiting."""
        return schemas.Health(
            status="ok", version=__version__, model=self.name, waiting=self.batcher.waiting
        )

    async def models(self) -> schemas.Models:
        """Describe the models, the default one first, and the limits of the service."""
        found = [_described(name, parser) for name, parser in self.parsers.items()]
        return schemas.Models(models=found, limits=asdict(self.limits))


def _described(name: str, parser: Parser) -> schemas.ModelInfo:
    model = parser.config.model
    return schemas.ModelInfo(
        name=name,
        structure=model.structure,
        segments=parser.segmenter is not None,
        predicts=list(parser.vocabularies.tags),
        reads=list(model.embeddings.columns),
        relations=list(parser.vocabularies.relations),
    )


def _warm_up(parser: Parser) -> None:
    """Load the compiled loops, so that no request waits for them."""
    words = ["Well", ",", "hello", "!"]
    parser.parse([words], confidence=True, k=2)
    parser.parse([words], constraints=[Constraints(required_arcs=[(1, 2)])])
    list(parser.sentences(["Well, hello!"]))


async def _do(
    threads: CapacityLimiter | None, work: Callable[[*_Arguments], _T], *arguments: *_Arguments
) -> _T:
    """Do some work: at once, or if it may take long, in one of a few threads.

    Few, because they and the parser's thread take turns at running Python.
    """
    if threads is None:
        return work(*arguments)
    return await run_sync(work, *arguments, limiter=threads)


async def _hung_up(_: Request, __: Exception) -> Response:
    """Answer nobody. The status is for the log; servers such as nginx use it, too."""
    return Response(status_code=499)


async def _read(request: Request, limits: Limits) -> bytes:
    """Read the body of a request; raises RefusalError once it is too large or takes too long."""
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
        raise RefusalError(Refusal.TOO_SLOW, detail, {"Connection": "close"}) from None
    return bytes(body)


def _token_checks(token: str | None) -> list[Any]:
    """The dependencies of a route that requires the token, if there is one."""
    if token is None:
        return []
    expected = f"Bearer {token}".encode()

    async def check(request: Request) -> None:
        sent = request.headers.get("authorization", "").encode()
        if not hmac.compare_digest(sent, expected):
            detail = "the service requires its token: Authorization: Bearer TOKEN"
            raise RefusalError(Refusal.NO_TOKEN, detail, {"WWW-Authenticate": "Bearer"})

    return [Depends(HTTPBearer(auto_error=False)), Depends(check)]


def _page(*, annotates: bool) -> Iterator[tuple[str, str, str]]:
    """The files of the page: path, text and media type. annotates: whether it is about a file."""
    yield "/drawing.css", stylesheet(), _TYPES[".css"]
    for file in files("headspan.serve").joinpath("page").iterdir():
        media_type = _TYPES.get(Path(file.name).suffix)
        if media_type is not None:
            path = "/" if file.name == "index.html" else f"/{file.name}"
            text = file.read_text(encoding="utf-8")
            if annotates and path == "/":
                text = text.replace("<body>", "<body data-annotates>", 1)
            yield path, text, media_type


def _document(text: str, media_type: str) -> Callable[[], Awaitable[Response]]:
    async def document() -> Response:
        return Response(text, media_type=media_type, headers={"Cache-Control": "no-cache"})

    return document
