"""A treebank as a training set, and its batches."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headspan import conllu
from headspan.config import DataConfig
from headspan.conllu import NO_HEAD, Sentence
from headspan.model.batching import batches, summed_batches
from headspan.model.numbering import prepare
from headspan.model.vocabularies import Vocabularies
from headspan.nn.network import Gold
from headspan.nn.subwords import SubwordTokenizer
from headspan.nn.word_vectors import Inputs
from headspan.plumbing import limits
from headspan.plumbing.errors import HeadspanError
from headspan.pseudoprojective import projectivize, relation
from headspan.tree import TreeError, check_tree, is_projective, subtree_spans

_MIXED = 50  # batches whose sentences are sorted by length together


@dataclass(frozen=True)
class TrainingSet:
    """The sentences of a treebank to learn from; as projective trees, unless others are kept."""

    sentences: list[Sentence]
    """With labels encoded where a tree had to be made projective."""
    spans: list[NDArray[np.int32]]
    """For every sentence, the ends of each word's headed span or subtree, (words, 2)."""
    dropped: dict[str, int]
    """The number of sentences that were left out, by reason."""
    lifted: int
    """The number of sentences that were made projective."""

    @classmethod
    def choose(
        cls, sentences: Iterable[Sentence], data: DataConfig, *, longest: int = limits.LONGEST
    ) -> TrainingSet:
        """The sentences of at most so many words to learn from, made projective as configured."""
        chosen: list[Sentence] = []
        dropped = Counter[str]()
        lifted = 0
        for sentence in sentences:
            if reason := _unusable(sentence, data, longest):
                dropped[reason] += 1
                continue
            if data.scheme is not None:
                lifted += not is_projective(sentence.heads)
                sentence = sentence.with_parse(
                    *projectivize(sentence.heads, sentence.deprels, scheme=data.scheme)
                )
            chosen.append(sentence)
        if data.scheme is not None:
            chosen = _without_rare(chosen, data.encoded_min_count)
        spans = [
            np.array([(span.left, span.right) for span in subtree_spans(s.heads)], np.int32)
            for s in chosen
        ]
        return cls(chosen, spans, dict(dropped), lifted)

    def batch(
        self,
        numbers: Sequence[int],
        vocabularies: Vocabularies,
        tokenizer: SubwordTokenizer | None,
        *,
        word_dropout: float = 0.0,
    ) -> tuple[Inputs, Gold]:
        """Some sentences for the network, with their gold trees.

        word_dropout: the share of masked words.
        """
        sentences = [self.sentences[k] for k in numbers]
        width = max(map(len, sentences))
        gold = Gold(
            padded([s.heads for s in sentences], width),
            padded([self.spans[k] for k in numbers], width, (2,)),
            padded([vocabularies.labels.numbers(s.deprels) for s in sentences], width),
            [
                padded([vocabularies.gold_tags(column, s) for s in sentences], width)
                for column in vocabularies.tags
            ],
        )
        return prepare(sentences, vocabularies, tokenizer, word_dropout=word_dropout), gold


def _unusable(sentence: Sentence, data: DataConfig, longest: int) -> str:
    """The reason why a sentence cannot be learned from; empty if it can."""
    if len(sentence) > longest:
        return f"more than {longest:,} words"
    try:
        check_tree(sentence.heads)
    except TreeError as error:
        return "more than one root" if "root" in str(error) else "a cycle"
    if data.nonprojective == "drop" and not is_projective(sentence.heads):
        return "not projective"
    return ""


def _without_rare(sentences: list[Sentence], min_count: int) -> list[Sentence]:
    """The sentences with rarer encoded labels replaced by the relations in them."""
    counts = Counter(label for s in sentences for label in s.deprels)
    plain = {label: relation(label) for label, count in counts.items() if count < min_count}
    if all(label == bare for label, bare in plain.items()):
        return sentences
    return [s.with_parse(s.heads, [plain.get(r, r) for r in s.deprels]) for s in sentences]


def read_treebank(path: str, what: str) -> list[Sentence]:
    """The sentences of a treebank; raises HeadspanError if one has no heads."""
    if not path:
        raise HeadspanError(f"data.{what} is not set; expected a treebank in CoNLL-U or CoNLL-X")
    sentences = [s for s in conllu.read(path) if len(s)]
    if not sentences:
        raise HeadspanError(f"{path}: has no sentences")
    for number, sentence in enumerate(sentences, 1):
        if NO_HEAD in sentence.heads:
            word = sentence.heads.index(NO_HEAD) + 1
            raise HeadspanError(f"{path}: sentence {number}, word {word} has no head")
    return sentences


def shuffled_batches(
    costs: Sequence[int], budget: int, *, seed: int, epoch: int, summed: bool = False
) -> list[list[int]]:
    """The batches of one epoch: similar lengths together, in an order that the seed decides.

    summed: the budget is for the sum of costs, not for the largest cost times their number.
    """
    cut_by = summed_batches if summed else batches
    rng = random.Random(f"{seed} {epoch}")  # noqa: S311
    order = list(range(len(costs)))
    rng.shuffle(order)
    cut: list[list[int]] = []
    mean = max(1, sum(costs) // len(costs))
    pool = max(1, _MIXED * budget // mean)
    for start in range(0, len(order), pool):
        similar = sorted(order[start : start + pool], key=lambda k: costs[k])
        cut.extend(cut_by(similar, costs, budget))
    rng.shuffle(cut)
    return cut


def padded(rows: list[Any], width: int, shape: tuple[int, ...] = ()) -> Tensor:
    """Rows of numbers as one tensor, −1 beyond their ends."""
    out = np.full((len(rows), width, *shape), -1, np.int64)
    for b, row in enumerate(rows):
        out[b, : len(row)] = row
    return torch.from_numpy(out)
