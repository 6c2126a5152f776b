"""Exact inference on score arrays: no words, no networks, no files.

`headed_span`, `arc`, `joint` and the others in lower case are structures: objects with the same
methods, all documented in `Structure`. Importing this is quick: Numba and the compiled loops come
with the first call, torch only if the scores are tensors.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headspan.inference.constraints import Constraints as Constraints
    from headspan.inference.failures import ConstraintError as ConstraintError
    from headspan.inference.failures import NoTreeError as NoTreeError
    from headspan.inference.failures import ScoresError as ScoresError
    from headspan.inference.failures import TreeError as TreeError
    from headspan.inference.results import Marginals as Marginals
    from headspan.inference.results import TreeLists as TreeLists
    from headspan.inference.results import Trees as Trees
    from headspan.inference.structure import Structure as Structure
    from headspan.inference.structures.arc import arc as arc
    from headspan.inference.structures.headed_span import RowProvider as RowProvider
    from headspan.inference.structures.headed_span import headed_span as headed_span
    from headspan.inference.structures.joint import joint as joint
    from headspan.inference.structures.sibling import sibling as sibling
    from headspan.inference.structures.spanning_tree import spanning_tree as spanning_tree
    from headspan.inference.structures.split import split as split
    from headspan.inference.structures.split_sibling import split_sibling as split_sibling

_HOME = {
    "ConstraintError": "failures",
    "Constraints": "constraints",
    "Marginals": "results",
    "NoTreeError": "failures",
    "RowProvider": "structures.headed_span",
    "ScoresError": "failures",
    "Structure": "structure",
    "TreeError": "failures",
    "TreeLists": "results",
    "Trees": "results",
    "arc": "structures.arc",
    "headed_span": "structures.headed_span",
    "joint": "structures.joint",
    "sibling": "structures.sibling",
    "spanning_tree": "structures.spanning_tree",
    "split": "structures.split",
    "split_sibling": "structures.split_sibling",
}

__all__ = [
    "ConstraintError",
    "Constraints",
    "Marginals",
    "NoTreeError",
    "RowProvider",
    "ScoresError",
    "Structure",
    "TreeError",
    "TreeLists",
    "Trees",
    "arc",
    "headed_span",
    "joint",
    "sibling",
    "spanning_tree",
    "split",
    "split_sibling",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _HOME:
        return getattr(import_module(f"headspan.inference.{_HOME[name]}"), name)
    raise AttributeError(f"module 'headspan.inference' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
