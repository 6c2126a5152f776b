"""Where the time of training goes: the share of an epoch outside the encoder and the BiLSTM.

    python benchmarks/train_epoch.py [CONFIG.toml] [--batches N] [--repeats N] [--json FILE]

For batches of an epoch, the parts of a step are timed one after another: making the batch, the
encoder with embeddings and BiLSTM (forward, and backward from a random gradient), the whole loss
forward and backward, and clipping with the optimiser's step. What the loss takes beyond the encoder
and the BiLSTM is scores, decoding, relations and their gradients.
"""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

import torch
from torch import nn

from headspan.config import read_config
from headspan.training.data import tensors
from headspan.training.loop import Trainer
from reporting import ROOT, SHARED, arguments, needed, table, write_json

TREEBANK = SHARED / "treebanks" / "ud-2.2" / "en_ewt"


def timed_step(trainer: Trainer, batch: list[int]) -> dict[str, float]:
    """Seconds of each part of a step on one batch."""
    network, optimizer = trainer.parser.network.train(), trainer.optimizer
    optimizer.zero_grad(set_to_none=True)
    seconds = {}
    start = time.perf_counter()
    sentences = [trainer.kept.sentences[k] for k in batch]
    inputs, gold = tensors(sentences, trainer.parser.vocabularies, trainer.parser.tokenizer)
    seconds["batch"] = time.perf_counter() - start

    start = time.perf_counter()
    context, _ = network.context(inputs)
    context.backward(torch.randn_like(context))
    seconds["encoder and BiLSTM"] = time.perf_counter() - start
    optimizer.zero_grad(set_to_none=True)

    start = time.perf_counter()
    loss = network.loss(inputs, gold)
    ((loss.parse + loss.label + loss.tag) / int(inputs.lengths.sum())).backward()
    seconds["loss"] = time.perf_counter() - start

    start = time.perf_counter()
    nn.utils.clip_grad_norm_(network.parameters(), trainer.config.training.clip)
    optimizer.step()
    seconds["optimiser"] = time.perf_counter() - start
    return seconds


def main() -> None:
    parser = arguments(__doc__, repeats=3)
    parser.add_argument("config", nargs="?", default=str(ROOT / "configs" / "en-minilm.toml"))
    parser.add_argument("--batches", type=int, default=12, help="how many batches of the epoch")
    options = parser.parse_args()
    files = {
        "data.train": str(needed(TREEBANK / "en_ewt-ud-train.conllu")),
        "data.dev": str(needed(TREEBANK / "en_ewt-ud-dev.conllu")),
    }
    trainer = Trainer(read_config(options.config, files), Path("never-written"))
    plan = trainer.batches(0)[: options.batches]
    for group in trainer.optimizer.param_groups:
        group["lr"] = 1e-6  # so that all batches meet the same weights
    timed_step(trainer, plan[0])
    runs = [
        {name: sum(step[name] for step in steps) for name in steps[0]}
        for _ in range(options.repeats)
        if (steps := [timed_step(trainer, batch) for batch in plan])
    ]
    found = {name: median(run[name] for run in runs) for name in runs[0]}
    inner, whole = found["encoder and BiLSTM"], found["batch"] + found["loss"] + found["optimiser"]
    parts = {
        "encoder and BiLSTM": inner,
        "scores, decoding, relations": found["loss"] - inner,
        "optimiser": found["optimiser"],
        "making batches": found["batch"],
    }
    rows = [[name, seconds, f"{seconds / whole:.1%}"] for name, seconds in parts.items()]
    rows.append(["outside encoder and BiLSTM", whole - inner, f"{1 - inner / whole:.1%}"])
    table(
        f"{len(plan)} steps of {Path(options.config).stem}, {torch.get_num_threads()} threads",
        ["part", "seconds", "share"],
        rows,
    )
    write_json(options.json, {"seconds": parts, "outside": 1 - inner / whole})


if __name__ == "__main__":
    main()
