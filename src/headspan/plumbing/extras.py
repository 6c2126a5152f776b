"""Libraries that only parts of headspan need, and how to install them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headspan.plumbing.errors import HeadspanError


@contextmanager
def needed_for(doing: str, *, extra: str) -> Iterator[None]:
    """Wrap imports that an extra provides; raises HeadspanError if one of them fails.

        with needed_for("drawing PNG and PDF", extra="plot"):
            import matplotlib

    doing: what they are needed for.
    """
    try:
        yield
    except ImportError as error:
        library = (error.name or "a library").partition(".")[0]
        # a library that is too old, or half installed, must not be called missing
        absent = isinstance(error, ModuleNotFoundError) and error.name == library
        why = "is not installed" if absent else f"cannot be imported ({error})"
        raise HeadspanError(
            f"{doing} needs {library}, which {why}: pip install 'headspan[{extra}]'"
        ) from error
