"""The training loop: epochs of steps, a dev score after each, the best model kept."""

from __future__ import annotations

import hashlib
import json
import math
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from headspan.config import Config
from headspan.conllu import Sentence
from headspan.model.parser import Parser
from headspan.model.vocabularies import Vocabularies
from headspan.nn.loading import load_network
from headspan.nn.losses import max_margin
from headspan.nn.network import Loss, Network
from headspan.nn.pretrained import encoder_table, load_pretrained
from headspan.plumbing import limits
from headspan.plumbing.errors import HeadspanError, naming, warn
from headspan.plumbing.files import open_output
from headspan.plumbing.limits import check_parsed
from headspan.registries import LOSSES, STRUCTURES
from headspan.scoring import Evaluation, score
from headspan.text import Segmenter, train_segmenter
from headspan.text.encoded_text import SegmenterSizes
from headspan.text.raw import lacks_spaces
from headspan.training import processes
from headspan.training.calibration import fit_temperatures
from headspan.training.card import model_card
from headspan.training.checkpoint import (
    Checkpoint,
    load_segmenter_of_run,
    read_checkpoint,
    save_checkpoint,
    save_segmenter,
)
from headspan.training.checks import (
    check_bfloat16,
    check_config,
    check_lemmas,
    check_memory,
    file_names,
    warn_without_relations,
)
from headspan.training.encoder_words import words_of_encoder
from headspan.training.events import EpochDone, StepDone, Watch
from headspan.training.fingerprint import check_same, fingerprint
from headspan.training.run_state import TrainingState
from headspan.training.sinks import open_sinks
from headspan.training.treebank import (
    TrainingSet,
    read_silver,
    read_training,
    read_treebank,
    shuffled_batches,
)

CHECKPOINT, MODEL, LOG = "checkpoint.safetensors", "model", "log.jsonl"
SEGMENTER = "segmenter.safetensors"
_RUN, _PROGRESS = "run", "progress"  # the keys of a checkpoint's state
_DIVERGED = 1e6


class Stopped(HeadspanError):  # noqa: N818 (it is not an error)
    """Training was asked to stop; a checkpoint was written."""


class Trainer:
    """A run: the parser that learns, its data, its optimiser and its state."""

    def __init__(self, config: Config, folder: Path) -> None:
        check_config(config)
        torch.manual_seed(config.training.seed)
        self.folder = folder
        self.dev = read_treebank(config.data.dev, "dev")
        structure = STRUCTURES[config.model.structure]
        sums = config.model.minimum_risk or LOSSES[config.model.loss] is not max_margin
        dense = structure.needs_dense_scores(sums=sums)
        for number, sentence in enumerate(self.dev, 1):
            check_parsed(
                len(sentence), f"{file_names(config.data.dev)}: sentence {number}", dense=dense
            )
        sentences = read_training(config.data.train)
        if config.data.segment == "auto":
            data = replace(config.data, segment=lacks_spaces(sentences))
            config = replace(config, data=data)
        self.config = config
        self.fingerprint = fingerprint(config)
        longest = limits.LONGEST_DENSE if dense else limits.LONGEST
        self.training_set = TrainingSet.choose(sentences, config.data, longest=longest)
        if not self.training_set.sentences:
            raise HeadspanError(
                f"{file_names(config.data.train)}: no sentence is left to learn from"
            )
        warn_without_relations(config, self.training_set.sentences)
        if "lemmas" in config.model.tagger.columns:
            check_lemmas(config, self.training_set.sentences)
        if config.data.silver:
            silver = read_silver(config.data.silver)
            self.training_set = self.training_set.with_silver(silver, config.data, longest=longest)
        start = config.training.start
        self.network, self.parser = self._started(start) if start else self._new_parser()
        self.costs = [self.parser.cost(s) for s in self.training_set.sentences]
        self.optimizer = self._new_optimizer()
        self.state = TrainingState()
        self.sinks = open_sinks(config, folder) if processes.rank() == 0 else []
        self._stop = False
        self._steps = 0
        self._diverged = False

    def _new_parser(self) -> tuple[Network, Parser]:
        model = self.config.model
        gold = self.training_set.gold
        silver = self.training_set.sentences[len(gold) :]
        vocabularies = Vocabularies.count(gold, model, silver=silver)
        encoder = tokenizer = encoder_config = None
        if model.encoder.name:
            encoder, tokenizer = load_pretrained(model.encoder.name, depth=model.encoder.depth)
            encoder_config = encoder_table(encoder)
        if processes.device(self.config.training.device).type == "cpu":
            check_memory(model, vocabularies.sizes(), encoder)
        crossing = self.config.data.crossing
        network = Network(model, vocabularies.sizes(), encoder, crossing=crossing)
        self._place(network)
        return network, Parser(network, self.config, vocabularies, tokenizer, encoder_config)

    def _started(self, name: str) -> tuple[Network, Parser]:
        """The parser of an earlier training; sentences that it has no labels for are left out."""
        old = Parser.load(name)
        self.training_set = self.training_set.known_to(old.vocabularies.labels)
        if not self.training_set.sentences:
            raise HeadspanError(
                f"{file_names(self.config.data.train)}: no sentence has only relations that the "
                f"model {name} knows"
            )
        with naming(f"{name}: is not a model of the network that is configured"):
            network = load_network(
                self.config,
                old.vocabularies.sizes(),
                old.tokenizer,
                old.encoder_config,
                old.network.tensors(),
            )
        self._place(network)
        parser = Parser(
            network, self.config, old.vocabularies, old.tokenizer, old.encoder_config,
            segmenter=old.segmenter,
        )  # fmt: skip
        return network, parser

    def _place(self, network: Network) -> None:
        """Move a network to the device of this run, and let it compute as configured."""
        device = processes.device(self.config.training.device)
        if device.type == "cpu" and self.config.training.bfloat16:
            check_bfloat16()
        if network.inputs.encoder is not None:
            network.inputs.encoder.in_bfloat16 = self.config.training.bfloat16
        network.to(device)

    def _new_optimizer(self) -> torch.optim.Optimizer:
        t = self.config.training
        encoder = self.network.inputs.encoder
        pretrained = set(encoder.encoder.parameters()) if encoder is not None else set()
        new = [p for p in self.network.parameters() if p not in pretrained]
        fine_tuned = [p for p in self.network.parameters() if p in pretrained and p.requires_grad]
        groups: list[dict[str, Any]] = [{"params": new, "peak": t.learning_rate}]
        if fine_tuned:
            groups.append({"params": fine_tuned, "peak": t.encoder_learning_rate})
        return torch.optim.AdamW(
            groups, lr=t.learning_rate, betas=t.betas, weight_decay=t.weight_decay, fused=True
        )

    def batches(self, epoch: int) -> list[list[int]]:
        """The batches of an epoch, the same on every call."""
        t = self.config.training
        summed = t.batch_by == "words"
        of_epoch = self.training_set.of_epoch(epoch, t.silver_epochs)
        costs = [len(self.training_set.sentences[k]) if summed else self.costs[k] for k in of_epoch]
        cut = shuffled_batches(costs, t.batch_tokens, seed=t.seed, epoch=epoch, summed=summed)
        return [[of_epoch[k] for k in batch] for batch in cut]

    def resume(self) -> bool:
        """Resume from the checkpoint in the folder; False if there is none yet.

        So the same command can start a run and, whatever happens to it, resume it.
        """
        path = self.folder / CHECKPOINT
        exists = path.exists()
        if exists:
            self._restore(read_checkpoint(path))
        place = [float(self.state.epoch), float(self.state.step)]
        if processes.from_first(place) != place:
            raise HeadspanError(f"{path}: is not what the first process sees; expected a folder "
                                "that all processes share")  # fmt: skip
        return exists

    def _restore(self, checkpoint: Checkpoint) -> None:
        """Take up the run of a checkpoint; raises HeadspanError if it is another run."""
        state = checkpoint.state if isinstance(checkpoint.state, dict) else {}
        with naming(f"{checkpoint.path}: cannot be resumed from"):
            check_same(state.get(_RUN), self.fingerprint)
            found = TrainingState.from_json(
                state.get(_PROGRESS), epochs=self.config.training.epochs
            )
            if found.step and found.step >= self.steps(found.epoch):
                raise HeadspanError(
                    f"its step is {found.step}; epoch {found.epoch + 1} has "
                    f"{self.steps(found.epoch)} steps"
                )
        checkpoint.restore(self.network, self.optimizer)
        self.state = found

    def steps(self, epoch: int) -> int:
        """The number of steps in an epoch."""
        return -(-len(self.batches(epoch)) // self.config.training.accumulate)

    def run(self, watch: Watch | None = None) -> None:
        """Train to the end, or until SIGINT or SIGTERM."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write_log()
        if self.config.data.segment and processes.rank() == 0:
            self.parser.segmenter = self._segmenter(watch)
        with self._listening():
            while self.state.epoch < self.config.training.epochs:
                started = time.monotonic()
                self._epoch(started, watch)
                self._after_epoch(watch)
        if processes.rank() == 0:
            best = Parser.load(self.folder / MODEL)
            fit_temperatures(best, self.dev)
            best.save(self.folder / MODEL)

    def _segmenter(self, watch: Watch | None) -> Segmenter:
        """The segmenter of this run: trained now, or read if it was trained before."""
        path = self.folder / SEGMENTER
        if path.exists():
            segmenter, run = load_segmenter_of_run(path)
            if run == self.fingerprint:
                return segmenter
        sentences = read_treebank(self.config.data.train, "train")  # also those that were dropped
        vectors = None
        if self.network.inputs.encoder is not None and self.parser.tokenizer is not None:
            encoder = self.network.inputs.encoder.encoder
            vectors = words_of_encoder(encoder, self.parser.tokenizer, SegmenterSizes().words)
        segmenter = train_segmenter(
            sentences,
            self.dev,
            seed=self.config.training.seed,
            watch=watch,
            vectors=vectors,
            silver=list(read_silver(self.config.data.silver)),
        )
        save_segmenter(path, segmenter, self.fingerprint)
        return segmenter

    def _epoch(self, started: float, watch: Watch | None) -> None:
        t, state = self.config.training, self.state
        plan = self.batches(state.epoch)
        steps = [plan[k : k + t.accumulate] for k in range(0, len(plan), t.accumulate)]
        self._steps = len(steps)
        before = state.seconds
        for number in range(state.step, len(steps)):
            place = state.epoch + (number + 1) / len(steps)
            torch.manual_seed(_number(t.seed, state.epoch, number, processes.rank()))
            parse, label, tag, words = self._step(steps[number], place)
            state.parse += parse
            state.label += label
            state.tag += tag
            state.words += words
            state.step = number + 1
            state.seconds = before + time.monotonic() - started
            self._warn_if_diverged((parse + label + tag) / words)
            losses = {"parse": parse / words, "label": label / words, "tag": tag / words}
            for sink in self.sinks:
                sink(state.epoch * len(steps) + number + 1, losses)
            if watch:
                watch(StepDone(state.epoch + 1, number + 1, len(steps), **losses))
            if processes.total([self._stop])[0] and state.step < len(steps):
                self._save()
                raise self._stopped()

    def _warn_if_diverged(self, loss: float) -> None:
        """Warn once about a loss per word that no training recovers from."""
        if loss > _DIVERGED and not self._diverged and processes.rank() == 0:
            self._diverged = True
            warn(
                f"the loss is {loss:.1e} per word in epoch {self.state.epoch + 1}: training has "
                "probably diverged; a smaller training.learning_rate may help"
            )

    def _step(self, step: list[list[int]], place: float) -> tuple[float, float, float, int]:
        """One step of the optimiser over some batches; returns the losses and the words."""
        t = self.config.training
        network = self.network.train()
        words = sum(len(self.training_set.sentences[k]) for batch in step for k in batch)
        self.optimizer.zero_grad(set_to_none=True)
        parse = label = tag = 0.0
        for batch in step:
            share = batch[processes.rank() :: processes.count()]
            if not share:
                continue
            loss = self.backward(share, words)
            parse += loss.parse.item()
            label += loss.label.item()
            tag += loss.tag.item()
        parse, label, tag = processes.total([parse, label, tag])
        if not math.isfinite(parse + label + tag):
            raise HeadspanError(f"the loss is not finite in epoch {self.state.epoch + 1}")
        processes.add_gradients(network.parameters())
        clip(network, t.clip)
        factor = rate(place, t.epochs, t.warmup_epochs)
        for parameters in self.optimizer.param_groups:
            parameters["lr"] = parameters["peak"] * factor
        self.optimizer.step()
        return parse, label, tag, words

    def backward(self, batch: Sequence[int], words: int) -> Loss:
        """Add the gradient of a batch of sentences, in a step over this many words."""
        inputs, gold = self.training_set.batch(
            batch,
            self.parser.vocabularies,
            self.parser.tokenizer,
            word_dropout=self.config.training.word_dropout,
        )
        loss = self.network.loss(inputs, gold)
        total = loss.parse + loss.label + self.config.model.tagger.weight * loss.tag
        (total / words).backward()  # type: ignore[no-untyped-call]
        return loss

    def _after_epoch(self, watch: Watch | None) -> None:
        state = self.state
        started = time.monotonic()
        first = processes.rank() == 0
        evaluation = self.evaluate(self.dev) if first else None
        scores = [evaluation["uas"].f1, evaluation["las"].f1] if evaluation else [0.0, 0.0]
        uas, las = processes.from_first(scores)
        state.seconds += time.monotonic() - started
        words = max(state.words, 1)
        done = EpochDone(
            epoch=state.epoch + 1,
            parse=state.parse / words,
            label=state.label / words,
            tag=state.tag / words,
            dev_uas=uas,
            dev_las=las,
            seconds=state.seconds,
        )
        state.history.append(done)
        if las >= state.best:  # of equals the later one, which has seen more
            state.best, state.best_epoch = las, state.epoch
            if first:
                self.parser.card = model_card(self.config, done, self.training_set)
                self.parser.save(self.folder / MODEL)
        state.epoch, state.step = state.epoch + 1, 0
        state.parse, state.label, state.tag, state.words = 0.0, 0.0, 0.0, 0
        self._save()
        self._write_log()
        for sink in self.sinks:
            sink(state.epoch * self._steps, {"dev_uas": uas, "dev_las": las})
        if watch:
            watch(done)
        if processes.total([self._stop])[0] and state.epoch < self.config.training.epochs:
            raise self._stopped()

    def _stopped(self) -> Stopped:
        return Stopped(f"stopped; resume with --resume from {self.folder / CHECKPOINT}")

    def evaluate(self, sentences: list[Sentence]) -> Evaluation:
        """Score the parser, as users call it, against the original gold trees."""
        parsed = self.parser.parse_stream(sentences, retag=True)
        return score(sentences, parsed, punct=self.config.data.punct)

    def _save(self) -> None:
        if processes.rank():
            return
        state = {_RUN: self.fingerprint, _PROGRESS: asdict(self.state)}
        save_checkpoint(self.folder / CHECKPOINT, self.network, self.optimizer, state)

    def _write_log(self) -> None:
        """One line per epoch, as the checkpoint has them: whatever happens, the two agree."""
        if self.state.history and not processes.rank():
            lines = [json.dumps(asdict(done)) + "\n" for done in self.state.history]
            with open_output(self.folder / LOG) as stream:
                stream.write("".join(lines).encode())

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """On a signal, stop after the current step; a second one ends the process at once."""

        def stop(number: int, frame: Any) -> None:
            self._stop = True
            signal.signal(number, old[number])

        signals = (signal.SIGINT, signal.SIGTERM)
        old: dict[int, Any] = {number: signal.signal(number, stop) for number in signals}
        try:
            yield
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)


def _number(*parts: int) -> int:
    """A seed from numbers: dropout depends on the place of a step, not on what came before."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=7).digest(), "big")


def clip(network: nn.Module, most: float) -> None:
    """Shorten the gradient to a length, if it is longer."""
    parameters = [p for p in network.parameters() if p.grad is not None]
    length = nn.utils.get_total_norm([p.grad for p in parameters if p.grad is not None])
    if not length <= most:
        nn.utils.clip_grads_with_norm_(parameters, most, length)


def rate(place: float, epochs: int, warmup: float) -> float:
    """The share of the peak learning rate, `place` epochs into training: up, then down to 0.

    Batches are cut anew in every epoch, so the number of steps is not known in advance, as torch's
    schedulers require.
    """
    if place < warmup:
        return place / warmup
    return max(0.0, (epochs - place) / max(epochs - warmup, 1e-9))


def train(config: Config, folder: str | Path, *, resume: bool = False) -> Parser:
    """Train a parser and return the best one by dev LAS.

    resume: resume from the checkpoint in the folder, if there is one.
    """
    trainer = Trainer(config, Path(folder))
    if resume:
        trainer.resume()
    trainer.run()
    return Parser.load(Path(folder) / MODEL)
