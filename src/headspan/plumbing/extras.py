"""What only some of headspan needs, and how to install it where it is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headspan.plumbing.errors import HeadspanError


@contextmanager
def needed_for(doing: str, *, extra: str) -> Iterator[None]:
    """Around the imports that an extra brings; raises HeadspanError where one of them fails.

        with needed_for("drawing PNG and PDF", extra="plot"):
            import matplotlib

    doing: what cannot be done without them.
    """
    try:
        yield
    except ImportError as error:
        library = (error.name or "a library").partition(".")[0]
        # one that is there, but too old, or half installed, must not be called missing
        absent = isinstance(error, ModuleNotFoundError) and error.name == library
        why = "is not installed" if absent else f"cannot be imported ({error})"
        raise HeadspanError(
            f"{doing} needs {library}, which {why}: pip install 'headspan[{extra}]'"
        ) from error
