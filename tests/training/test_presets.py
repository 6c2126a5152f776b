"""Every preset runs end to end, on a tiny encoder, with tiny sizes."""

from dataclasses import replace
from pathlib import Path

import pytest

from conftest import ROOT
from headspan import conllu
from headspan.config import read_config
from headspan.training.loop import train

PRESETS = sorted((ROOT / "configs").glob("*.toml"))


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_a_preset_trains(path: Path, treebank: Path, tiny_encoder: Path, tmp_path: Path) -> None:
    train_on = tmp_path / "train.conllu"
    sentences = [s.with_tags(lemmas=s.forms) for s in conllu.read(treebank / "train.conllu")]
    conllu.write(sentences, train_on)
    config = read_config(path, {
        "data.train": str(train_on), "data.dev": str(treebank / "dev.conllu"),
        "data.silver": "", "training.epochs": "1", "training.batch_tokens": "200",
        "training.bfloat16": "false",
        "model.lstm_size": "8", "model.score_size": "8", "model.label_size": "4",
    })  # fmt: skip
    if config.model.encoder.name:
        encoder = replace(config.model.encoder, name=str(tiny_encoder))
        config = replace(config, model=replace(config.model, encoder=encoder))
    parser = train(config, tmp_path / "run")
    assert len(parser.parse_words(["the", "dog", "sees"]).heads) == 3


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_a_preset_says_whether_it_takes_raw_text(path: Path) -> None:
    config = read_config(path)
    if path.stem == "lstm":
        assert config.data.segment == "auto"
    else:
        assert config.data.segment is (path.stem in ("en", "en-fast", "en-teacher"))
    if config.data.segment:  # raw text has no tags
        assert not config.model.embeddings.columns


@pytest.mark.parametrize(
    ("name", "encoder", "punct", "tags"),
    [
        ("ptb", "bert-large-cased", "ptb", ()),
        ("ctb", "bert-base-chinese", "ctb", ("upos",)),
        ("ud", "bert-base-multilingual-cased", "upos", ("upos",)),
    ],
)
def test_the_papers_settings(name: str, encoder: str, punct: str, tags: tuple[str, ...]) -> None:
    config = read_config(ROOT / "configs" / f"{name}.toml")
    assert config.model.encoder.name == encoder
    assert config.data.punct == punct
    assert config.data.nonprojective == ("head" if name == "ud" else "drop")
    assert config.model.embeddings.columns == tags
    assert config.model.embeddings.tags == (100 if tags else 0)
    m, t = config.model, config.training
    assert (m.structure, m.loss, m.labels_from) == ("span", "max-margin", "words")
    assert (m.lstm_layers, m.lstm_size, m.score_size, m.label_size) == (3, 1000, 600, 300)
    assert (t.epochs, t.batch_tokens, t.learning_rate, t.encoder_learning_rate) == (
        10,
        4000,
        25e-5,
        5e-5,
    )
    assert t.batch_by == "words"
    assert (t.betas, t.clip, t.warmup_epochs, m.dropout) == ((0.9, 0.9), 5.0, 1.0, 0.33)
