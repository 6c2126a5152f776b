"""Run a command: what went wrong becomes one line and an exit code."""

from __future__ import annotations

import io
import os
import signal
import sys
import warnings
from typing import Any, NoReturn

import typer

from headspan.cli.commands import app
from headspan.plumbing.errors import HeadspanError, HeadspanWarning
from headspan.plumbing.files import reason

_python_format = warnings.formatwarning


def run() -> None:
    """Run the command line.

    A user's mistake prints one line and exits with code 2. A reader of the output that stops early
    prints nothing.
    """
    try:
        # ending with an exception removes temporary files
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # a terminal may lack characters
        warnings.formatwarning = _one_line
        code = _code()
        if sys.stdout is not None:
            sys.stdout.flush()
    except HeadspanError as error:
        _fail(str(error))
    except ModuleNotFoundError as error:
        if error.name not in ("fcntl", "resource"):
            raise
        _fail(f"this command needs Linux or macOS: this Python has no module {error.name!r}")
    except BrokenPipeError:  # the reader of our output has stopped
        _drop_output()
        sys.exit(1)
    except OSError as error:  # a full disk, a device that refuses
        _drop_output()
        _fail(f"{error.filename or 'standard output'}: cannot be read or written: {reason(error)}")
    if code:
        sys.exit(code)


def _code() -> int:
    """Run a command and return its exit code; wrong usage is a HeadspanError."""
    usage_error: Any = typer.BadParameter.__mro__[2]  # click's, wherever this typer has it
    try:
        return int(app(standalone_mode=False) or 0)
    except usage_error as error:
        message: str = error.format_message().replace("Value error, ", "")  # pydantic's words
        if "\n" in message:  # the help, of a command that needs arguments
            print(message, file=sys.stderr)
            return int(error.exit_code)
        about = f"; `{error.ctx.command_path} --help` shows the usage" if error.ctx else ""
        raise HeadspanError(f"{message[0].lower()}{message[1:].rstrip('.')}{about}") from error


def _one_line(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> str:
    """A warning of headspan as one line, without its place; others as Python prints them."""
    if issubclass(category, HeadspanWarning):
        return f"headspan: {message}\n"
    return _python_format(message, category, *place, **more)


def _fail(message: str) -> NoReturn:
    print(f"headspan: {message}", file=sys.stderr)
    sys.exit(2)


def _drop_output() -> None:
    """Discard what is still in the buffer of standard output."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
