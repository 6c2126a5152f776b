"""Speed by sentence length, of untrained models."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.test_report import headspan
from headspan import conllu
from headspan.config import Config, EmbeddingsConfig, ModelConfig
from headspan.experiments.speed_by_length import BUCKETS, buckets, devices, made_up, speeds
from headspan.model.parser import Parser
from headspan.model.vocabularies import Vocabularies
from headspan.nn.network import Network
from headspan.plumbing.errors import HeadspanError


@pytest.fixture(scope="module")
def models(treebank: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    sentences = list(conllu.read(treebank / "dev.conllu"))
    small = ModelConfig(
        lstm_layers=1, lstm_size=8, score_size=8, label_size=4, embeddings=EmbeddingsConfig(words=8)
    )
    folders = {}
    for structure in ("span", "arc"):
        model = replace(small, structure=structure)
        vocabularies = Vocabularies.count(sentences, model)
        parser = Parser(Network(model, vocabularies.sizes()), Config(model=model), vocabularies)
        parser.save(folder / structure)
        folders[structure] = folder / structure
    return folders


def test_every_model_is_measured_on_every_bucket(models: dict[str, Path], treebank: Path) -> None:
    sentences = [*conllu.read(treebank / "test.conllu"), *made_up(1)]
    rows = speeds(
        {name: Parser.load(path) for name, path in models.items()}, sentences, repeat=1
    )  # fmt: skip
    cpu = [row for row in rows if row.device == "cpu"]
    assert [(row.model, row.bucket) for row in cpu[:4]] == [
        ("span", "all"), ("arc", "all"), ("span", "1-9"), ("arc", "1-9"),
    ]  # fmt: skip
    assert len(cpu) == 2 * (1 + len(BUCKETS))
    assert len(rows) == len(cpu) * len(devices())
    words = sum(map(len, sentences))
    assert cpu[0].words == words == sum(row.words for row in cpu[2::2])
    assert cpu[0].rates["words_per_second"] == cpu[0].words / cpu[0].seconds
    for row in cpu:  # the encoder takes some of the time, and so does the rest
        assert 0 < row.without_encoder < row.seconds
        rates = row.rates
        assert rates["words_per_second_without_encoder"] == row.words / row.without_encoder
        assert rates["sentences_per_second_without_encoder"] > rates["sentences_per_second"]
    with pytest.raises(HeadspanError, match="no sentences"):
        speeds({}, [])


def test_made_up_sentences_fill_the_buckets() -> None:
    assert [len(group) for group in buckets(made_up(3)).values()] == [3] * len(BUCKETS)
    assert made_up(2) == made_up(2)


def test_the_command_prints_a_table_or_json(models: dict[str, Path], treebank: Path) -> None:
    gold = treebank / "dev.conllu"
    done = headspan(
        "experiment", "speed", *models.values(), "--treebank", gold, "--repeat", 1, "--json"
    )
    report = json.loads(done.stdout)
    assert report["treebank"] == str(gold)
    assert [row["structure"] for row in report["speeds"][:2]] == ["span", "arc"]
    assert all(row["sentences_per_second"] > 0 for row in report["speeds"])
    assert all(row["words_per_second_without_encoder"] > 0 for row in report["speeds"])
    shown = headspan("experiment", "speed", models["span"], "--treebank", gold, "--repeat", 1)
    assert "no encoder" in shown.stdout.splitlines()[0]
    twice = headspan("experiment", "speed", models["span"], models["span"], code=2)
    assert "the same model twice" in twice.stderr
