"""The exception and the warning that a user of headspan has to know, and helpers for messages."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, get_args


class HeadspanError(Exception):
    """Input, an option or a file that cannot be used; the message says what is wrong."""


class HeadspanWarning(UserWarning):
    """Input that can be used, but probably not with the result that was hoped for."""


def warn(message: str) -> None:
    """Warn the code that called headspan: the warning has the place of that call."""
    level, frame = 1, sys._getframe()
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] == "headspan":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, HeadspanWarning, stacklevel=level)


@contextmanager
def naming(where: str) -> Iterator[None]:
    """Begin the messages of errors raised here with a name, such as that of a file."""
    try:
        yield
    except HeadspanError as error:
        if str(error).startswith(where):
            raise
        raise HeadspanError(f"{where}: {error}") from error


def check_choice(name: str, value: Any, choices: Any) -> None:
    """Raise HeadspanError unless the value is one of a Literal's.

    Types are not checked at run time, and a misspelled option must not quietly mean another.
    """
    if value not in get_args(choices):
        allowed = ", ".join(map(str, get_args(choices)))
        raise HeadspanError(f"{name} is {value!r}; expected one of {allowed}")


def shown(value: Any, most: int = 40) -> str:
    """A value for a message: quoted, control characters escaped, never long."""
    if isinstance(value, str):
        return repr(value if len(value) <= most else value[:most] + "…")
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # deep nesting; a number of too many digits
        return f"a {type(value).__name__}"
    return text if len(text) <= most else text[:most] + "…"


def named(name: str, most: int = 80) -> str:
    """A name from a file, for a message: without quotes, control characters escaped, never long."""
    return shown(name, most)[1:-1]


def first_line(error: BaseException) -> str:
    """The first line of another library's message."""
    return str(error).strip().split("\n")[0]
