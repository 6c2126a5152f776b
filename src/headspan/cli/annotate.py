"""headspan annotate."""

from __future__ import annotations

import getpass
import re
import secrets
import sys
import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from headspan.cli.options import Int8, Model, load_parser
from headspan.plumbing.errors import HeadspanError


def annotate(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The CoNLL-U or text file to annotate.")
    ],
    model: Model = "en",
    int8: Int8 = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="The CoNLL-U file to write; if it is there, the work in it goes on. Default: "
            "FILE with the ending .annotated.conllu.",
            show_default=False,
        ),
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Write over FILE, which must be CoNLL-U.")
    ] = False,
    annotator: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Your name, as it is stored with what you confirm. Default: the user name.",
            show_default=False,
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="FILE2",
            help="A second annotator's file, to see differences and agreement.",
            show_default=False,
        ),
    ] = None,
    retrain: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="After every N confirmed sentences, train the model on them in the background and "
            "go on with the better one; needs the extra train.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            metavar="PORT", min=0, max=65535, help="Port to listen on; 0 chooses a free one."
        ),
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Annotate a treebank in the browser, with a parser that parses along.

    Each correction is kept, and the rest of the sentence is parsed again, exactly. Everything is
    saved at once, to a file of its own. The page is on this machine only, and its address has a
    token. Ctrl-C ends it.
    """
    from headspan.annotate import Session
    from headspan.annotate.fine_tuning import check_torch
    from headspan.annotate.retraining import Retraining
    from headspan.model.folder import find_model
    from headspan.serve import create_app, run

    if in_place and output is not None:
        raise HeadspanError("--in-place and --output contradict each other; expected one of them")
    if output is not None and Path(output).resolve() == Path(file).resolve():
        raise HeadspanError(f"{output}: is FILE itself; expected --in-place to write over it")
    if retrain is not None:
        check_torch()
    name = Path(model).name
    parser = load_parser(model, int8)
    session = Session.open(
        file,
        parser,
        annotator=annotator or _user(),
        output=file if in_place else output,
        against=against,
        model=re.sub(r"\s+", "-", name) or "headspan",
    )
    written = session.output
    token = secrets.token_urlsafe(24)

    def ready(address: str) -> None:
        page = f"{address}#token={token}"
        print(f"headspan annotates {file} at {page}", flush=True)
        print(f"headspan: what you do is saved in {written}; Ctrl-C ends it", file=sys.stderr)
        if browser:
            # The service does not wait for a browser that is slow to start.
            threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()

    try:
        retraining = Retraining(session, find_model(model), retrain) if retrain else None
        app = create_app(parser, name=name, token=token, session=session, retraining=retraining)
        finished = run(app, host="127.0.0.1", port=port, ready=ready, log_requests=False)
    finally:
        session.close()
    done = session.progress()
    print(
        f"headspan: {done.confirmed} of {done.sentences} sentences are confirmed in {written}",
        file=sys.stderr,
    )
    if not finished:
        sys.exit(1)


def _user() -> str:
    """The name of the user, as MISC can hold it."""
    try:
        return re.sub(r"[\s|=]+", "-", getpass.getuser())[:80] or "annotator"
    except (KeyError, OSError):
        return "annotator"
