"""The names of structures, scorers and losses in configurations, and what they stand for.

An entry is an object, or the place of one as "module:attribute", which is imported when it is first
used: reading a configuration needs neither NumPy nor torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from headspan.plumbing.errors import HeadspanError, shown


class Registry(Mapping[str, Any]):
    """Objects of one kind by name, in the order in which they were registered."""

    def __init__(self, kind: str, entries: Mapping[str, Any]) -> None:
        self.kind = kind
        self._entries = dict(entries)

    def __getitem__(self, name: str) -> Any:
        self.check(name)
        entry = self._entries[name]
        if isinstance(entry, str):
            module, _, attribute = entry.partition(":")
            entry = self._entries[name] = getattr(import_module(module), attribute)
        return entry

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def check(self, name: Any) -> None:
        """Raise HeadspanError, listing the known names, unless this is one of them."""
        if name not in self._entries:
            names = ", ".join(self._entries)
            raise HeadspanError(f"unknown {self.kind} {shown(name)}; expected one of {names}")

    def register(self, name: str, entry: Any) -> None:
        """Add an entry, or replace the one of that name."""
        self._entries[name] = entry

    def unregister(self, name: str) -> None:
        """Remove an entry."""
        self.check(name)
        del self._entries[name]


STRUCTURES = Registry(
    "structure",
    {
        "span": "headspan.inference.structures.headed_span:headed_span",
        "arc": "headspan.inference.structures.arc:arc",
        "joint": "headspan.inference.structures.joint:joint",
        "split": "headspan.inference.structures.split:split",
        "sibling": "headspan.inference.structures.sibling:sibling",
        "split-sibling": "headspan.inference.structures.split_sibling:split_sibling",
        "mean-field": "headspan.inference.structures.mean_field:mean_field",
        "mst": "headspan.inference.structures.spanning_tree:spanning_tree",
        "pointer": "headspan.inference.structures.pointer:pointer",
        "pointer-left-to-right": "headspan.inference.structures.pointer:left_to_right",
    },
)
"""Structures by name; see `headspan.inference.structure.Structure`."""

SCORERS = Registry(
    "scorer",
    {
        "span": "headspan.nn.scorers:SpanScorer",
        "arc": "headspan.nn.scorers:ArcScorer",
        "left_end": "headspan.nn.scorers:EndScorer",
        "right_end": "headspan.nn.scorers:EndScorer",
        "sibling": "headspan.nn.triaffine:SiblingScorer",
        "posterior_arc": "headspan.nn.mean_field:MeanFieldScorer",
        "hierarchical_pointer": "headspan.nn.pointer:HierarchicalPointer",
        "left_to_right_pointer": "headspan.nn.pointer:LeftToRightPointer",
    },
)
"""The scorers of pieces, by the names that pieces give (`Piece.scorer`): modules
Scorer(inputs, size, dropout) that turn the context of a batch, (B, N+2, inputs), and the lengths of
its sentences, (B,), into PieceScores (`headspan.nn.piece_scores`)."""

LOSSES = Registry(
    "loss",
    {
        "max-margin": "headspan.nn.losses:max_margin",
        "local": "headspan.nn.losses:local",
        "crf": "headspan.nn.losses:crf",
    },
)
"""Losses on trees by name: functions f(scores: TreeScores, heads, spans); see `headspan.nn.losses`.
"""
