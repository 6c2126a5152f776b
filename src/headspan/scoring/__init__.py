"""Score parses: attachment scores, breakdowns, and the significance of differences.

result = score(conllu.read("gold.conllu"), conllu.read("system.conllu"), punct="upos")
result["las"].f1
"""

from headspan.scoring.breakdowns import BREAKDOWNS, Bins, breakdown, confusion
from headspan.scoring.metrics import METRICS, Evaluation, Score, score
from headspan.scoring.report import as_json, compare_as_json
from headspan.scoring.significance import Comparison, Difference, compare, compare_runs
from headspan.treebank_conventions import Punct, Subtypes

__all__ = [
    "BREAKDOWNS",
    "METRICS",
    "Bins",
    "Comparison",
    "Difference",
    "Evaluation",
    "Punct",
    "Score",
    "Subtypes",
    "as_json",
    "breakdown",
    "compare",
    "compare_as_json",
    "compare_runs",
    "confusion",
    "score",
]
