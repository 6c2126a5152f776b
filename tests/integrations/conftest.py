"""A tiny parser with all its parts, trained on sixty sentences."""

import random
from pathlib import Path

import pytest

from headspan import conllu
from headspan.config import (
    Config,
    DataConfig,
    EmbeddingsConfig,
    ModelConfig,
    TaggerConfig,
    TrainingConfig,
)
from headspan.model.parser import Parser
from headspan.text import train_segmenter
from headspan.training.loop import train
from text.conftest import SETTINGS
from text.made_up import made_up_treebank
from training.conftest import sentence


@pytest.fixture(scope="session")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("treebank")
    rng = random.Random(7)
    for name, size in (("train", 60), ("dev", 12)):
        conllu.write([sentence(rng, k) for k in range(size)], folder / f"{name}.conllu")
    return folder


@pytest.fixture(scope="session")
def parser(treebank: Path, tmp_path_factory: pytest.TempPathFactory) -> Parser:
    config = Config(
        data=DataConfig(train=str(treebank / "train.conllu"), dev=str(treebank / "dev.conllu"), punct="keep"),
        model=ModelConfig(
            lstm_layers=1, lstm_size=16, score_size=16, label_size=8, dropout=0.1,
            embeddings=EmbeddingsConfig(words=16, characters=8, min_count=1),
            tagger=TaggerConfig(columns=("upos", "xpos"), size=16),
        ),
        training=TrainingConfig(epochs=6, batch_tokens=60, learning_rate=1e-2, warmup_epochs=0.2, seed=3),
    )  # fmt: skip
    parser = train(config, tmp_path_factory.mktemp("tiny"))
    parser.segmenter = train_segmenter(
        made_up_treebank(300, 1), made_up_treebank(20, 2), settings=SETTINGS
    )
    return parser


@pytest.fixture(scope="session")
def model(parser: Parser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "tiny"
    parser.save(path)
    return path
