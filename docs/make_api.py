"""Write api.md, the reference of the Python interface, from signatures and docstrings.

python docs/make_api.py
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

PAGE = Path(__file__).parent / "api.md"
MODULES = (
    "headspan",
    "headspan.conllu",
    "headspan.tree",
    "headspan.pseudoprojective",
    "headspan.inference",
    "headspan.registries",
    "headspan.scoring",
    "headspan.text",
    "headspan.render",
    "headspan.interchange",
    "headspan.training",
    "headspan.corpus",
    "headspan.serve",
)
INTRODUCTION = """\
# The Python interface

All public names with their signatures and docstrings; `python docs/make_api.py` generates this
page. Names are imported when they are first used, so `import headspan` is fast. Every mistake that
a user can correct raises `HeadspanError`; input that a model was not made for gives a
`HeadspanWarning`.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *(line for name in MODULES for line in _module(name))])


def _module(name: str) -> Iterator[str]:
    module = import_module(name)
    yield f"## `{name}`\n\n{_doc(module)}\n"
    for public in _public(module):
        thing = getattr(module, public)
        if isinstance(thing, FunctionType):
            yield f"### `{public}{_signature(thing)}`\n\n{_doc(thing)}\n"
        else:
            kind = thing if isinstance(thing, type) else type(thing)  # a structure is an object
            if kind.__module__.startswith("headspan"):
                yield from _class(public, kind)


def _public(module: ModuleType) -> list[str]:
    """The public names of a module."""
    names = getattr(module, "__all__", None)
    if names is None:
        defined = (n for n, thing in vars(module).items() if _is_own(thing, module))
        names = [n for n in defined if not n.startswith("_")]
    return list(names)


def _is_own(thing: Any, module: ModuleType) -> bool:
    return isinstance(thing, FunctionType | type) and thing.__module__ == module.__name__


def _class(name: str, thing: type) -> Iterator[str]:
    yield f"### `{name}`\n\n{_doc(thing)}\n"
    if dataclasses.is_dataclass(thing):
        inherited = {f.name for base in thing.__mro__[1:] for f in _fields(base)}
        fields = [f"`{f.name}`" for f in _fields(thing) if f.name not in inherited]
        if fields:
            yield f"Fields: {', '.join(fields)}.\n"
    for method, value in vars(thing).items():
        if method.startswith("_") and method != "__call__":
            continue
        function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if not isinstance(function, FunctionType) or not function.__doc__:
            continue
        call = "" if isinstance(value, property) else _signature(function)
        name = "" if method == "__call__" else f".{method}"
        yield f"- `{name}{call}`: {_first(function)}"
    yield ""


def _fields(thing: type) -> list[dataclasses.Field[Any]]:
    if not dataclasses.is_dataclass(thing):
        return []
    return [f for f in dataclasses.fields(thing) if not f.name.startswith("_")]


def _signature(function: FunctionType) -> str:
    """The parameters with their defaults, without types."""
    parameters = list(inspect.signature(function).parameters.values())
    if parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    bare = [p.replace(annotation=inspect.Parameter.empty, default=_shown(p)) for p in parameters]
    return str(inspect.Signature(bare))


def _shown(parameter: inspect.Parameter) -> Any:
    """Its default, or `…` if that is not a plain value."""
    plain = (bool, int, float, str, tuple, type(None))
    if parameter.default is parameter.empty or isinstance(parameter.default, plain):
        return parameter.default
    return _Rest()


class _Rest:
    def __repr__(self) -> str:
        return "…"


def _doc(thing: Any) -> str:
    return inspect.getdoc(thing) or ""


def _first(function: FunctionType) -> str:
    return _doc(function).partition("\n\n")[0].replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
