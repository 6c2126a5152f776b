"""Where the time of training goes: the share of an epoch outside the encoder and the BiLSTM.

    python benchmarks/train_epoch.py [CONFIG.toml] [--batches N] [--repeats N] [--json FILE]

For batches of an epoch, the parts of a step are timed one after another: making the batch, the
encoder with embeddings and BiLSTM (forward, and backward from the gradient that the rest gives),
the rest (scores, decoding, relations; both ways), and clipping with the optimiser's step.
"""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median
from unittest.mock import patch

import torch

from headspan.config import read_config
from headspan.training.loop import Trainer, clip
from reporting import ROOT, SHARED, arguments, needed, table, write_json

TREEBANK = SHARED / "treebanks" / "ud-2.2" / "en_ewt"


def timed_step(trainer: Trainer, batch: list[int]) -> dict[str, float]:
    """Seconds of each part of a step on one batch."""
    network, optimizer = trainer.parser.network.train(), trainer.optimizer
    optimizer.zero_grad(set_to_none=True)
    seconds = {}
    start = time.perf_counter()
    parser = trainer.parser
    inputs, gold = trainer.training_set.batch(batch, parser.vocabularies, parser.tokenizer)
    seconds["making batches"] = time.perf_counter() - start

    start = time.perf_counter()
    context, tags = network.context(inputs)
    ahead = time.perf_counter() - start

    start = time.perf_counter()
    leaves = [part.detach().requires_grad_() for part in (context, *tags)]
    with patch.object(network, "context", lambda _: (leaves[0], leaves[1:])):
        loss = network.loss(inputs, gold)
    ((loss.parse + loss.label + loss.tag) / int(inputs.lengths.sum())).backward()
    seconds["scores, decoding, relations"] = time.perf_counter() - start

    start = time.perf_counter()
    torch.autograd.backward([context, *tags], [leaf.grad for leaf in leaves])
    seconds["encoder and BiLSTM"] = ahead + time.perf_counter() - start

    start = time.perf_counter()
    clip(network, trainer.config.training.clip)
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
    inner, whole = found["encoder and BiLSTM"], sum(found.values())
    rows = [[name, seconds, f"{seconds / whole:.1%}"] for name, seconds in found.items()]
    rows.append(["outside encoder and BiLSTM", whole - inner, f"{1 - inner / whole:.1%}"])
    table(
        f"{len(plan)} steps of {Path(options.config).stem}, {torch.get_num_threads()} threads",
        ["part", "seconds", "share"],
        rows,
    )
    write_json(options.json, {"seconds": found, "outside": 1 - inner / whole})


if __name__ == "__main__":
    main()
