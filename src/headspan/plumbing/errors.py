"""The one exception type that a user of headspan has to know."""

from typing import Any, get_args


class HeadspanError(Exception):
    """Something a user gave to headspan cannot be used; the message says what and why."""


def check_choice(name: str, value: Any, choices: Any) -> None:
    """Raise HeadspanError unless the value is one of a Literal's.

    Types are not checked at run time, and a misspelled option must not quietly mean another.
    """
    if value not in get_args(choices):
        allowed = ", ".join(map(str, get_args(choices)))
        raise HeadspanError(f"{name} is {value!r}; expected one of {allowed}")


def shown(value: Any, most: int = 40) -> str:
    """What was found, for a message: quoted, control characters escaped, never long."""
    if isinstance(value, str):
        return repr(value if len(value) <= most else value[:most] + "…")
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # deep nesting; a number of too many digits
        return f"a {type(value).__name__}"
    return text if len(text) <= most else text[:most] + "…"


def named(name: str, most: int = 80) -> str:
    """A name that a file gave, for a message: as it is, but no control characters, never long."""
    return shown(name, most)[1:-1]
