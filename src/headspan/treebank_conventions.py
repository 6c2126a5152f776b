"""Conventions of treebanks: punctuation, subtypes of relations, the relation of the root."""

from __future__ import annotations

import unicodedata
from typing import Literal, TypeAlias

Punct: TypeAlias = Literal["keep", "upos", "chars", "ptb", "ctb"]
"""The words that are left out as punctuation: none, or those of one of four definitions."""
Subtypes: TypeAlias = Literal["keep", "strip"]
"""The treatment of subtypes when relations are compared: keep them, or strip them."""

_PTB_PUNCTUATION = frozenset(("``", "''", ":", ",", "."))


def is_punctuation(punct: Punct, form: str, upos: str, xpos: str) -> bool:
    """Tell whether a word is punctuation that is left out."""
    if punct == "upos":
        return upos == "PUNCT"
    if punct == "chars":
        return bool(form) and all(unicodedata.category(c).startswith("P") for c in form)
    if punct == "ptb":
        return not _PTB_PUNCTUATION.isdisjoint((xpos, upos))
    return punct == "ctb" and "PU" in (xpos, upos)


def base_relation(relation: str) -> str:
    """Return a relation without its subtype: `acl` for `acl:relcl`."""
    return relation.partition(":")[0]


def is_root_relation(relation: str) -> bool:
    """Tell whether a relation is that of the root, and of no other word: `root`, `ROOT`."""
    return base_relation(relation).lower() == "root"
