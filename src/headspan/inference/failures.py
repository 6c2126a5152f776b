"""The errors that inference raises. All of them are HeadspanErrors."""

from headspan.plumbing.errors import HeadspanError
from headspan.tree import TreeError

__all__ = ["ConstraintError", "NoTreeError", "ScoresError", "TreeError"]


class ScoresError(HeadspanError):
    """The scores, or what comes with them, cannot be used: shape, type, length, NaN or +inf."""


class NoTreeError(HeadspanError):
    """The scores or the constraints forbid every tree of a sentence."""


class ConstraintError(HeadspanError):
    """A constraint does not fit the sentence."""
