"""The training loop: epochs of steps, a dev score after each, the best model kept."""

from __future__ import annotations

import hashlib
import json
import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import torch
from torch import nn

from headspan.config import Config
from headspan.conllu import Sentence
from headspan.model.parser import Parser
from headspan.nn.inputs import Vocabularies
from headspan.nn.network import Loss, Network
from headspan.nn.pretrained import encoder_table, load_pretrained
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import open_output
from headspan.plumbing.limits import check_parsed
from headspan.scoring import Evaluation, score
from headspan.text import Segmenter, SegmenterEpoch, train_segmenter
from headspan.training import processes
from headspan.training.calibration import fit_temperature
from headspan.training.card import model_card
from headspan.training.checkpoint import (
    load_checkpoint,
    load_segmenter,
    save_checkpoint,
    save_segmenter,
)
from headspan.training.sinks import open_sinks
from headspan.training.treebank import Kept, keep, read_treebank, shuffled_batches, tensors

CHECKPOINT, MODEL, LOG = "checkpoint.safetensors", "model", "log.jsonl"
SEGMENTER = "segmenter.safetensors"

Watch: TypeAlias = "Callable[[Trainer, dict[str, Any]], None]"
"""Is told about every step, every epoch, and every epoch of the segmenter."""


class Stopped(HeadspanError):  # noqa: N818 (it is no error)
    """Training was asked to stop; a checkpoint was written."""


@dataclass
class Progress:
    """Where a run stands."""

    epoch: int = 0
    step: int = 0
    """Steps done in this epoch."""
    parse: float = 0.0
    """The sum of the losses on trees in this epoch, …"""
    label: float = 0.0
    """… of those on relations, …"""
    tag: float = 0.0
    """… of those on tags, …"""
    words: int = 0
    """… and of the words."""
    best: float = -1.0
    best_epoch: int = -1
    seconds: float = 0.0
    history: list[dict[str, float]] = field(default_factory=list)


class Trainer:
    """A run: the parser that learns, its data, its optimiser and where it stands."""

    def __init__(self, config: Config, folder: Path) -> None:
        torch.manual_seed(config.training.seed)
        self.config = config
        self.folder = folder
        self.dev = read_treebank(config.data.dev, "dev")
        for number, sentence in enumerate(self.dev, 1):
            check_parsed(len(sentence), f"{config.data.dev}: sentence {number}")
        self.kept: Kept = keep(read_treebank(config.data.train, "train"), config.data)
        if not self.kept.sentences:
            raise HeadspanError(f"{config.data.train}: no sentence is left to learn from")
        self.parser = self._new_parser()
        self.costs = [self.parser.cost(s) for s in self.kept.sentences]
        self.optimizer = self._new_optimizer()
        self.progress = Progress()
        self.sinks = open_sinks(config, folder) if processes.rank() == 0 else []
        self._stop = False
        self._steps = 0

    def _new_parser(self) -> Parser:
        model = self.config.model
        vocabularies = Vocabularies.count(self.kept.sentences, model)
        encoder = tokenizer = encoder_config = None
        if model.encoder.name:
            encoder, tokenizer = load_pretrained(model.encoder.name)
            encoder_config = encoder_table(encoder)
        network = Network(model, vocabularies, encoder)
        network.to(processes.device(self.config.training.device))
        return Parser(network, self.config, vocabularies, tokenizer, encoder_config)

    def _new_optimizer(self) -> torch.optim.Optimizer:
        t = self.config.training
        encoder = self.parser.network.inputs.encoder
        pretrained = set(encoder.encoder.parameters()) if encoder is not None else set()
        own = [p for p in self.parser.network.parameters() if p not in pretrained]
        tuned = [p for p in self.parser.network.parameters() if p in pretrained and p.requires_grad]
        groups: list[dict[str, Any]] = [{"params": own, "peak": t.learning_rate}]
        if tuned:
            groups.append({"params": tuned, "peak": t.encoder_learning_rate})
        return torch.optim.AdamW(
            groups, lr=t.learning_rate, betas=t.betas, weight_decay=t.weight_decay, fused=True
        )

    def batches(self, epoch: int) -> list[list[int]]:
        """The batches of an epoch, the same whenever it is asked."""
        t = self.config.training
        summed = t.batch_by == "words"
        costs = [len(s) for s in self.kept.sentences] if summed else self.costs
        return shuffled_batches(costs, t.batch_tokens, seed=t.seed, epoch=epoch, summed=summed)

    def resume(self) -> bool:
        """Go on from the checkpoint in the folder; False if there is none yet.

        So the same command can start a run and, after whatever happened to it, go on with it.
        """
        path = self.folder / CHECKPOINT
        found = path.exists()
        if found:
            state = load_checkpoint(path, self.parser.network, self.optimizer)
            self.progress = Progress(**state)
        place = [float(self.progress.epoch), float(self.progress.step)]
        if processes.from_first(place) != place:
            raise HeadspanError(f"{path}: is not what the first process sees; expected a folder "
                                "that all processes share")  # fmt: skip
        return found

    def run(self, watch: Watch | None = None) -> None:
        """Train to the end, or until told to stop by SIGINT or SIGTERM."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write_log()
        if self.config.data.segment and processes.rank() == 0:
            self.parser.segmenter = self._segmenter(watch)
        with self._listening():
            while self.progress.epoch < self.config.training.epochs and not self._no_patience():
                started = time.monotonic()
                losses = self._epoch(started, watch)
                self._after_epoch(losses, watch)
        if processes.rank() == 0:
            best = Parser.load(self.folder / MODEL)
            fit_temperature(best, self.dev)
            best.save(self.folder / MODEL)

    def _segmenter(self, watch: Watch | None) -> Segmenter:
        """The segmenter of this run: trained now, or earlier in the same folder."""
        path = self.folder / SEGMENTER
        if path.exists():
            return load_segmenter(path)

        def report(progress: SegmenterEpoch) -> None:
            if watch:
                watch(self, {"segmenter": progress})

        original = read_treebank(
            self.config.data.train, "train"
        )  # with the trees that were dropped
        segmenter = train_segmenter(
            original, self.dev, seed=self.config.training.seed, watch=report
        )
        save_segmenter(path, segmenter)
        return segmenter

    def _epoch(self, started: float, watch: Watch | None) -> dict[str, float]:
        t, progress = self.config.training, self.progress
        plan = self.batches(progress.epoch)
        steps = [plan[k : k + t.accumulate] for k in range(0, len(plan), t.accumulate)]
        self._steps = len(steps)
        before = progress.seconds
        for number in range(progress.step, len(steps)):
            place = progress.epoch + (number + 1) / len(steps)
            torch.manual_seed(_number(t.seed, progress.epoch, number, processes.rank()))
            parse, label, tag, words = self._step(steps[number], place)
            progress.parse += parse
            progress.label += label
            progress.tag += tag
            progress.words += words
            progress.step = number + 1
            progress.seconds = before + time.monotonic() - started
            if watch or self.sinks:
                losses = {"parse": parse / words, "label": label / words, "tag": tag / words}
                for sink in self.sinks:
                    sink(progress.epoch * len(steps) + number + 1, losses)
                if watch:
                    watch(self, {"step": number + 1, "steps": len(steps), **losses})
            if processes.total([self._stop])[0] and progress.step < len(steps):
                self._save()
                raise Stopped(f"stopped; go on with --resume from {self.folder / CHECKPOINT}")
        words = max(progress.words, 1)
        return {name: getattr(progress, name) / words for name in ("parse", "label", "tag")}

    def _step(self, step: list[list[int]], place: float) -> tuple[float, float, float, int]:
        """One step of the optimiser over some batches; gives the losses and the words."""
        t = self.config.training
        network = self.parser.network.train()
        groups = [[self.kept.sentences[k] for k in batch] for batch in step]
        words = sum(len(s) for group in groups for s in group)
        self.optimizer.zero_grad(set_to_none=True)
        parse = label = tag = 0.0
        for group in groups:
            share = group[processes.rank() :: processes.count()]
            if not share:
                continue
            loss = self.backward(share, words)
            parse += loss.parse.item()
            label += loss.label.item()
            tag += loss.tag.item()
        parse, label, tag = processes.total([parse, label, tag])
        if not math.isfinite(parse + label + tag):
            raise HeadspanError(f"the loss is not finite in epoch {self.progress.epoch + 1}")
        processes.add_gradients(network.parameters())
        clip(network, t.clip)
        factor = rate(place, t.epochs, t.warmup_epochs)
        for parameters in self.optimizer.param_groups:
            parameters["lr"] = parameters["peak"] * factor
        self.optimizer.step()
        return parse, label, tag, words

    def backward(self, sentences: list[Sentence], words: int) -> Loss:
        """Add the gradient of a batch, whose step has so many words."""
        inputs, gold = tensors(
            sentences,
            self.parser.vocabularies,
            self.parser.tokenizer,
            hide=self.config.training.word_dropout,
        )
        loss = self.parser.network.loss(inputs, gold)
        total = loss.parse + loss.label + self.config.model.tagger.weight * loss.tag
        (total / words).backward()  # type: ignore[no-untyped-call]
        return loss

    def _after_epoch(
        self,
        losses: dict[str, float],
        watch: Watch | None,
    ) -> None:
        progress = self.progress
        started = time.monotonic()
        first = processes.rank() == 0
        evaluation = self.evaluate(self.dev) if first else None
        scores = [evaluation["uas"].f1, evaluation["las"].f1] if evaluation else [0.0, 0.0]
        uas, las = processes.from_first(scores)
        progress.seconds += time.monotonic() - started
        entry = {"epoch": progress.epoch + 1, **losses, "dev_uas": uas, "dev_las": las,
                 "seconds": progress.seconds}  # fmt: skip
        progress.history.append(entry)
        if las >= progress.best:  # of equals the later, which has seen more
            progress.best, progress.best_epoch = las, progress.epoch
            if first:
                self.parser.card = model_card(self.config, progress.history, self.kept)
                self.parser.save(self.folder / MODEL)
        progress.epoch, progress.step = progress.epoch + 1, 0
        progress.parse, progress.label, progress.tag, progress.words = 0.0, 0.0, 0.0, 0
        self._save()
        self._write_log()
        if first:
            for sink in self.sinks:
                sink(progress.epoch * self._steps, {"dev_uas": uas, "dev_las": las})
        if watch:
            watch(self, entry)
        if processes.total([self._stop])[0] and progress.epoch < self.config.training.epochs:
            raise Stopped(f"stopped; go on with --resume from {self.folder / CHECKPOINT}")

    def evaluate(self, sentences: list[Sentence]) -> Evaluation:
        """Score the parser as users call it against untouched gold trees."""
        parsed = self.parser.pipe(sentences, retag=True)
        return score(sentences, parsed, punct=self.config.data.punct)

    def _no_patience(self) -> bool:
        patience, progress = self.config.training.patience, self.progress
        return bool(patience) and progress.epoch - 1 - progress.best_epoch >= patience

    def _save(self) -> None:
        if processes.rank():
            return
        state = vars(self.progress)
        save_checkpoint(self.folder / CHECKPOINT, self.parser.network, self.optimizer, state)

    def _write_log(self) -> None:
        """A line an epoch, as the checkpoint has them: whatever happens, the two agree."""
        if self.progress.history and not processes.rank():
            lines = [json.dumps(entry) + "\n" for entry in self.progress.history]
            with open_output(self.folder / LOG) as stream:
                stream.write("".join(lines).encode())

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Ask the loop to stop after its step when a signal comes; a second one ends it at once."""

        def stop(number: int, frame: Any) -> None:
            self._stop = True
            signal.signal(number, old[number])

        wanted = (signal.SIGINT, signal.SIGTERM)
        old: dict[int, Any] = {number: signal.signal(number, stop) for number in wanted}
        try:
            yield
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)


def _number(*parts: int) -> int:
    """A seed from numbers; dropout depends on where a step is, not on what came before it."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=7).digest(), "big")


def clip(network: nn.Module, most: float) -> None:
    """Shorten the gradient to a length, if it is longer."""
    parameters = [p for p in network.parameters() if p.grad is not None]
    length = nn.utils.get_total_norm([p.grad for p in parameters if p.grad is not None])
    if not length <= most:
        nn.utils.clip_grads_with_norm_(parameters, most, length)


def rate(place: float, epochs: int, warmup: float) -> float:
    """The share of the peak learning rate, `place` epochs into training: up, then down to 0."""
    if place < warmup:
        return place / warmup
    return max(0.0, (epochs - place) / max(epochs - warmup, 1e-9))


def train(config: Config, folder: str | Path, *, resume: bool = False) -> Parser:
    """Train a parser and give back the best one by dev LAS.

    resume: go on from the checkpoint in the folder, if there is one.
    """
    trainer = Trainer(config, Path(folder))
    if resume:
        trainer.resume()
    trainer.run()
    return Parser.load(Path(folder) / MODEL)
