"""ParseOptions: what a parser gives beside the best tree."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """The options of `Parser.parse` that all sentences of a batch share."""

    confidence: bool = False
    """Also give the probability of every arc."""
    k: int = 1
    """Give this many of the best trees."""
    retag: bool = False
    """Predict tags also where a sentence has some."""
