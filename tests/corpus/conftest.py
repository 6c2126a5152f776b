"""A tiny model with a segmenter, and texts for it."""

import random
from pathlib import Path

import pytest

from headspan.config import Config, Data, Embeddings, Model, Training
from headspan.text import Segmentation, Sizes, train_segmenter
from headspan.training.loop import Trainer

from text.made_up import made_up_treebank
from training.conftest import WORDS, treebank  # noqa: F401 (a fixture)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory, treebank: Path) -> Path:  # noqa: F811
    """Untrained but for its segmenter: its trees are strange, and always the same."""
    folder = tmp_path_factory.mktemp("model")
    config = Config(
        data=Data(train=str(treebank / "train.conllu"), dev=str(treebank / "dev.conllu"), punct="keep"),
        model=Model(
            lstm_layers=1, lstm_size=16, score_size=16, label_size=8,
            embeddings=Embeddings(words=16, characters=8, tags=0, min_count=1),
        ),
        training=Training(seed=3),
    )  # fmt: skip
    parser = Trainer(config, folder / "run").parser
    small = Segmentation(
        epochs=2, steps=0, batch=8, window=200, learning_rate=1e-2, dropout=0.0,
        sizes=Sizes(characters=8, convolution=16, words=8, lstm=16),
    )  # fmt: skip
    parser.segmenter = train_segmenter(
        made_up_treebank(150, 1), made_up_treebank(20, 2), settings=small
    )
    parser.save(folder / "model")
    return folder / "model"


def made_up_text(paragraphs: int, seed: int = 0) -> str:
    """Paragraphs of up to six sentences, some of them wrapped."""
    rng = random.Random(seed)
    made = []
    for _ in range(paragraphs):
        sentences = [
            " ".join(rng.choice(WORDS[tag]) for tag in ("DET", "NOUN", "VERB", "DET", "NOUN")).capitalize() + "."
            for _ in range(rng.randint(1, 6))
        ]  # fmt: skip
        made.append(rng.choice([" ", "\n"]).join(sentences))
    return "\n\n".join(made) + "\n"
