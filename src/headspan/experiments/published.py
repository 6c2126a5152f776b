"""The figures of the paper: Yang and Tu (2022), *Headed-Span-Based Projective Dependency Parsing*.

They are test scores in percent, means of three runs, without punctuation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ENCODERS: Mapping[str, str] = {
    "ptb": "BERT large cased",
    "ctb": "BERT base Chinese",
    "ud-2.2": "multilingual BERT cased",
}
"""The encoder behind each corpus's figures; with another one, they are not comparable."""


@dataclass(frozen=True)
class Published:
    """A row of a table in the paper, which has no UAS for UD."""

    table: int
    system: str
    """The paper's name for the system."""
    uas: float | None
    las: float


_SPAN, _ARC, _MEAN_FIELD, _POINTER = "Ours", "Biaffine+MM", "MFVI2O", "HierPtr"
_UD = "bg_btb ca_ancora cs_pdt de_gsd en_ewt es_ancora fr_gsd it_isdt nl_alpino no_bokmaal ro_rrt \
ru_syntagrus".split()
_UD_LAS = {
    "span": (91.10, 94.46, 92.57, 85.87, 91.32, 93.84, 91.69, 94.78, 91.65, 94.28, 87.48, 94.45),
    "arc": (90.30, 94.49, 92.65, 85.98, 91.13, 93.78, 91.77, 94.72, 91.04, 94.21, 87.24, 94.53),
    "mean-field": (
        91.30, 93.60, 92.09, 82.00, 90.75, 92.62, 89.32, 93.66, 91.21, 91.74, 86.40, 92.61,
    ),
}  # fmt: skip
UD_AVERAGE: Mapping[str, float] = {"span": 91.96, "arc": 91.82, "mean-field": 90.61}
"""The column Avg of table 2."""

FIGURES: Mapping[tuple[str, str, str, str], Published] = {
    ("ptb", "ptb", "span", "max-margin"): Published(1, _SPAN, 97.24, 95.73),
    ("ptb", "ptb", "arc", "max-margin"): Published(1, _ARC, 97.22, 95.71),
    ("ctb", "ctb", "span", "max-margin"): Published(1, _SPAN, 93.33, 92.30),
    ("ctb", "ctb", "arc", "max-margin"): Published(1, _ARC, 93.18, 92.10),
    ("ptb", "ptb", "mean-field", "local"): Published(1, _MEAN_FIELD, 96.91, 95.34),
    ("ctb", "ctb", "mean-field", "local"): Published(1, _MEAN_FIELD, 92.55, 91.69),
    ("ptb", "ptb", "pointer", "local"): Published(1, _POINTER, 97.01, 95.48),
    ("ctb", "ctb", "pointer", "local"): Published(1, _POINTER, 92.65, 91.47),
    ("ctb", "ctb", "arc-refined", "max-margin"): Published(1, "RNGTr", 92.98, 91.18),
    ("ptb", "ptb", "span", "local"): Published(3, "span-selection loss", 97.07, 95.50),
    ("ctb", "ctb", "span", "local"): Published(3, "span-selection loss", 93.28, 92.20),
    **{
        ("ud-2.2", treebank, structure, loss): Published(2, name, None, las)
        for structure, loss, name in (
            ("span", "max-margin", _SPAN),
            ("arc", "max-margin", _ARC),
            ("mean-field", "local", _MEAN_FIELD),
        )
        for treebank, las in zip(_UD, _UD_LAS[structure], strict=True)
    },
}
"""The paper's figures by corpus, treebank, structure and loss; those with BERT."""


def published(corpus: str, treebank: str, structure: str, loss: str) -> Published | None:
    """The paper's figures for the same data, structure and loss, if it has any."""
    return FIGURES.get((corpus, treebank, structure, loss))
