"""From a treebank to batches."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from headspan import conllu
from headspan.config import Data
from headspan.conllu import NO_HEAD, Sentence
from headspan.model.batching import batches, summed_batches
from headspan.model.numbering import prepare
from headspan.model.vocabularies import Vocabularies
from headspan.nn.losses import padded
from headspan.nn.network import Gold
from headspan.nn.subwords import SubwordTokenizer
from headspan.nn.word_vectors import Inputs
from headspan.plumbing import limits
from headspan.plumbing.errors import HeadspanError
from headspan.pseudoprojective import projectivize, relation
from headspan.tree import TreeError, check_tree, headed_spans, is_projective

_MIXED = 50  # batches' worth of sentences that are sorted by length together


@dataclass(frozen=True)
class Kept:
    """What of a treebank is learned from, and what is not, by reason."""

    sentences: list[Sentence]
    """Projective trees, labels encoded where they had to be made so."""
    dropped: dict[str, int]
    lifted: int
    """Sentences that were made projective."""


def read_treebank(path: str, what: str) -> list[Sentence]:
    """A treebank's sentences; they must have heads."""
    if not path:
        raise HeadspanError(f"data.{what} is not given: expected a treebank in CoNLL-U or CoNLL-X")
    sentences = [s for s in conllu.read(path) if len(s)]
    if not sentences:
        raise HeadspanError(f"{path}: has no sentences")
    for number, sentence in enumerate(sentences, 1):
        if NO_HEAD in sentence.heads:
            word = sentence.heads.index(NO_HEAD) + 1
            raise HeadspanError(f"{path}: sentence {number}, word {word} has no head")
    return sentences


def keep(sentences: Sequence[Sentence], data: Data) -> Kept:
    """The sentences to learn from, made projective as the configuration says."""
    kept: list[Sentence] = []
    dropped: dict[str, int] = {}
    lifted = 0
    for sentence in sentences:
        if len(sentence) > limits.LONGEST:
            reason = f"more than {limits.LONGEST:,} words"
            dropped[reason] = dropped.get(reason, 0) + 1
            continue
        try:
            check_tree(sentence.heads)
        except TreeError as error:
            reason = "more than one root" if "root" in str(error) else "a cycle"
            dropped[reason] = dropped.get(reason, 0) + 1
            continue
        projective = is_projective(sentence.heads)
        if data.nonprojective == "drop":
            if not projective:
                dropped["not projective"] = dropped.get("not projective", 0) + 1
                continue
        else:
            scheme = data.nonprojective
            sentence = sentence.with_parse(
                *projectivize(sentence.heads, sentence.deprels, scheme=scheme)
            )
            lifted += not projective
        kept.append(sentence)
    return Kept(_without_rare(kept, data.encoded_min_count), dropped, lifted)


def _without_rare(sentences: list[Sentence], least: int) -> list[Sentence]:
    """Encoded labels that occur less often than that, replaced by the relation inside."""
    counts = Counter(label for s in sentences for label in s.deprels)
    plain = {label: relation(label) for label, count in counts.items() if count < least}
    if all(label == bare for label, bare in plain.items()):
        return sentences
    return [s.with_parse(s.heads, [plain.get(r, r) for r in s.deprels]) for s in sentences]


def shuffled_batches(
    costs: Sequence[int], budget: int, *, seed: int, epoch: int, summed: bool = False
) -> list[list[int]]:
    """Batches of one epoch: similar lengths together, all in an order that the seed decides.

    summed: whether the costs of a batch are added up, or its largest taken times their number.
    """
    cut_by = summed_batches if summed else batches
    rng = random.Random(f"{seed} {epoch}")  # noqa: S311
    order = list(range(len(costs)))
    rng.shuffle(order)
    cut: list[list[int]] = []
    mean = max(1, sum(costs) // len(costs))
    pool = max(1, _MIXED * budget // mean)
    for start in range(0, len(order), pool):
        some = sorted(order[start : start + pool], key=lambda k: costs[k])
        cut.extend(cut_by(some, costs, budget))
    rng.shuffle(cut)
    return cut


def tensors(
    sentences: Sequence[Sentence],
    vocabularies: Vocabularies,
    tokenizer: SubwordTokenizer | None,
    *,
    word_dropout: float = 0.0,
) -> tuple[Inputs, Gold]:
    """A batch for the network with its gold trees. word_dropout: the share of masked words."""
    width = max(len(s) for s in sentences)
    spans = [[(s.left, s.right) for s in headed_spans(sentence.heads)] for sentence in sentences]
    gold = Gold(
        padded([s.heads for s in sentences], width),
        padded(spans, width, (2,)),
        padded([vocabularies.labels.numbers(s.deprels) for s in sentences], width),
        [
            padded([vocabulary.numbers(getattr(s, column)) for s in sentences], width)
            for column, vocabulary in vocabularies.tags.items()
        ],
    )
    return prepare(sentences, vocabularies, tokenizer, word_dropout=word_dropout), gold
