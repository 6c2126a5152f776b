"""Training a segmenter from a treebank."""

from __future__ import annotations

import random
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from headspan import scoring
from headspan.conllu import Sentence
from headspan.plumbing.errors import HeadspanError
from headspan.text.boundary_tagger import END, MULTIWORD, Batch, Encoded, Network, Sizes, padded
from headspan.text.characters import Characters
from headspan.text.decisions import Decider
from headspan.text.multiwords import Multiwords
from headspan.text.raw import Noise, Passage, passages, raw_text
from headspan.text.segmenter import Segmenter
from headspan.vocabulary import UNKNOWN, Vocabulary

_MOST_EPOCHS = 8  # times those asked for
_SHIFTS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5)


@dataclass(frozen=True)
class Segmentation:
    """How a segmenter is trained. The defaults were chosen on the dev part of UD English EWT."""

    epochs: int = 14
    steps: int = 1500
    """Small treebanks have up to eight times the epochs, so that there are so many steps."""
    window: int = 400
    """Characters of a window, at most."""
    batch: int = 16
    """Windows of a step."""
    learning_rate: float = 3e-3
    dropout: float = 0.2
    hidden: float = 0.02
    """Share of characters of which training sees the category only."""
    hidden_words: float = 0.3
    """Share of units that training sees by their characters only."""
    min_count: int = 5
    """Characters and units that are rarer in training are unknown."""
    sizes: Sizes = field(default_factory=Sizes)
    noise: Noise = field(default_factory=Noise)

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("window", 16), ("batch", 1), ("min_count", 1)):
            if getattr(self, name) < least:
                raise HeadspanError(f"{name} is {getattr(self, name)}; expected {least} or more")


class Progress(NamedTuple):
    """What an epoch came to; the F1 scores are of the dev treebank's raw text, in percent."""

    epoch: int
    loss: float
    tokens: float
    words: float
    sentences: float

    @property
    def figure(self) -> float:
        """What the best epoch is best in."""
        return (self.tokens + self.words + self.sentences) / 3


class _Example(NamedTuple):
    text: Encoded
    classes: Tensor
    sentences: Tensor
    """Of each unit, whether a sentence ends there."""


def train_segmenter(
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    *,
    settings: Segmentation | None = None,
    seed: int = 0,
    watch: Callable[[Progress], None] | None = None,
) -> Segmenter:
    """A segmenter for the text of a treebank, the best epoch's on the dev treebank.

    The same seed gives the same segmenter on the same machine. watch: called after each epoch.
    """
    settings = settings or Segmentation()
    clean = list(passages(train))
    if not clean:
        raise HeadspanError("a segmenter cannot be trained without words")
    draw = random.Random(seed)  # noqa: S311 (no secrets here)
    noisy = passages(train, noise=settings.noise, draw=draw)
    characters = Characters.count(
        (passage.text for passage in chain(clean, noisy)), min_count=settings.min_count
    )
    units = Vocabulary.count(_units(clean, characters), min_count=settings.min_count)
    spaced = sorted({pair for passage in clean for pair in _around_spaces(passage)})
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = Network(
            len(characters.vocabulary), len(units), settings.sizes, dropout=settings.dropout
        )
        segmenter = Segmenter(
            Decider(network, characters, units, spaced), Multiwords.learn(train), settings.sizes
        )
        best, kept = -1.0, dict[str, Tensor]()
        for progress in _epochs(segmenter, train, dev, settings, draw):
            if watch:
                watch(progress)
            if progress.figure > best:
                best = progress.figure
                kept = {name: t.clone() for name, t in network.state_dict().items()}
    network.load_state_dict(kept)
    _lean(segmenter, dev)
    return segmenter


def score_segmenter(segmenter: Segmenter, gold: Sequence[Sentence]) -> scoring.Evaluation:
    """How well a segmenter does on the raw text of a treebank: tokens, words, sentences."""
    found = segmenter.segment(raw_text(gold))
    return scoring.score(map(_with_any_tree, gold), map(_with_any_tree, found))


def _lean(segmenter: Segmenter, dev: Sequence[Sentence]) -> None:
    """Move the score from which on a sentence ends to where the dev treebank's F1 is best.

    Most units end no sentence, so that a network that is unsure says too often that none does.
    """
    bias = segmenter.decider.network.eval().sentence.bias
    start = bias.item()
    scores = dict[float, float]()
    for shift in _SHIFTS:
        nn.init.constant_(bias, start + shift)
        scores[shift] = score_segmenter(segmenter, dev)["sentences"].f1
    nn.init.constant_(bias, start + max(_SHIFTS, key=lambda shift: (scores[shift], -shift)))


def _with_any_tree(sentence: Sentence) -> Sentence:
    """Scoring asks for a tree; which one does not matter to segmentation."""
    return sentence.with_parse(range(len(sentence)), ["_"] * len(sentence))


def _epochs(
    segmenter: Segmenter,
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    settings: Segmentation,
    draw: random.Random,
) -> Iterator[Progress]:
    network, decider = segmenter.decider.network, segmenter.decider
    windows = sum(-(-len(passage.text) // settings.window) for passage in passages(train))
    epochs = max(settings.epochs, settings.steps * settings.batch // windows)
    epochs = min(epochs, _MOST_EPOCHS * settings.epochs)
    optimiser = torch.optim.AdamW(network.parameters(), lr=settings.learning_rate, fused=True)
    for epoch in range(epochs):
        examples = [
            _example(piece, decider)
            for passage in passages(train, noise=settings.noise, draw=draw)
            for piece in _cut(passage, settings.window, draw)
        ]
        batches = _batches(examples, settings.batch, draw)
        network.train()
        total = 0.0
        for step, batch in enumerate(batches):
            done = (epoch + step / len(batches)) / epochs
            for group in optimiser.param_groups:
                group["lr"] = settings.learning_rate * min(1.0, 20 * done) * (1 - done)
            loss = _loss(network, batch, settings)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            total += loss.item()
        network.eval()
        result = score_segmenter(segmenter, dev)
        yield Progress(
            epoch + 1, total / len(batches),
            result["tokens"].f1, result["words"].f1, result["sentences"].f1,
        )  # fmt: skip


def _loss(network: Network, examples: Sequence[_Example], settings: Segmentation) -> Tensor:
    batch = padded([example.text for example in examples])
    tokens, sentences = network(_hidden(batch, settings))
    classes = tokens.new_full(tokens.shape[:2], -1, dtype=torch.long)
    ends = torch.zeros_like(sentences)
    for row, example in enumerate(examples):
        classes[row, : len(example.classes)] = example.classes
        ends[row, : len(example.sentences)] = example.sentences
    there = torch.arange(ends.shape[1]) < batch.units[:, None]
    visible = classes >= 0
    of_tokens = nn.functional.cross_entropy(tokens[visible], classes[visible])
    of_sentences = nn.functional.binary_cross_entropy_with_logits(sentences[there], ends[there])
    return of_tokens + of_sentences


def _hidden(batch: Batch, settings: Segmentation) -> Batch:
    """The batch with some characters and words unknown."""
    few = (torch.rand(batch.characters.shape) < settings.hidden) & batch.characters.ne(0)
    some = (torch.rand(batch.words.shape) < settings.hidden_words) & batch.words.ne(0)
    return batch._replace(
        characters=batch.characters.masked_fill(few, UNKNOWN),
        words=batch.words.masked_fill(some, UNKNOWN),
    )


def _example(passage: Passage, decider: Decider) -> _Example:
    text = decider.encode(passage.text)
    classes = np.zeros(len(passage.text), np.int64)
    classes[passage.ends] = np.where(passage.multiword, MULTIWORD, END)
    classes[[c == " " for c in passage.text]] = -1
    sentences = np.zeros(len(passage.text), np.float32)
    sentences[passage.sentence_ends] = 1
    return _Example(text, torch.from_numpy(classes), torch.from_numpy(sentences[text.last]))


def _cut(passage: Passage, longest: int, draw: random.Random) -> Iterator[Passage]:
    """A passage in windows, the first of random length if there are more."""
    text, starts = passage.text, [0]
    if len(text) > longest:
        starts += range(draw.randint(longest // 4, longest), len(text), longest)
    for start, end in pairwise([*starts, len(text)]):
        if text[start:end].strip():
            first, last = (bisect_left(passage.ends, place) for place in (start, end))
            begin, stop = (bisect_left(passage.sentence_ends, place) for place in (start, end))
            yield Passage(
                text[start:end],
                [place - start for place in passage.ends[first:last]],
                passage.multiword[first:last],
                [place - start for place in passage.sentence_ends[begin:stop]],
            )


def _batches(examples: list[_Example], size: int, draw: random.Random) -> list[list[_Example]]:
    """Batches of windows of like lengths, in random order."""
    order = sorted(examples, key=lambda e: len(e.text.characters) + draw.random())
    batches = [order[k : k + size] for k in range(0, len(order), size)]
    draw.shuffle(batches)
    return batches


def _units(clean: Iterable[Passage], characters: Characters) -> Iterator[str]:
    for passage in clean:
        low = passage.text.lower()
        for a, b in zip(*characters.units(characters.points(low)), strict=True):
            yield low[a : b + 1]


def _around_spaces(passage: Passage) -> Iterator[tuple[str, str]]:
    """The categories around each space that is inside a token."""
    ends = set(passage.ends)
    for place, c in enumerate(passage.text):
        if c == " " and place - 1 not in ends:
            yield (
                unicodedata.category(passage.text[place - 1]),
                unicodedata.category(passage.text[place + 1]),
            )
