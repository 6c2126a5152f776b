"""Limits on the length of a sentence. Longer ones are refused before they take resources."""

from __future__ import annotations

from headspan.plumbing.errors import HeadspanError

LONGEST = 2_000
"""Words of the longest sentence that is parsed or drawn. Its best tree takes less than 1 GB, but
the time grows with the third power of the words: twice as many would take minutes."""
LONGEST_DENSE = 400
"""Words of the longest sentence with dense scores, which the k best trees, constraints, sums over
headed spans, and all structures with siblings or both spans and arcs need."""
LONGEST_FORM = 10_000
"""Characters of a word that an encoder sees; the rest is left out."""


def check_parsed(words: int, name: str, *, dense: bool = False) -> None:
    """Raise HeadspanError if a sentence is too long to be parsed. name: which sentence it is.

    dense: whether it needs dense scores.
    """
    most = LONGEST_DENSE if dense else LONGEST
    if words > most:
        raise HeadspanError(
            f"{name} has {words:,} words; at most {most:,} are parsed: divide it (one sentence per "
            "line, or text for the model to segment), or leave it out, as `headspan corpus` does"
        )


def check_drawn(words: int) -> None:
    """Raise HeadspanError if a sentence is too long to be drawn."""
    if words > LONGEST:
        raise HeadspanError(
            f"the sentence has {words:,} words; at most {LONGEST:,} are drawn "
            "(`headspan draw --sentence` chooses another)"
        )
