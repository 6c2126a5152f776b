"""headspan serve."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headspan.cli.options import Int8, load_parser
from headspan.plumbing.errors import HeadspanError

if TYPE_CHECKING:
    from headspan.model.parser import Parser


def serve(
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL",
            help="Model folder, or the name of an embedded or installed model; can be repeated. "
            "The first is the default of requests.",
            show_default="en",
        ),
    ] = None,
    int8: Int8 = None,
    host: Annotated[str, typer.Option(metavar="HOST", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            metavar="PORT", min=0, max=65535, help="Port to listen on; 0 chooses a free one."
        ),
    ] = 8000,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN",
            help="Another site whose pages may send requests, such as https://their.site; can be "
            "repeated.",
        ),
    ] = None,
    max_body: Annotated[
        int, typer.Option(metavar="BYTES", help="Largest request body, in bytes.")
    ] = 4 << 20,
    max_words: Annotated[
        int, typer.Option(metavar="N", help="Largest number of words per request.")
    ] = 20_000,
    max_sentence: Annotated[
        int, typer.Option(metavar="N", help="Largest number of words per sentence.")
    ] = 200,
    max_waiting: Annotated[
        int,
        typer.Option(metavar="N", help="Largest number of words waiting, over all requests."),
    ] = 100_000,
) -> None:
    """Serve a parser over HTTP, with a page at / to try it.

    POST /parse takes text, words or CoNLL-U; /openapi.json describes the interface. If the
    environment variable HEADSPAN_TOKEN is set, clients must send it as a bearer token. After
    SIGINT or SIGTERM the service finishes accepted requests, for a minute at most, and stops; a
    second signal stops it at once.
    """
    from headspan.serve import Limits, create_app, run
    from headspan.serve.guard import hosts_of

    limits = Limits(
        body=max_body,
        words=max_words,
        sentence=max_sentence,
        subwords=3 * max_sentence,
        trees=20 * max_sentence,
        waiting=max_waiting,
    )
    token = os.environ.get("HEADSPAN_TOKEN")
    if token is not None and not token.strip():
        raise HeadspanError(
            "HEADSPAN_TOKEN is empty; expected a token, or no such variable to serve without one"
        )
    parsers: dict[str, Parser] = {}
    for place in model or ["en"]:
        name = Path(place).name
        if name in parsers:
            raise HeadspanError(f"two models have the name {name}")
        parsers[name] = load_parser(place, int8)
    first, *others = parsers
    app = create_app(
        parsers[first],
        name=first,
        further={name: parsers[name] for name in others},
        limits=limits,
        token=token,
        hosts=hosts_of(host),
        origins=allow_origin or (),
    )
    finished = run(
        app,
        host=host,
        port=port,
        ready=lambda address: print(
            f"headspan serves {', '.join(parsers)} at {address}", flush=True
        ),
        limits=limits,
    )
    if not finished:
        sys.exit(1)
