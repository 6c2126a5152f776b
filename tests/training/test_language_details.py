"""Details of model packages, entry points and files of other libraries."""

import json
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from transformers import MPNetConfig

from headspan.model import folder
from headspan.model.model_package import ModelPackage
from headspan.nn.pretrained import positions
from headspan.nn.sentencepiece_files import SentencePieces, read_tokenizer
from headspan.plumbing.errors import HeadspanError
from headspan.training.language_model import about_package
from headspan.training.ud_folders import _FILE, UdTreebank


def test_a_package_replaces_neither_files_nor_folders_with_other_things(tmp_path: Path) -> None:
    notes, other = tmp_path / "notes.txt", tmp_path / "other"
    notes.write_text("mine")
    other.mkdir()
    (other / "pyproject.toml").write_text('[project.entry-points."headspan.models"]')
    (other / ".git").mkdir()
    for path in (notes, other):
        with (
            pytest.raises(HeadspanError, match="expected a new folder"),
            ModelPackage("it").written(path),
        ):
            pass
    assert notes.read_text() == "mine"
    ModelPackage("it").check_place(tmp_path / "new")


@pytest.mark.parametrize("value", ["", "!!", "a b", "__main__", "nowhere", "json"])
def test_a_bad_entry_point_hides_no_other_model(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = EntryPoint("bad", value, folder.GROUP)
    monkeypatch.setattr(folder, "entry_points", lambda group: [entry])
    assert folder.installed_models() == {}
    with pytest.raises(HeadspanError, match="there is no such model"):
        folder.find_model("not-here")


def test_a_model_with_an_encoder_has_no_licence_by_default() -> None:
    treebank = UdTreebank("it_isdt", "it", ("a",), ("b",), (), "CC BY-SA 4.0")
    assert about_package([treebank]).licence == "CC-BY-SA-4.0"
    with_encoder = about_package([treebank], encoder="some/encoder")
    assert with_encoder.licence == ""
    assert any("some/encoder" in source for source in with_encoder.sources)


def test_parts_of_parts_are_found() -> None:
    for name in ("de_hdt-ud-train-a-1.conllu", "de_hdt-ud-train-b.conllu", "de_hdt-ud-dev.conllu"):
        assert _FILE.fullmatch(name), name


def test_mpnet_has_two_positions_fewer() -> None:
    assert positions(MPNetConfig(max_position_embeddings=20)) == 18


def message(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2, len(content)]) + content


@pytest.mark.parametrize(
    "piece",
    [b"", b"\x08\x05", message(1, b"a") + message(2, b"x")],
    ids=["no name", "a name that is a number", "a score that is a text"],
)
def test_a_damaged_file_of_sentencepiece_is_one_line(piece: bytes, tmp_path: Path) -> None:
    path = tmp_path / "spiece.model"
    path.write_bytes(message(1, piece))
    with pytest.raises(HeadspanError, match="is not a model of sentencepiece"):
        SentencePieces.read(path)


@pytest.mark.parametrize("table", [[1], 7, {"<unk>": "0"}, {"<unk>": [0]}])
def test_a_damaged_vocabulary_of_marian_is_one_line(table: object, tmp_path: Path) -> None:
    unknown = message(1, b"<unk>") + b"\x18\x02"
    (tmp_path / "source.spm").write_bytes(message(1, unknown))
    (tmp_path / "vocab.json").write_text(json.dumps(table))
    with pytest.raises(HeadspanError, match="is not a table of numbers"):
        read_tokenizer(tmp_path, "source.spm")
