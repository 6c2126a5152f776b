"""Corpora of any size: cut into chunks, parsed by many processes, written as shards.

    parse_corpus(["texts/"], "parsed")

The same call goes on after any interruption, and gives the same bytes as without one.
"""

from headspan.corpus.output_folder import Summary
from headspan.corpus.run import Progress, parse_corpus

__all__ = ["Progress", "Summary", "parse_corpus"]
