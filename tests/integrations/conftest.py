"""A tiny parser with all its parts: it knows sixty sentences, and finds their ends."""

import random
from pathlib import Path

import pytest

from headspan import conllu
from headspan.config import Config, Data, Embeddings, Model, Tagger, Training
from headspan.parser import Parser
from headspan.text import train_segmenter
from headspan.training.loop import train
from text.conftest import SETTINGS
from text.made_up import made_up_treebank
from training.conftest import sentence


@pytest.fixture(scope="session")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Parser:
    folder = tmp_path_factory.mktemp("tiny")
    rng = random.Random(7)
    conllu.write([sentence(rng, k) for k in range(60)], folder / "train.conllu")
    conllu.write([sentence(rng, k) for k in range(12)], folder / "dev.conllu")
    config = Config(
        data=Data(train=str(folder / "train.conllu"), dev=str(folder / "dev.conllu"), punct="keep"),
        model=Model(
            lstm_layers=1, lstm_size=16, score_size=16, label_size=8, dropout=0.1,
            embeddings=Embeddings(words=16, characters=8, min_count=1),
            tagger=Tagger(columns=("upos", "xpos"), size=16),
        ),
        training=Training(epochs=6, batch_tokens=60, learning_rate=1e-2, warmup_epochs=0.2, seed=3),
    )  # fmt: skip
    parser = train(config, folder / "run")
    parser.segmenter = train_segmenter(
        made_up_treebank(200, 1), made_up_treebank(20, 2), settings=SETTINGS
    )
    return parser


@pytest.fixture(scope="session")
def model(parser: Parser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "tiny"
    parser.save(path)
    return path
