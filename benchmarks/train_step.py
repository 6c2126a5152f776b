"""Memory and time of one max-margin step at the paper's sizes, without the encoder.

    python benchmarks/train_step.py [--lengths 50 100 200 400] [--repeats N] [--json FILE]

headspan's step is compared with a direct transcription of the paper's formulas: every span vector
is computed and goes through the MLP and the biaffine with gradient, and the loss is read off the
dense scores. Each runs in a process of its own, so that its peak memory can be measured; gradients
are compared at the smallest length. The local and CRF losses of headspan are measured, too.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from functools import partial
from statistics import median

import torch
from torch import Tensor, nn

from headspan.inference import headed_span
from headspan.nn.scorers import SpanScorer, fenceposts
from headspan.registries import LOSSES
from headspan.runtime.tree_scores import TreeScores
from headspan.tree import headed_spans
from reporting import arguments, table, write_json

INPUT, SIZE = 2000, 600
Gold = tuple[Tensor, Tensor]


def direct_loss(scorer: SpanScorer, context: Tensor, heads: Tensor, spans: Tensor) -> Tensor:
    """The paper's formulas, transcribed."""
    posts = fenceposts(context)[0]
    vectors = posts[None] - posts[:, None]
    e = nn.functional.leaky_relu(scorer.span.linear(vectors), 0.1)
    c = nn.functional.leaky_relu(scorer.word.linear(context[0, :-1]), 0.1)
    e = torch.cat([e, e.new_ones(*e.shape[:-1], 1)], -1)
    c = torch.cat([c, c.new_ones(len(c), 1)], -1)
    scores = e @ (c @ scorer.weight).T
    tree = headed_span.cost_augmented_tree(scores.detach(), heads[0])
    k = torch.arange(1, heads.shape[1] + 1)
    wrong, right = torch.as_tensor(tree.spans), spans[0]
    cost = (wrong != right).any(-1).sum()
    margin = scores[wrong[:, 0], wrong[:, 1], k] - scores[right[:, 0], right[:, 1], k]
    return margin.sum() + cost


def headspan_loss(
    name: str, scorer: SpanScorer, context: Tensor, heads: Tensor, spans: Tensor
) -> Tensor:
    lengths = torch.tensor([heads.shape[1]])
    scores = TreeScores(headed_span, lengths, [scorer(context, lengths)])
    loss: Tensor = LOSSES[name](scores, heads, spans)
    return loss


COMPARED = {"headspan": partial(headspan_loss, "max-margin"), "direct": direct_loss}
MEASURED = {**COMPARED, **{name: partial(headspan_loss, name) for name in ("local", "crf")}}


def problem(n: int) -> tuple[SpanScorer, Tensor, Gold]:
    torch.manual_seed(n)
    scorer = SpanScorer(INPUT, SIZE, 0.0)
    nn.init.normal_(scorer.weight, std=0.02)
    heads = [0, *range(1, n)]
    spans = [(span.left, span.right) for span in headed_spans(heads)]
    context = torch.randn(1, n + 2, INPUT)
    return scorer, context, (torch.tensor([heads]), torch.tensor([spans]))


def peak() -> int:
    """Peak memory of this process, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def one(which: str, n: int, repeats: int) -> dict[str, float]:
    """Peak memory and time of a step, in this process."""
    scorer, context, gold = problem(n)
    warm = problem(5)
    MEASURED[which](warm[0], warm[1], *warm[2]).backward()
    del warm
    context.requires_grad_()
    before = peak()
    seconds = []
    for _ in range(repeats):
        scorer.zero_grad(set_to_none=True)
        context.grad = None
        start = time.perf_counter()
        MEASURED[which](scorer, context, *gold).backward()
        seconds.append(time.perf_counter() - start)
    return {"bytes": peak() - before, "seconds": median(seconds)}


def largest_difference(n: int) -> float:
    """The largest difference between the two gradients, relative to the largest gradient."""
    scorer, context, gold = problem(n)
    gradients = []
    for loss in COMPARED.values():
        scorer.zero_grad(set_to_none=True)
        loss(scorer, context, *gold).backward()
        gradients.append([p.grad.clone() for p in scorer.parameters()])
    return max(
        float((a - b).abs().max() / b.abs().max().clamp(min=1e-12))
        for a, b in zip(*gradients, strict=True)
    )


def main() -> None:
    parser = arguments(__doc__, repeats=3)
    parser.add_argument("--lengths", type=int, nargs="+", default=[50, 100, 200, 400])
    parser.add_argument(
        "--one", nargs=2, metavar=("WHICH", "N"), help="measure one step in this process"
    )
    options = parser.parse_args()
    if options.one:
        which, n = options.one
        print(json.dumps(one(which, int(n), options.repeats)))
        return
    rows = []
    for n in options.lengths:
        steps = {}
        for which in MEASURED:
            what = ["--one", which, str(n), "--repeats", str(options.repeats)]
            command = [sys.executable, __file__, *what]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            steps[which] = json.loads(done.stdout)
        rows.append({
            "words": n,
            "headspan MB": steps["headspan"]["bytes"] / 1e6,
            "direct MB": steps["direct"]["bytes"] / 1e6,
            "times less memory": steps["direct"]["bytes"] / max(steps["headspan"]["bytes"], 1),
            "headspan s": steps["headspan"]["seconds"],
            "direct s": steps["direct"]["seconds"],
            "local MB": steps["local"]["bytes"] / 1e6,
            "crf MB": steps["crf"]["bytes"] / 1e6,
        })  # fmt: skip
    difference = largest_difference(options.lengths[0])
    title = f"One step: input {INPUT}, scores {SIZE}; peak memory beyond weights and input"
    table(title, list(rows[0]), [list(row.values()) for row in rows])
    print(f"\nlargest relative difference of gradients: {difference:.1e}")
    write_json(options.json, {"steps": rows, "largest difference of gradients": difference})


if __name__ == "__main__":
    main()
