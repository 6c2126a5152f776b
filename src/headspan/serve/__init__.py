"""The HTTP service and its page; needs the extra `serve`.

from headspan.serve import create_app

app = create_app(headspan.load())  # any ASGI server runs it
"""

from headspan.plumbing.extras import needed_for

with needed_for("serving", extra="serve"):
    import fastapi  # noqa: F401
    import uvicorn  # noqa: F401

from headspan.serve.app import create_app
from headspan.serve.request_limits import Limits
from headspan.serve.server import run

__all__ = ["Limits", "create_app", "run"]
