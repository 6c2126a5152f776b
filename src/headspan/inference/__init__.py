"""Exact inference on score arrays: no words, no networks, no files.

Three structures, one module each, with the same functions: `headed_span`, `arc`, and `joint` for
both together. Importing this is quick: Numba and the loops come with the first call, torch only
if the scores are tensors.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headspan.inference import arc as arc
    from headspan.inference import headed_span as headed_span
    from headspan.inference import joint as joint
    from headspan.inference.constraints import Constraints as Constraints
    from headspan.inference.errors import ConstraintError as ConstraintError
    from headspan.inference.errors import NoTreeError as NoTreeError
    from headspan.inference.errors import ScoresError as ScoresError
    from headspan.inference.errors import TreeError as TreeError
    from headspan.inference.results import Marginals as Marginals
    from headspan.inference.results import TreeLists as TreeLists
    from headspan.inference.results import Trees as Trees
    from headspan.inference.rows import RowProvider as RowProvider

_HOME = {
    "ConstraintError": "errors",
    "Constraints": "constraints",
    "Marginals": "results",
    "NoTreeError": "errors",
    "RowProvider": "rows",
    "ScoresError": "errors",
    "TreeError": "errors",
    "TreeLists": "results",
    "Trees": "results",
}
_MODULES = ("arc", "headed_span", "joint")

__all__ = [
    "ConstraintError",
    "Constraints",
    "Marginals",
    "NoTreeError",
    "RowProvider",
    "ScoresError",
    "TreeError",
    "TreeLists",
    "Trees",
    "arc",
    "headed_span",
    "joint",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name in _MODULES:
        return import_module(f"headspan.inference.{name}")
    if name in _HOME:
        return getattr(import_module(f"headspan.inference.{_HOME[name]}"), name)
    raise AttributeError(f"module 'headspan.inference' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
