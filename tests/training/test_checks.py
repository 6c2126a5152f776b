"""What cannot be trained, or not well, is said before training."""

import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from headspan import HeadspanError, HeadspanWarning, conllu
from headspan.config import Config, DataConfig, EmbeddingsConfig, ModelConfig, TrainingConfig
from headspan.model.vocabularies import Vocabularies
from headspan.plumbing import machine
from headspan.training import checks
from headspan.training.loop import Trainer


@pytest.fixture
def config(treebank: Path) -> Config:
    return Config(
        data=DataConfig(train=str(treebank / "two.conllu"), dev=str(treebank / "two.conllu")),
        model=ModelConfig(
            lstm_layers=1, lstm_size=4, score_size=4, label_size=4,
            embeddings=EmbeddingsConfig(words=4, min_count=1),
        ),
        training=TrainingConfig(epochs=1),
    )  # fmt: skip


def test_training_takes_at_least_one_epoch(config: Config, tmp_path: Path) -> None:
    with pytest.raises(HeadspanError, match=r"training\.epochs is 0; expected at least 1"):
        Trainer(replace(config, training=TrainingConfig(epochs=0)), tmp_path)


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (10**9, r"the network is too large for any machine: .*lstm_size = 1,000,000,000"),
        (10**6, r"needs at least [\d,]+ GiB of memory; this machine has 2 GiB .*= 1,000,000"),
    ],
)
def test_a_network_that_does_not_fit_is_refused(
    config: Config, tmp_path: Path, size: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "memory", lambda: (2 << 30, 1 << 30))
    with pytest.raises(HeadspanError, match=message):
        Trainer(replace(config, model=replace(config.model, lstm_size=size)), tmp_path)


def test_checking_the_memory_draws_no_random_numbers(config: Config) -> None:
    treebank = list(conllu.read(str(config.data.train)))
    sizes = Vocabularies.count(treebank, config.model).sizes()
    before = torch.random.get_rng_state()
    checks.check_memory(config.model, sizes, None)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_treebank_without_relations_is_worth_a_warning(config: Config, tmp_path: Path) -> None:
    bare = tmp_path / "bare.conllu"
    conllu.write(
        (s.with_parse(s.heads, ["_"] * len(s)) for s in conllu.read(str(config.data.train))), bare
    )
    with pytest.warns(HeadspanWarning, match=r"bare\.conllu: has no relations"):
        Trainer(replace(config, data=replace(config.data, train=str(bare))), tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Trainer(config, tmp_path)


def test_a_huge_loss_is_worth_one_warning(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = Trainer(
        replace(config, training=TrainingConfig(epochs=3, batch_tokens=1)), tmp_path / "run"
    )

    def diverged(*_: Any) -> tuple[float, float, float, int]:
        return 3e7, 1.0, 0.0, 10

    monkeypatch.setattr(trainer, "_step", diverged)
    with pytest.warns(HeadspanWarning) as given:
        trainer.run()
    assert [
        bool(re.match("the loss is 3.0e.06 per word in epoch 1", str(w.message))) for w in given
    ] == [True]
