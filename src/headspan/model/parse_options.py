"""ParseOptions: the results of a parser besides the best tree."""

from __future__ import annotations

from dataclasses import dataclass

from headspan.plumbing.errors import HeadspanError, shown


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """The options of `Parser.parse` that all sentences of a batch share."""

    confidence: bool = False
    """Also give the probabilities of every head and relation."""
    k: int = 1
    """Give this many of the best trees."""
    retag: bool = False
    """Predict tags even where a sentence has them."""

    def __post_init__(self) -> None:
        if type(self.k) is not int or self.k < 1:
            raise HeadspanError(f"k is {shown(self.k)}; expected a whole number from 1")
