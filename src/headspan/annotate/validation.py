"""Validation of a sentence: what is certainly wrong, and what is unusual.

The rules are those of Universal Dependencies that need no list of a language, and the lists of the
treebank itself: its relations, tags and features.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import NamedTuple

from headspan import conllu
from headspan.conllu import NO_HEAD, Sentence
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import reason
from headspan.tree import TreeError, check_tree
from headspan.treebank_conventions import base_relation, is_root_relation

UPOS = tuple(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
)
"""The universal tags."""
_TAGS = {"aux": ("AUX",), "cop": ("AUX", "PRON", "DET"), "det": ("DET", "PRON"),
         "nummod": ("NUM", "NOUN", "SYM"), "punct": ("PUNCT",)}  # fmt: skip
_RIGHTWARDS = ("conj", "fixed", "flat", "goeswith")
_LEAVES = ("aux", "case", "cc", "cop", "mark", "punct")
_BELOW_LEAVES = ("advmod", "amod", "cc", "conj", "dep", "fixed", "goeswith", "parataxis", "punct",
                 "reparandum")  # fmt: skip
_SECONDS = 60


class Problem(NamedTuple):
    """One thing that is wrong with a sentence."""

    word: int
    """0 if it is about the sentence."""
    message: str
    certain: bool = True
    """Whether no valid treebank has it; otherwise it is only unusual."""


class Lists:
    """The values that a treebank has, by column, with the most frequent first.

    Values of the treebank and of the model are known; those that an annotator has used besides are
    offered again, but remain unusual.
    """

    def __init__(self, sentences: Iterable[Sentence]) -> None:
        names = ("deprels", "upos", "xpos", "feats")
        self._counts = {name: Counter[str]() for name in names}
        self._known: dict[str, set[str]] = {name: set() for name in names}
        self._features: set[str] = set()
        for sentence in sentences:
            self.use(sentence)
        for name in names:
            self.offer(name, self._counts[name])

    def use(self, sentence: Sentence) -> None:
        """Count the values of a sentence."""
        for name, counts in self._counts.items():
            counts.update(value for value in getattr(sentence, name) if value != "_")

    def offer(self, name: str, values: Iterable[str]) -> None:
        """Add values that are known, though they may not occur."""
        new = [value for value in values if value != "_"]
        self._known[name].update(new)
        if name == "feats":
            self._features.update(feature for value in new for feature in value.split("|"))

    def values(self, name: str) -> list[str]:
        """The values of a column, those that occur most often first."""
        counts = self._counts[name]
        return sorted(self._known[name] | set(counts), key=lambda value: (-counts[value], value))

    def knows(self, name: str, value: str) -> bool:
        """Whether a value is known; any is if none are."""
        return not self._known[name] or value in self._known[name]

    def knows_feature(self, feature: str) -> bool:
        """Whether a feature such as Number=Sing is known; any is if none are."""
        return not self._features or feature in self._features


def problems(sentence: Sentence, lists: Lists) -> list[Problem]:
    """All that is wrong with a sentence, in the order of its words."""
    found = [*_tree_problems(sentence), *_word_problems(sentence, lists), *_text_problems(sentence)]
    return sorted(found, key=lambda problem: (not problem.certain, problem.word))


def _tree_problems(sentence: Sentence) -> Iterator[Problem]:
    if NO_HEAD in sentence.heads:
        yield Problem(sentence.heads.index(NO_HEAD) + 1, "has no head")
        return
    try:
        check_tree(sentence.heads)
    except TreeError as error:
        yield Problem(0, str(error))
        return
    for k, (head, name) in enumerate(zip(sentence.heads, sentence.deprels, strict=True), 1):
        if (head == 0) != is_root_relation(name):
            is_root = "is the root" if head == 0 else "is not the root"
            yield Problem(k, f"{is_root}, and its relation is {name}")
        if not head:
            continue
        base, above = base_relation(name), base_relation(sentence.deprels[head - 1])
        if base in _RIGHTWARDS and head > k:
            yield Problem(k, f"{base} leads from left to right, but its head is word {head}")
        if above in _LEAVES and base not in _BELOW_LEAVES:
            yield Problem(k, f"depends as {name} on a word that is {above}", certain=False)


def _word_problems(sentence: Sentence, lists: Lists) -> Iterator[Problem]:
    for token in sentence:
        k, base = token.id, base_relation(token.deprel)
        if token.deprel != "_" and not lists.knows("deprels", token.deprel):
            yield Problem(k, f"the treebank has no relation {token.deprel}", certain=False)
        if token.upos not in ("_", *UPOS):
            yield Problem(k, f"{token.upos} is not a universal tag")
        elif token.upos != "_" and base in _TAGS and token.upos not in _TAGS[base]:
            yield Problem(k, f"is {token.deprel}, and its tag is {token.upos}", certain=False)
        if token.upos == "PUNCT" and base not in ("punct", "root", "_"):
            yield Problem(k, f"is PUNCT, and its relation is {token.deprel}", certain=False)
        feats = sentence.feats[k - 1]
        if feats == "_":
            continue
        names = [feature.partition("=")[0] for feature in feats.split("|")]
        if names != sorted(set(names), key=str.lower):
            yield Problem(k, "its features are not in order, or one is there twice")
        for feature in feats.split("|"):
            if not lists.knows_feature(feature):
                yield Problem(k, f"the treebank has no feature {feature}", certain=False)


def _text_problems(sentence: Sentence) -> Iterator[Problem]:
    text = sentence.comment("text")
    if text is not None:
        spelled = "".join("".join(token.form.split()) for token in sentence.surface_tokens)
        if spelled != "".join(text.split()):
            yield Problem(0, "the words do not spell the text of the sentence")


def official(sentences: Sequence[Sentence], language: str) -> list[str]:
    """The errors that UD's own validator finds, one per line; it needs the extra `eval`.

    It is a program under another licence, and runs as one. language: the ISO code, or `ud` for the
    rules that hold in all languages.
    """
    if find_spec("udtools") is None:
        raise HeadspanError(
            "validating with udtools needs udtools, which is not installed: "
            "pip install 'headspan[eval]'"
        )
    try:
        done = subprocess.run(  # noqa: S603 (nothing in it comes from a file)
            [sys.executable, "-X", "utf8", "-m", "udtools.cli", "--max-err", "0",
             "--lang", language],
            input=conllu.to_text(sentences), capture_output=True, encoding="utf-8",
            errors="replace", timeout=_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise HeadspanError(f"udtools has not finished within {_SECONDS} seconds") from None
    except OSError as error:
        raise HeadspanError(f"udtools cannot be run: {reason(error)}") from error
    return [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
