"""The HTTP service and its page. Needs the extra `serve`.

from headspan.serve import Limits, create_app
app = create_app(headspan.load())      # any ASGI server runs it
"""

from headspan.serve.app import create_app
from headspan.serve.limits import Limits
from headspan.serve.server import run

__all__ = ["Limits", "create_app", "run"]
