"""Parsing speed by sentence length."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from headspan.conllu import Sentence
from headspan.model.parser import Parser
from headspan.model.throughput import in_turn
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.extras import needed_for

BUCKETS = (1, 10, 20, 30, 40, 80)
"""The lower ends of the sentence lengths: those of the paper's figure 4, and 80."""
ALL = "all"


@dataclass(frozen=True)
class SpeedRow:
    """The speed of one model on the sentences of one bucket; medians over repeats."""

    model: str
    structure: str
    device: str
    threads: int
    bucket: str
    sentences: int
    words: int
    seconds: float
    without_encoder: float
    """The seconds from word vectors to labelled trees: scoring, decoding, relations."""

    @property
    def rates(self) -> dict[str, float]:
        """Sentences and words per second, with and without the encoder and the BiLSTM."""
        timings = {"": self.seconds, "_without_encoder": self.without_encoder}
        return {
            f"{unit}_per_second{suffix}": getattr(self, unit) / seconds
            for suffix, seconds in timings.items()
            for unit in ("sentences", "words")
        }


def devices() -> list[str]:
    """The CPU and, if available, CUDA."""
    with needed_for("measuring speed on devices", extra="torch"):
        import torch
    return ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def speeds(
    models: Mapping[str, Parser],
    sentences: Sequence[Sentence],
    *,
    threads: int = 1,
    repeat: int = 3,
) -> list[SpeedRow]:
    """Parse the sentences of every bucket, and all of them, with every model on every device.

    The models take turns on a bucket, so that other load on the machine affects all of them.
    """
    if not sentences:
        raise HeadspanError("there are no sentences to parse")
    rows: list[SpeedRow] = []
    for device in devices():
        for parser in models.values():
            parser.to(device)
        for bucket, group in {ALL: list(sentences), **buckets(sentences)}.items():
            measured = in_turn(list(models.values()), group, threads=[threads], repeat=repeat)
            for (name, parser), (speed,) in zip(models.items(), measured, strict=True):
                structure = parser.config.model.structure
                rows.append(
                    SpeedRow(name, structure, device, threads, bucket, len(group), speed.words,
                        speed.seconds, speed.without_encoder)
                )  # fmt: skip
    for parser in models.values():
        parser.to("cpu")
    return rows


def buckets(sentences: Sequence[Sentence]) -> dict[str, list[Sentence]]:
    """The sentences by length; empty buckets are left out."""
    groups: list[list[Sentence]] = [[] for _ in BUCKETS]
    for sentence in sentences:
        if len(sentence):
            groups[bisect_right(BUCKETS, len(sentence)) - 1].append(sentence)
    names = [f"{low}-{high - 1}" for low, high in pairwise(BUCKETS)]
    names.append(f"≥{BUCKETS[-1]}")
    return {name: group for name, group in zip(names, groups, strict=True) if group}


def made_up(size: int = 32, *, seed: int = 0) -> list[Sentence]:
    """Sentences of made-up words, `size` per bucket, for use without a treebank."""
    rng = random.Random(seed)  # noqa: S311
    ends = [*BUCKETS[1:], 120]
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [
        Sentence.from_words(
            [
                "".join(rng.choices(letters, k=rng.randint(1, 9)))
                for _ in range(rng.randrange(*ends_))
            ]
        )
        for ends_ in zip(BUCKETS, ends, strict=True)
        for _ in range(size)
    ]
