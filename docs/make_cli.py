"""Write cli.md, the reference of the command line, from the commands themselves.

python docs/make_cli.py
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo

from headspan.cli.commands import app

PAGE = Path(__file__).parent / "cli.md"
INTRODUCTION = """\
# The command line

All commands and their options, as `headspan COMMAND --help` prints them; `python docs/make_cli.py`
generates this page.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *_commands(app, "headspan")])


def _commands(group: typer.Typer, name: str) -> Iterator[str]:
    for command in group.registered_commands:
        if function := command.callback:
            verb = command.name or function.__name__.strip("_").replace("_", "-")
            yield from _command(function, f"{name} {verb}")
    for below in group.registered_groups:
        if inner := below.typer_instance:
            yield from _commands(inner, f"{name} {below.name}")


def _command(function: Callable[..., Any], name: str) -> Iterator[str]:
    hints = get_type_hints(function, include_extras=True)
    places: list[str] = []
    rows: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        hint = hints[parameter.name]
        if get_origin(hint) is None or not hasattr(hint, "__metadata__"):
            continue  # typer's own context
        kind, about = get_args(hint)[:2]
        needed = parameter.default is inspect.Parameter.empty
        if isinstance(about, ArgumentInfo):
            place = about.metavar or parameter.name.upper()
            places.append(place if needed else f"[{place}]")
            rows.append(f"| `{place}` | {_about(about.help, parameter)} |")
        else:
            declared = [about.default, *(about.param_decls or ())]  # the first is typer's default
            names = [option for option in declared if isinstance(option, str)]
            names = names or [f"--{parameter.name.strip('_').replace('_', '-')}"]
            value = "" if kind is bool else f" {about.metavar or _values(kind)}"
            spelled = ", ".join(f"`{option}{value}`" for option in names)
            rows.append(f"| {spelled} | {_about(about.help, parameter)} |")
    yield f"## `{' '.join([name, *places])}`\n"
    yield f"{_plain(inspect.getdoc(function) or '')}\n"
    yield "\n".join(["| | |", "| --- | --- |", *rows]) + "\n"


def _values(kind: Any) -> str:
    """The values of an option: `a|b|c`, or the name of a type."""
    choices = next((k for k in (kind, *get_args(kind)) if get_origin(k) is Literal), None)
    if choices is not None:
        return "\\|".join(get_args(choices))
    return next(k for k in (kind, *get_args(kind)) if isinstance(k, type)).__name__.upper()


def _about(text: str | None, parameter: inspect.Parameter) -> str:
    default = parameter.default
    about = _plain(text or "").replace("\n", " ")
    if default is False or default in (inspect.Parameter.empty, None, "", ()):
        return about
    return f"{about} Default: `{default}`."


def _plain(text: str) -> str:
    return re.sub(r"[ \t]+", " ", text.replace("|", "\\|")).strip()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
