"""Make a system's output whose tokens, words, sentences and trees differ from gold."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from headspan.conllu import MultiwordToken, Sentence

NO_CHANGE = 0.85


@dataclass
class SystemToken:
    """A token of the system's output: its form, and its words with the gold words they are."""

    form: str
    words: list[tuple[str, tuple[int, int] | None]] = field(default_factory=list)
    ends_sentence: bool = False


def retokenized(sentences: list[Sentence], rng: random.Random) -> list[Sentence]:
    """The same characters, in places with other boundaries, and mostly right annotation."""
    tokens: list[SystemToken] = []
    for number, sentence in enumerate(sentences):
        for token in sentence.surface_tokens:
            words = [
                (sentence.forms[k - 1], (number, k)) for k in range(token.first, token.last + 1)
            ]
            tokens += _changed(SystemToken(token.form, words), rng)
        tokens[-1].ends_sentence = rng.random() < NO_CHANGE
    tokens[-1].ends_sentence = True
    merged: list[SystemToken] = []
    for token in tokens:
        if merged and not merged[-1].ends_sentence and rng.random() < 0.03:
            last = merged.pop()
            token = SystemToken(
                last.form + token.form, [(last.form + token.form, None)], token.ends_sentence
            )
        merged.append(token)
    built: list[Sentence] = []
    current: list[SystemToken] = []
    for token in merged:
        current.append(token)
        if token.ends_sentence or rng.random() < 0.02:
            built.append(_sentence(current, sentences, rng))
            current = []
    return built


def _changed(token: SystemToken, rng: random.Random) -> Iterable[SystemToken]:
    form = token.form
    if rng.random() < NO_CHANGE or len(form) < 2:
        return [token]
    cut = rng.randint(1, len(form) - 1)
    choice = rng.randrange(4)
    if choice == 0:  # two tokens
        return [SystemToken(part, [(part, None)]) for part in (form[:cut], form[cut:])]
    if choice == 1:  # a multiword token of two words
        return [SystemToken(form, [(form[:cut], None), (form[cut:], token.words[-1][1])])]
    if choice == 2:  # a multiword token with some of the gold words, and one more
        return [SystemToken(form, [*token.words, (form.upper(), None)])]
    return [SystemToken(form, [(form, token.words[0][1])])]  # one word


def _sentence(tokens: list[SystemToken], gold: list[Sentence], rng: random.Random) -> Sentence:
    forms: list[str] = []
    sources: list[tuple[int, int] | None] = []
    multiwords = []
    for token in tokens:
        first = len(forms) + 1
        for form, source in token.words:
            forms.append(form)
            sources.append(source)
        if len(token.words) > 1:
            columns = (token.form, *["_"] * 8)
            multiwords.append(MultiwordToken(first, len(forms), columns))

    def column(name: str, other: list[str]) -> list[str]:
        return [
            getattr(gold[source[0]], name)[source[1] - 1]
            if source and rng.random() < NO_CHANGE
            else rng.choice(other)
            for source in sources
        ]

    return Sentence(
        tuple(forms),
        tuple(column("lemmas", ["_", "x"])),
        tuple(column("upos", ["NOUN", "X"])),
        tuple(column("xpos", ["NN", "_"])),
        tuple(column("feats", ["_", "Number=Sing", "Odd=Yes|Number=Plur"])),
        tuple(_heads(sources, gold, rng)),
        tuple(column("deprels", ["nsubj", "nsubj:pass", "det", "punct"])),
        ("_",) * len(forms),
        ("_",) * len(forms),
        multiwords=tuple(multiwords),
    )


def _heads(
    sources: list[tuple[int, int] | None], gold: list[Sentence], rng: random.Random
) -> list[int]:
    """A single-root tree with the gold heads, where they exist and make no cycle."""
    n = len(sources)
    place = {source: k for k, source in enumerate(sources, 1) if source}
    heads = [0] + [rng.randint(1, k) for k in range(1, n)]
    for k, source in enumerate(sources, 1):
        if not source or heads[k - 1] == 0 or rng.random() > NO_CHANGE:
            continue
        number, word = source
        head = place.get((number, gold[number].heads[word - 1]))
        above = head
        while above and above != k:
            above = heads[above - 1]
        if head and above != k:
            heads[k - 1] = head
    return heads
