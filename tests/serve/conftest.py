"""A small model, trained for a few seconds, and the service around it."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from headspan import conllu
from headspan.config import Config, DataConfig, EmbeddingsConfig, ModelConfig, TrainingConfig
from headspan.model.parser import Parser
from headspan.serve import create_app
from headspan.text import train_segmenter
from headspan.training.loop import train
from text.conftest import SETTINGS
from training.conftest import sentence


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of sentences such as "the dog sees a cat ."; it reads no tags, and segments text."""
    folder = tmp_path_factory.mktemp("service")
    rng = random.Random(7)
    treebank = [sentence(rng, k) for k in range(150)]
    conllu.write(treebank, folder / "train.conllu")
    data = str(folder / "train.conllu")
    config = Config(
        data=DataConfig(train=data, dev=data, punct="keep"),
        model=ModelConfig(
            lstm_layers=1, lstm_size=16, score_size=16, label_size=8, dropout=0.1,
            embeddings=EmbeddingsConfig(words=16, characters=8, min_count=1),
        ),
        training=TrainingConfig(epochs=3, batch_tokens=60, learning_rate=1e-2, seed=3),
    )  # fmt: skip
    parser = train(config, folder / "run")
    parser.segmenter = train_segmenter(treebank, treebank[:20], settings=SETTINGS)
    parser.save(folder / "model")
    return folder / "model"


@pytest.fixture(scope="session")
def parser(model_folder: Path) -> Parser:
    return Parser.load(model_folder)


@pytest.fixture(scope="session")
def client(parser: Parser) -> Iterator[TestClient]:
    with TestClient(create_app(parser, name="tiny"), base_url="http://127.0.0.1:8000") as client:
        yield client
