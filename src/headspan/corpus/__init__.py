"""Corpora of any size: cut into chunks, parsed by many processes, written as shards.

    parse_corpus(["texts/"], "parsed")

After any interruption the same call resumes, and the result has the same bytes as without one.
"""

from headspan.corpus.output_folder import CorpusSummary
from headspan.corpus.run import CorpusProgress, parse_corpus

__all__ = ["CorpusProgress", "CorpusSummary", "parse_corpus"]
