"""A treebank as a training set, and its batches."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headspan import conllu
from headspan.config import DataConfig, Files, file_list
from headspan.conllu import NO_HEAD, Sentence
from headspan.model.batching import batches, summed_batches
from headspan.model.numbering import prepare
from headspan.model.vocabularies import Vocabularies
from headspan.nn.network import Gold
from headspan.plumbing import limits
from headspan.plumbing.errors import HeadspanError
from headspan.pseudoprojective import projectivize, relation
from headspan.render import confidences
from headspan.runtime.inputs import Inputs
from headspan.runtime.subwords import SubwordTokenizer
from headspan.training.conventions import with_lemmas_of_first
from headspan.tree import TreeError, check_tree, is_projective, subtree_spans
from headspan.vocabulary import Vocabulary

_MIXED = 50  # batches whose sentences are sorted by length together


@dataclass(frozen=True)
class TrainingSet:
    """The sentences of a treebank to learn from; as projective trees, unless others are kept.

    Behind those of people there may be silver ones, whose trees are a parser's.
    """

    sentences: list[Sentence]
    """With labels encoded where a tree had to be made projective."""
    spans: list[NDArray[np.int32]]
    """For every sentence, the ends of each word's headed span or subtree, (words, 2)."""
    dropped: dict[str, int]
    """The number of sentences that were left out, by reason."""
    lifted: int
    """The number of sentences that were made projective."""
    silver: int = 0
    """The number of silver sentences."""

    @classmethod
    def choose(
        cls, sentences: Iterable[Sentence], data: DataConfig, *, longest: int = limits.LONGEST
    ) -> TrainingSet:
        """The sentences of at most so many words to learn from, made projective as configured."""
        dropped = Counter[str]()
        chosen, lifted = _projective(sentences, data, longest, dropped)
        if data.scheme is not None:
            chosen = _without_rare(chosen, data.encoded_min_count)
        return cls(chosen, _spans(chosen), dict(dropped), lifted)

    def with_silver(
        self, sentences: Iterable[Sentence], data: DataConfig, *, longest: int = limits.LONGEST
    ) -> TrainingSet:
        """The same with silver sentences, if they are confident enough and their labels known."""
        known = {label for s in self.sentences for label in s.deprels}
        dropped = Counter(self.dropped)
        confident = (s for s in sentences if _is_confident(s, data.silver_confidence, dropped))
        chosen: list[Sentence] = []
        projective, _ = _projective(confident, data, longest, dropped)
        for sentence in projective:
            labels = [r if r in known else relation(r) for r in sentence.deprels]
            if known.issuperset(labels):
                chosen.append(sentence.with_parse(sentence.heads, labels))
            else:
                dropped["silver, a relation that the treebank does not have"] += 1
        return replace(
            self,
            sentences=[*self.sentences, *chosen],
            spans=[*self.spans, *_spans(chosen)],
            dropped=dict(dropped),
            silver=len(chosen),
        )

    def known_to(self, labels: Vocabulary) -> TrainingSet:
        """The sentences whose labels a model knows, if need be without what they encode."""
        numbers: list[int] = []
        sentences: list[Sentence] = []
        for number, sentence in enumerate(self.sentences):
            names = [name if name in labels else relation(name) for name in sentence.deprels]
            if all(name in labels for name in names):
                numbers.append(number)
                sentences.append(sentence.with_parse(sentence.heads, names))
        left_out = len(self.sentences) - len(numbers)
        reason = {"a relation that the model does not know": left_out} if left_out else {}
        gold = len(self.gold)
        return replace(
            self,
            sentences=sentences,
            spans=[self.spans[number] for number in numbers],
            dropped=self.dropped | reason,
            silver=sum(number >= gold for number in numbers),
        )

    @property
    def gold(self) -> list[Sentence]:
        """The sentences whose trees are people's."""
        return self.sentences[: len(self.sentences) - self.silver]

    def of_epoch(self, epoch: int, silver_epochs: int) -> list[int]:
        """The numbers of an epoch's sentences: all gold ones and, at first, a share of the silver.

        epoch: from 0. silver_epochs: the epochs among which silver sentences are divided.
        """
        gold = len(self.sentences) - self.silver
        numbers = list(range(gold))
        if epoch < silver_epochs:
            numbers += range(gold + epoch, len(self.sentences), silver_epochs)
        return numbers

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
        masked = None
        if word_dropout:
            masked = (torch.rand(len(sentences), width + 2) < word_dropout).numpy()
        gold = Gold(
            padded([s.heads for s in sentences], width),
            padded([self.spans[k] for k in numbers], width, (2,)),
            padded([vocabularies.labels.numbers(s.deprels) for s in sentences], width),
            [
                padded([vocabularies.gold_tags(column, s) for s in sentences], width)
                for column in vocabularies.tags
            ],
        )
        return prepare(sentences, vocabularies, tokenizer, masked=masked), gold


def _projective(
    sentences: Iterable[Sentence], data: DataConfig, longest: int, dropped: Counter[str]
) -> tuple[list[Sentence], int]:
    """The usable sentences, made projective as configured, and the number of those that were not.

    dropped: counts the others, by reason.
    """
    chosen: list[Sentence] = []
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
    return chosen, lifted


def _spans(sentences: Iterable[Sentence]) -> list[NDArray[np.int32]]:
    return [
        np.array([(span.left, span.right) for span in subtree_spans(s.heads)], np.int32)
        for s in sentences
    ]


def _is_confident(sentence: Sentence, least: float, dropped: Counter[str]) -> bool:
    """Whether the mean confidence of a silver sentence's arcs is high enough, or not known."""
    known = [c for c in confidences(sentence) if c is not None]
    if not known or sum(known) >= least * len(known):
        return True
    dropped[f"silver, a mean confidence below {least}"] += 1
    return False


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


def read_treebank(files: Files, what: str) -> list[Sentence]:
    """The sentences of one or several files; raises HeadspanError if one has no heads."""
    return [sentence for treebank in _read_files(files, what) for sentence in treebank]


def read_training(files: Files) -> list[Sentence]:
    """The sentences to learn from, with one lemma per word where the files disagree."""
    treebanks = with_lemmas_of_first(_read_files(files, "train"))
    return [sentence for treebank in treebanks for sentence in treebank]


def _read_files(files: Files, what: str) -> list[list[Sentence]]:
    paths = file_list(files)
    if not paths:
        raise HeadspanError(f"data.{what} is not set; expected a treebank in CoNLL-U or CoNLL-X")
    return [_read_file(path) for path in paths]


def read_silver(files: Files) -> Iterator[Sentence]:
    """The sentences of silver files, one after the other."""
    for path in silver_files(files):
        for sentence in conllu.read(path):
            if len(sentence) and NO_HEAD not in sentence.heads:
                yield sentence


def silver_files(files: Files) -> Iterator[str]:
    """The names of silver files, and of the shards in a folder of them."""
    for path in file_list(files):
        shards = [str(shard) for shard in sorted(Path(path).glob("*.conllu*"))]
        if Path(path).is_dir() and not shards:
            raise HeadspanError(f"{path}: has no files *.conllu; expected shards of sentences")
        yield from shards or [path]


def _read_file(path: str) -> list[Sentence]:
    sentences = [s for s in conllu.read(path) if len(s)]
    if not sentences:
        raise HeadspanError(f"{path}: has no sentences")
    for number, sentence in enumerate(sentences, 1):
        if NO_HEAD in sentence.heads:
            word = sentence.heads.index(NO_HEAD) + 1
            raise HeadspanError(f"{path}: sentence {number}, word {word} has no head")
    if all(form == str(k) for s in sentences for k, form in enumerate(s.forms, 1)):
        raise HeadspanError(
            f"{path}: the file is damaged: FORM is the number of the word, everywhere; expected "
            "words"
        )
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
