"""Training a segmenter from a treebank."""

from __future__ import annotations

import random
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from headspan import scoring
from headspan.conllu import Sentence
from headspan.plumbing.errors import HeadspanError
from headspan.text.boundaries import BoundaryFinder
from headspan.text.boundary_tagger import BoundaryTagger, as_tensors
from headspan.text.characters import Characters
from headspan.text.encoded_text import (
    END,
    MULTIWORD,
    CharacterBatch,
    EncodedText,
    SegmenterSizes,
    padded,
)
from headspan.text.multiwords import Multiwords
from headspan.text.patterns import agreed
from headspan.text.raw import Noise, Passage, begins_paragraph, passages, raw_text
from headspan.text.segmenter import Segmenter
from headspan.text.stream import mark_line_ends
from headspan.vocabulary import UNKNOWN, Vocabulary

_MOST_EPOCHS = 8  # times `epochs`
_FINAL = {".", "?", "!"}
_BIAS_SHIFTS = tuple(quarters / 4 for quarters in range(-4, 7))


@dataclass(frozen=True)
class SegmenterSettings:
    """Settings of a segmenter's training. The defaults were chosen on English dev parts."""

    epochs: int = 16
    steps: int = 1500
    """Fewest steps; small treebanks get up to eight times the epochs to reach them."""
    window: int = 400
    """Most characters per window."""
    batch: int = 16
    """Windows per step."""
    learning_rate: float = 3e-3
    dropout: float = 0.2
    character_dropout: float = 0.02
    """Share of characters of which the tagger sees only the category."""
    word_dropout: float = 0.3
    """Share of units of which the tagger sees only the characters."""
    min_count: int = 5
    """Characters and units that are rarer in training are unknown."""
    sizes: SegmenterSizes = field(default_factory=SegmenterSizes)
    noise: Noise = field(default_factory=Noise)
    silver_noise: Noise = field(
        default_factory=lambda: Noise(joined=0.3, lower_case=0.15, unpunctuated=0.3)
    )
    """That of silver text, which shows where sentences end that have no marks."""

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("window", 16), ("batch", 1), ("min_count", 1)):
            if getattr(self, name) < least:
                raise HeadspanError(f"{name} is {getattr(self, name)}; expected {least} or more")


class SegmenterEpoch(NamedTuple):
    """The result of an epoch; F1 scores are those on the dev treebank's raw text, in percent."""

    epoch: int
    loss: float
    tokens: float
    words: float
    sentences: float

    @property
    def mean_f1(self) -> float:
        """The score by which the best epoch is chosen."""
        return (self.tokens + self.words + self.sentences) / 3


class _Example(NamedTuple):
    text: EncodedText
    classes: Tensor
    sentences: Tensor
    """Whether a sentence ends with each unit."""


def train_segmenter(
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    *,
    settings: SegmenterSettings | None = None,
    seed: int = 0,
    watch: Callable[[SegmenterEpoch], None] | None = None,
    vectors: Mapping[str, NDArray[np.float32]] | None = None,
    silver: Sequence[Sentence] = (),
) -> Segmenter:
    """Train a segmenter on the text of a treebank, and return that of the best epoch on dev.

    The same seed gives the same segmenter on the same machine. watch: called after each epoch.
    vectors: of words in lower case, of the size `sizes.words`, from an encoder, for instance; so
    the segmenter knows something of words that the treebank seldom has. silver: sentences that
    another segmenter found; each epoch sees a share of the paragraphs whose ends are certain.
    """
    settings = settings or SegmenterSettings()
    clean = list(passages(train))
    if not clean:
        raise HeadspanError("a segmenter cannot be trained without words")
    draw = random.Random(seed)  # noqa: S311 (no secrets here)
    noisy = passages(train, noise=settings.noise, draw=draw)
    characters = Characters.count(
        (mark_line_ends(passage.text) for passage in chain(clean, noisy)),
        min_count=settings.min_count,
    )
    units = Vocabulary.count(_units(clean, characters), min_count=settings.min_count)
    frequent = len(units)
    vectors = {
        word: vector
        for word, vector in (vectors or {}).items()
        if all(c in characters.vocabulary for c in word)  # words of its own language and script
    }
    units = Vocabulary([*units.names, *(word for word in vectors if word not in units)])
    spaced = sorted({pair for passage in clean for pair in _around_spaces(passage)})
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        tagger = BoundaryTagger(
            len(characters.vocabulary), len(units), settings.sizes, dropout=settings.dropout
        )
        _start_from(vectors, units, tagger.word.weight, frequent)
        patterns = agreed((passage.text, set(passage.ends)) for passage in clean)
        finder = BoundaryFinder(tagger, characters, units, spaced, patterns)
        segmenter = Segmenter(finder, Multiwords.learn(train), settings.sizes)
        best, best_weights = -1.0, dict[str, Tensor]()
        certain = list(_certain(silver))
        for epoch in _epochs(segmenter, tagger, train, certain, dev, settings, draw):
            if watch:
                watch(epoch)
            if epoch.mean_f1 > best:
                best = epoch.mean_f1
                best_weights = {name: t.clone() for name, t in tagger.state_dict().items()}
    tagger.load_state_dict(best_weights)
    _set_threshold(segmenter, tagger, dev)
    return segmenter


def _certain(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    """The paragraphs all of whose sentences begin with a capital and end with a mark."""
    paragraph: list[Sentence] = []
    for sentence in chain(sentences, [None]):
        if paragraph and (sentence is None or begins_paragraph(sentence)):
            if all(_has_clear_ends(each) for each in paragraph):
                yield paragraph
            paragraph = []
        if sentence is not None:
            paragraph.append(sentence)


def _has_clear_ends(sentence: Sentence) -> bool:
    return sentence.forms[0][0].isupper() and sentence.forms[-1] in _FINAL


def _start_from(
    vectors: Mapping[str, NDArray[np.float32]], units: Vocabulary, table: Tensor, frequent: int
) -> None:
    """Put the vectors into the table of units, whose rows are learned only if they are frequent."""
    if not vectors:
        return
    known = [(units.number(word), vector) for word, vector in vectors.items()]
    with torch.no_grad():
        rows = torch.tensor([number for number, _ in known])
        table[rows] = torch.from_numpy(np.stack([vector for _, vector in known]))
    learned = (torch.arange(len(table)) < frequent)[:, None]
    table.register_hook(lambda gradient: gradient * learned)  # type: ignore[no-untyped-call]


def score_segmenter(segmenter: Segmenter, gold: Sequence[Sentence]) -> scoring.Evaluation:
    """Score a segmenter on the raw text of a treebank: tokens, words, sentences."""
    segmented = segmenter.segment(raw_text(gold))
    return scoring.score(map(_with_any_tree, gold), map(_with_any_tree, segmented))


def _set_threshold(segmenter: Segmenter, tagger: BoundaryTagger, dev: Sequence[Sentence]) -> None:
    """Move the threshold for the end of a sentence to where F1 on the dev treebank is best.

    Most units do not end a sentence, so an unsure tagger often misses too many of those that do.
    """
    bias = tagger.sentence.bias
    start = bias.item()
    scores = dict[float, float]()
    for shift in _BIAS_SHIFTS:
        nn.init.constant_(bias, start + shift)
        scores[shift] = score_segmenter(segmenter, dev)["sentences"].f1
    best = max(_BIAS_SHIFTS, key=lambda shift: (scores[shift], -abs(shift)))
    nn.init.constant_(bias, start + best)


def _with_any_tree(sentence: Sentence) -> Sentence:
    """The sentence with a tree, which scoring requires but segmentation scores ignore."""
    return sentence.with_parse(range(len(sentence)), ["_"] * len(sentence))


def _epochs(
    segmenter: Segmenter,
    tagger: BoundaryTagger,
    train: Sequence[Sentence],
    silver: Sequence[Sequence[Sentence]],
    dev: Sequence[Sentence],
    settings: SegmenterSettings,
    draw: random.Random,
) -> Iterator[SegmenterEpoch]:
    finder = segmenter.finder
    windows = sum(-(-len(passage.text) // settings.window) for passage in passages(train))
    epochs = max(settings.epochs, settings.steps * settings.batch // windows)
    epochs = min(epochs, _MOST_EPOCHS * settings.epochs)
    table = tagger.word.weight
    others = [p for p in tagger.parameters() if p is not table]
    groups: list[dict[str, Any]] = [
        {"params": others},
        {"params": [table], "weight_decay": 0.0},  # most rows must stay as they are
    ]
    optimiser = torch.optim.AdamW(groups, lr=settings.learning_rate, fused=True)
    for epoch in range(epochs):
        share = chain.from_iterable(silver[epoch::epochs])
        text = chain(
            passages(train, noise=settings.noise, draw=draw),
            passages(share, noise=settings.silver_noise, draw=draw),
        )
        examples = [
            _example(piece, finder)
            for passage in text
            for piece in _cut(passage, settings.window, draw)
        ]
        batches = _batches(examples, settings.batch, draw)
        tagger.train()
        total = 0.0
        for step, batch in enumerate(batches):
            done = (epoch + step / len(batches)) / epochs
            for group in optimiser.param_groups:
                group["lr"] = settings.learning_rate * min(1.0, 20 * done) * (1 - done)
            loss = _loss(tagger, batch, settings)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(tagger.parameters(), 1.0)
            optimiser.step()
            total += loss.item()
        result = score_segmenter(segmenter, dev)
        yield SegmenterEpoch(
            epoch + 1, total / len(batches),
            result["tokens"].f1, result["words"].f1, result["sentences"].f1,
        )  # fmt: skip


def _loss(
    tagger: BoundaryTagger, examples: Sequence[_Example], settings: SegmenterSettings
) -> Tensor:
    batch = as_tensors(padded([example.text for example in examples]))
    tokens, sentences = tagger(_masked(batch, settings))
    classes = tokens.new_full(tokens.shape[:2], -1, dtype=torch.long)
    ends = torch.zeros_like(sentences)
    for row, example in enumerate(examples):
        classes[row, : len(example.classes)] = example.classes
        ends[row, : len(example.sentences)] = example.sentences
    is_unit = torch.arange(ends.shape[1]) < batch.units[:, None]
    visible = classes >= 0
    of_tokens = nn.functional.cross_entropy(tokens[visible], classes[visible])
    of_sentences = nn.functional.binary_cross_entropy_with_logits(sentences[is_unit], ends[is_unit])
    return of_tokens + of_sentences


def _masked(batch: CharacterBatch, settings: SegmenterSettings) -> CharacterBatch:
    """The batch with some characters and words unknown."""
    return batch._replace(
        characters=_with_unknown(batch.characters, settings.character_dropout),
        words=_with_unknown(batch.words, settings.word_dropout),
    )


def _with_unknown(numbers: Tensor, share: float) -> Tensor:
    return numbers.masked_fill((torch.rand(numbers.shape) < share) & numbers.ne(0), UNKNOWN)


def _example(passage: Passage, finder: BoundaryFinder) -> _Example:
    text = finder.encode(mark_line_ends(passage.text))
    classes = np.zeros(len(passage.text), np.int64)
    classes[passage.ends] = np.where(passage.multiword, MULTIWORD, END)
    classes[text.spaces] = -1
    sentences = np.zeros(len(passage.text), np.float32)
    sentences[passage.sentence_ends] = 1
    return _Example(text, torch.from_numpy(classes), torch.from_numpy(sentences[text.last]))


def _cut(passage: Passage, longest: int, draw: random.Random) -> Iterator[Passage]:
    """Cut a passage into windows; the first has a random length if there are several."""
    text, starts = passage.text, [0]
    if len(text) > longest:
        starts += range(draw.randint(longest // 4, longest), len(text), longest)
    for start, end in pairwise([*starts, len(text)]):
        if text[start:end].strip():
            first, last = (bisect_left(passage.ends, at) for at in (start, end))
            begin, stop = (bisect_left(passage.sentence_ends, at) for at in (start, end))
            yield Passage(
                text[start:end],
                [position - start for position in passage.ends[first:last]],
                passage.multiword[first:last],
                [position - start for position in passage.sentence_ends[begin:stop]],
            )


def _batches(examples: list[_Example], size: int, draw: random.Random) -> list[list[_Example]]:
    """Batches of windows of similar lengths, in random order."""
    order = sorted(examples, key=lambda e: len(e.text.characters) + draw.random())
    batches = [order[k : k + size] for k in range(0, len(order), size)]
    draw.shuffle(batches)
    return batches


def _units(clean: Iterable[Passage], characters: Characters) -> Iterator[str]:
    for passage in clean:
        lower = passage.text.lower()
        for a, b in zip(*characters.units(characters.points(lower)), strict=True):
            yield lower[a : b + 1]


def _around_spaces(passage: Passage) -> Iterator[tuple[str, str]]:
    """The categories of the characters around each space inside a token."""
    ends = set(passage.ends)
    for position, c in enumerate(passage.text):
        if c == " " and position - 1 not in ends:
            yield (
                unicodedata.category(passage.text[position - 1]),
                unicodedata.category(passage.text[position + 1]),
            )
