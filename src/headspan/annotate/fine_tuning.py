"""Fine-tuning a model on confirmed sentences; needs torch.

As a program it is a process of its own, so that the page does not wait for it:

    python -m headspan.annotate.fine_tuning MODEL CONFIRMED.conllu NEW_MODEL
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from headspan import conllu
from headspan.conllu import Sentence
from headspan.model.parser import Parser
from headspan.model.saving import with_torch
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.extras import needed_for
from headspan.scoring import score

EPOCHS = 6
"""The number of times that each sentence is seen."""
LEARNING_RATE = 5e-4
"""That of the layers above the encoder."""
ENCODER_LEARNING_RATE = 1e-4
_BATCH = 600  # words or subwords, with padding
_CLIP = 5.0
_HELD_OUT = 5  # of so many sentences, one is kept to see whether training has helped
NOT_BETTER = 3
"""The exit code of the program if training has not helped; then there is no new model."""


def check_torch() -> None:
    """Raise HeadspanError if torch is missing, and say how to install it."""
    with needed_for("--retrain", extra="train"):
        import torch  # noqa: F401


def fine_tune(parser: Parser, sentences: Sequence[Sentence], *, seed: int = 0) -> None:
    """Train a parser a little on sentences with trees; it computes with torch afterwards.

    Sentences with a relation that the model lacks teach it nothing, and are left out. Equal
    sentences and seeds give equal parsers. Raises HeadspanError if none is left.
    """
    check_torch()
    import torch

    from headspan.training.treebank import TrainingSet, shuffled_batches

    chosen = TrainingSet.choose(sentences, parser.config.data)
    chosen = chosen.known_to(parser.vocabularies.labels)
    if not chosen.sentences:
        raise HeadspanError("no confirmed sentence has only relations that the model knows")
    torch.manual_seed(seed)
    network = with_torch(parser)
    parser.network = network
    encoder = network.inputs.encoder
    pretrained = set(encoder.encoder.parameters()) if encoder is not None else set()
    learned = [p for p in network.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in learned if p not in pretrained], "lr": LEARNING_RATE},
            {"params": [p for p in learned if p in pretrained], "lr": ENCODER_LEARNING_RATE},
        ],
        weight_decay=0.0,
    )
    costs = [parser.cost(sentence) for sentence in chosen.sentences]
    for epoch in range(EPOCHS):
        for batch in shuffled_batches(costs, _BATCH, seed=seed, epoch=epoch):
            inputs, gold = chosen.batch(
                batch,
                parser.vocabularies,
                parser.tokenizer,
                word_dropout=parser.config.training.word_dropout,
            )
            network.train()
            optimizer.zero_grad(set_to_none=True)
            loss = network.loss(inputs, gold)
            total = loss.parse + loss.label + parser.config.model.tagger.weight * loss.tag
            words = sum(len(chosen.sentences[k]) for k in batch)
            (total / words).backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(learned, _CLIP)
            optimizer.step()
    network.eval()


def improve(parser: Parser, sentences: Sequence[Sentence]) -> bool:
    """Fine-tune a parser on most sentences; returns whether its LAS on the others has grown.

    If not, it is a worse parser than before, and not to be used. A single sentence cannot show
    whether it has grown, and is not trained on. Raises HeadspanError.
    """
    if len(sentences) < 2:
        return False
    every = min(_HELD_OUT, len(sentences))
    kept = sentences[every - 1 :: every]
    rest = [s for k, s in enumerate(sentences, 1) if k % every]
    before = score(kept, parser.parse(kept))["las"].f1
    fine_tune(parser, rest)
    return score(kept, parser.parse(kept))["las"].f1 > before


def main(model: str, confirmed: str, new_model: str) -> int:
    """Fine-tune a model on a file, and write the new one if it is better; returns an exit code."""
    if hasattr(os, "nice"):
        os.nice(10)
    parser = Parser.load(model)
    if not improve(parser, list(conllu.read(confirmed))):
        return NOT_BETTER
    parser.save(new_model)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
