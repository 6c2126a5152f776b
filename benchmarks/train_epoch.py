"""Time of training by part: the share of an epoch outside the encoder and the BiLSTM.

    python benchmarks/train_epoch.py [CONFIG.toml] [--batches N] [--repeats N] [--json FILE]

For batches of an epoch, the parts of a step are timed one after another: making the batch; the
encoder with embeddings and BiLSTM (forward, and backward from the gradient of the rest); the rest
(scores, decoding, relations; forward and backward); and clipping with the optimiser's step.
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
    network, optimizer = trainer.network.train(), trainer.optimizer
    optimizer.zero_grad(set_to_none=True)
    seconds = {}
    start = time.perf_counter()
    parser = trainer.parser
    inputs, gold = trainer.training_set.batch(batch, parser.vocabularies, parser.tokenizer)
    seconds["making batches"] = time.perf_counter() - start

    start = time.perf_counter()
    context, tags = network.context(inputs)
    forward = time.perf_counter() - start

    start = time.perf_counter()
    leaves = [part.detach().requires_grad_() for part in (context, *tags)]
    with patch.object(network, "context", lambda _: (leaves[0], leaves[1:])):
        loss = network.loss(inputs, gold)
    ((loss.parse + loss.label + loss.tag) / int(inputs.lengths.sum())).backward()
    seconds["scores, decoding, relations"] = time.perf_counter() - start

    start = time.perf_counter()
    torch.autograd.backward([context, *tags], [leaf.grad for leaf in leaves])
    seconds["encoder and BiLSTM"] = forward + time.perf_counter() - start

    start = time.perf_counter()
    clip(network, trainer.config.training.clip)
    optimizer.step()
    seconds["optimiser"] = time.perf_counter() - start
    return seconds


def main() -> None:
    parser = arguments(__doc__, repeats=3)
    parser.add_argument("config", nargs="?", default=str(ROOT / "configs" / "en-minilm.toml"))
    parser.add_argument("--batches", type=int, default=12, help="number of batches")
    options = parser.parse_args()
    files = {
        "data.train": str(needed(TREEBANK / "en_ewt-ud-train.conllu")),
        "data.dev": str(needed(TREEBANK / "en_ewt-ud-dev.conllu")),
    }
    trainer = Trainer(read_config(options.config, files), Path("never-written"))
    plan = trainer.batches(0)[: options.batches]
    for group in trainer.optimizer.param_groups:
        group["lr"] = 1e-6  # so that the weights stay nearly the same
    timed_step(trainer, plan[0])
    runs = [
        {name: sum(step[name] for step in steps) for name in steps[0]}
        for _ in range(options.repeats)
        if (steps := [timed_step(trainer, batch) for batch in plan])
    ]
    parts = {name: median(run[name] for run in runs) for name in runs[0]}
    encoder, total = parts["encoder and BiLSTM"], sum(parts.values())
    rows = [[name, seconds, f"{seconds / total:.1%}"] for name, seconds in parts.items()]
    rows.append(["outside encoder and BiLSTM", total - encoder, f"{1 - encoder / total:.1%}"])
    table(
        f"{len(plan)} steps of {Path(options.config).stem}, {torch.get_num_threads()} threads",
        ["part", "seconds", "share"],
        rows,
    )
    write_json(options.json, {"seconds": parts, "outside": 1 - encoder / total})


if __name__ == "__main__":
    main()
