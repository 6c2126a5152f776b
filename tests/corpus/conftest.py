"""Folders to compare, an engine without processes, and a tiny real model."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from headspan.corpus import CorpusSummary, parse_corpus
from headspan.corpus.chunks import Shard
from headspan.corpus.output_folder import OutputFolder
from headspan.corpus.shards import ShardWriter
from headspan.corpus.source import Source
from text.made_up import made_up_treebank
from training.conftest import treebank  # noqa: F401 (a fixture)

from .fake import load


def inline(
    source: Source, folder: OutputFolder, writer: ShardWriter
) -> Generator[Shard, None, None]:
    """The engine that parses in this process."""
    parser = writer.parser()
    for chunk in folder.remaining(source.chunks()):
        yield writer.write(parser, chunk)


def files(folder: Path) -> dict[str, bytes]:
    """The contents of all files in a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="session")
def no_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that passes for a model as long as nothing loads it."""
    folder = tmp_path_factory.mktemp("no_model")
    (folder / "config.json").write_text("{}", encoding="utf-8")
    return folder


@pytest.fixture
def parse(no_model: Path) -> Any:
    """parse_corpus with the fake parser, in this process, with small shards."""

    def call(inputs: list[Path], folder: Path, **options: Any) -> CorpusSummary:
        settings = {"model": no_model, "load": load, "engine": inline, "shard_size": 1, **options}
        return parse_corpus(inputs, folder, **settings)

    return call


def paragraphs(count: int, start: int = 0) -> str:
    """Paragraphs of two lines, three of which fill a shard of a thousand characters."""
    return "".join(
        f"Paragraph {k} has words {'and words ' * 14}.\nIt ends with line {k} {'so ' * 40}.\n\n"
        for k in range(start, start + count)
    )


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory, treebank: Path) -> Path:  # noqa: F811
    """A model whose segmenter alone is trained: its trees are strange, but always the same."""
    from headspan.config import Config, DataConfig, EmbeddingsConfig, ModelConfig
    from headspan.text import SegmenterSettings, SegmenterSizes, train_segmenter
    from headspan.training.loop import Trainer

    folder = tmp_path_factory.mktemp("model")
    config = Config(
        data=DataConfig(train=str(treebank / "train.conllu"), dev=str(treebank / "dev.conllu")),
        model=ModelConfig(
            lstm_layers=1, lstm_size=16, score_size=16, label_size=8,
            embeddings=EmbeddingsConfig(words=16, characters=8, tags=0, min_count=1),
        ),
    )  # fmt: skip
    parser = Trainer(config, folder / "run").parser
    small = SegmenterSettings(
        epochs=1, steps=0, batch=8, window=200, learning_rate=1e-2, dropout=0.0,
        sizes=SegmenterSizes(characters=8, convolution=16, words=8, lstm=16),
    )  # fmt: skip
    parser.segmenter = train_segmenter(
        made_up_treebank(60, 1), made_up_treebank(10, 2), settings=small
    )
    parser.save(folder / "model")
    return folder / "model"
