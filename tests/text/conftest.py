import pytest

from headspan.text import Segmenter, SegmenterSettings, SegmenterSizes, train_segmenter

from .made_up import made_up_treebank

SETTINGS = SegmenterSettings(
    epochs=8,
    steps=0,
    batch=8,
    window=200,
    learning_rate=5e-3,
    dropout=0.1,
    sizes=SegmenterSizes(characters=16, convolution=32, words=8, lstm=24),
)


@pytest.fixture(scope="session")
def settings() -> SegmenterSettings:
    return SETTINGS


@pytest.fixture(scope="session")
def segmenter() -> Segmenter:
    return train_segmenter(made_up_treebank(400, 1), made_up_treebank(40, 2), settings=SETTINGS)
