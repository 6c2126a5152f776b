"""The errors that inference raises. All of them are HeadspanErrors."""

from headspan.plumbing.errors import HeadspanError
from headspan.tree import TreeError

__all__ = ["ConstraintError", "NoTreeError", "ScoresError", "TreeError", "not_factored"]


class ScoresError(HeadspanError):
    """The scores, or what comes with them, cannot be used: shape, type, length, NaN or +inf."""


class NoTreeError(HeadspanError):
    """The scores or the constraints forbid every tree of a sentence."""


class ConstraintError(HeadspanError):
    """A constraint does not fit the sentence."""


def not_factored() -> ScoresError:
    """The error for more than one tree, where trees are built word by word."""
    return ScoresError(
        "a model that builds one tree word by word has no constraints, k best trees or sums over "
        "all trees; expected one with another structure"
    )
