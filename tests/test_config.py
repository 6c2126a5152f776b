from pathlib import Path

import pytest

from headspan import HeadspanError
from headspan.config import Config, from_table, read_config, to_table, upgraded


def config(tmp_path: Path, text: str, **overrides: str) -> Config:
    path = tmp_path / "c.toml"
    path.write_text(text, encoding="utf-8")
    return read_config(path, {key.replace("__", "."): value for key, value in overrides.items()})


def test_values_are_read_and_overridden(tmp_path: Path) -> None:
    text = '[training]\nepochs = 3\nbetas = [0.9, 0.99]\n[model.embeddings]\ncolumns = ["upos"]\n'
    found = config(
        tmp_path, text, training__epochs="7", model__structure="arc", data__train="a b.conllu",
        training__learning_rate="1", model__encoder__fine_tuned="layers",
        data__dev='["a.conllu", "b.conllu"]',
    )  # fmt: skip
    assert found.training.epochs == 7
    assert found.training.betas == (0.9, 0.99)
    assert found.training.learning_rate == 1.0
    assert found.model.structure == "arc"
    assert found.model.embeddings.columns == ("upos",)
    assert found.model.encoder.fine_tuned == "layers"
    assert found.data.train == "a b.conllu"
    assert found.data.dev == ("a.conllu", "b.conllu")
    with pytest.raises(HeadspanError, match=r"data.train is 3; expected a list"):
        config(tmp_path, text, data__train="3")
    assert from_table(Config, to_table(found), "again") == found


def test_keys_of_earlier_versions_are_upgraded() -> None:
    old = {
        "model": {"encoder": {"tuned": "layers"}},
        "training": {"batch_by": "places", "patience": 0},
    }
    config = from_table(Config, upgraded(old), "old")
    assert config.model.encoder.fine_tuned == "layers"
    assert config.training.batch_by == "padded"
    assert "tuned" in old["model"]["encoder"]
    for broken in ({}, {"model": 3, "training": []}, {"model": {"encoder": "x"}}):
        assert upgraded(broken) == broken


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[training]\nepoch = 3\n", "c.toml: unknown key training.epoch; expected training.epochs"),
        ("[nothing]\n", "unknown key nothing; expected data, model, training"),
        ("training = 3\n", "training is 3; expected a table"),
        ('[training]\nepochs = "3"\n', "training.epochs is '3'; expected a whole number"),
        ("[training]\nepochs = true\n", "training.epochs is True; expected a whole number"),
        ("[training]\nepochs = -1\n", "training.epochs is -1; expected 0 or more"),
        ('[model]\nstructure = "tree"\n', "model.structure is 'tree'; expected one of span, arc, joint"),
        ("[data]\nsegment = 1\n", "data.segment is 1; expected one of true, false, auto"),
        ('[data]\nsegment = "true"\n', "data.segment is 'true'; expected one of true, false, auto"),
        ('[model.embeddings]\ncolumns = "upos"\n', "expected a list"),
        ('[model.embeddings]\ncolumns = ["pos"]\n', "'pos'; expected one of upos, xpos, feats"),
        ("[training\n", "c.toml: is not TOML"),
        ("x = " + "[" * 10_000, "c.toml: is not TOML"),
        ("[training]\nepochs = " + "9" * 5000 + "\n", "c.toml: is not TOML"),
        ("[training]\nclip = " + "9" * 400 + "\n", "training.clip is 9+…; expected at most"),
        ("[training]\nclip = inf\n", "training.clip is inf; expected at most"),
        ("[training]\nclip = nan\n", "training.clip is nan; expected"),
        ("[training]\nbetas = [0.9]\n", r"training.betas is \[0.9\]; expected 2 values"),
        ("[training]\nbetas = [0.9, 1.0]\n", "training.betas is 1.0; expected less than 1"),
        ("[model]\ndropout = 1\n", "model.dropout is 1; expected less than 1"),
        ("[model]\nscore_size = 0\n", "model.score_size is 0; expected at least 1"),
        ("[training]\nepochs = 0\n", "c.toml: training.epochs is 0; expected at least 1"),
        ('data = "' + "x" * 5000 + '"\n', "data is 'x+…'; expected a table"),
    ],
)  # fmt: skip
def test_mistakes_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(HeadspanError, match=message):
        config(tmp_path, text)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("training.epochs", "x", "training.epochs is 'x'; expected a whole number"),
        ("training.epochs", "0", "training.epochs is 0; expected at least 1"),
        ("training.epoch", "3", "unknown key training.epoch; expected training.epochs"),
        ("model.dropout.x", "3", "dropout is not a table"),
    ],
)
def test_a_mistake_in_an_option_is_not_blamed_on_the_file(
    tmp_path: Path, key: str, value: str, message: str
) -> None:
    path = tmp_path / "c.toml"
    path.write_text("[training]\nepochs = 3\n[model]\ndropout = 0.1\n", encoding="utf-8")
    good = {"training.clip": "1.0"}
    with pytest.raises(HeadspanError, match=f"^--{key}={value}: {message}"):
        read_config(path, {**good, key: value}, prefix="--")


def test_segment_is_true_false_or_auto(tmp_path: Path) -> None:
    assert config(tmp_path, "").data.segment == "auto"
    assert config(tmp_path, "[data]\nsegment = true\n").data.segment is True
    assert config(tmp_path, "", data__segment="false").data.segment is False
    assert config(tmp_path, "", data__segment="auto").data.segment == "auto"


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HeadspanError, match=r"no.toml: cannot be read"):
        read_config(tmp_path / "no.toml")


def test_a_column_is_named_once(tmp_path: Path) -> None:
    with pytest.raises(HeadspanError, match="expected each column once"):
        config(tmp_path, '[model.tagger]\ncolumns = ["upos", "upos"]\n')
