"""A model folder is data: old ones load, hostile ones are refused, and nothing in them runs."""

import json
import os
import pickle
import resource
import shutil
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from headspan import conllu
from headspan.model.folder import EMBEDDED, FILES, find_model, fingerprint
from headspan.model.parser import Parser
from headspan.model.saving import FORMAT
from headspan.nn.network import Network
from headspan.nn.pretrained import empty_encoder, encoder_table
from headspan.plumbing.errors import HeadspanError

sys.path.insert(0, str(Path(__file__).parent.parent / "fuzz"))

from targets.golden import write_whole_model

MODELS = Path(__file__).parent / "golden" / "models"
GOLDEN = sorted(path for path in MODELS.glob("v*") if path.is_dir())
WORDS = ["the", "dog", "sees", "a", "cat", "."]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with every part that a folder can have: the golden one, with lemmas as well."""
    folder = tmp_path_factory.mktemp("whole") / "model"
    write_whole_model(folder)
    assert {path.name for path in folder.iterdir()} == set(FILES)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy of that model that a test may break, without checksums, which would notice at once."""
    copied = Path(shutil.copytree(whole, tmp_path / "model"))
    (copied / "checksums.json").unlink()
    return copied


UNCHECKED = [name for name in FILES if name != "checksums.json"]


def change(path: Path, *keys: str, value: Any) -> None:
    """Put a value into a JSON file."""
    table = whole = json.loads(path.read_text(encoding="utf-8"))
    for key in keys[:-1]:
        table = table[key]
    table[keys[-1]] = value
    path.write_text(json.dumps(whole), encoding="utf-8")


def refused(folder: Path, message: str | None = None) -> None:
    with pytest.raises(HeadspanError, match=message) as caught:
        Parser.load(folder)
    assert str(caught.value).startswith(str(folder))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_models_of_every_format_parse_as_they_did(path: Path) -> None:
    expected = list(conllu.read(path.with_suffix(".conllu")))
    parser = Parser.load(path)
    text = " ".join(sentence.text for sentence in expected)
    assert [parse.plain() for parse in parser(text)] == expected
    assert len(expected) == 2
    again = parser.parse(expected, confidence=True, k=2)
    assert [parse.heads for parse in again] == [sentence.heads for sentence in expected]
    assert sum(file.stat().st_size for file in path.iterdir()) < 200_000


def test_the_current_format_has_a_golden_model() -> None:
    names = {path.name for path in GOLDEN}
    assert names == {f"v{number}" for number in range(1, FORMAT + 1)}
    about = json.loads((MODELS / f"v{FORMAT}" / "config.json").read_text(encoding="utf-8"))
    assert about["format"] == FORMAT
    kinds = {tensor.dtype for tensor in load_file(MODELS / "v1" / "model.safetensors").values()}
    assert {torch.int8, torch.float16} <= kinds


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (FORMAT + 1, "a newer headspan wrote it; install a newer version"),
        (0, "it was not written by headspan"),
        (None, "its format is None"),
        ("1", "its format is '1'"),
        (True, "its format is True"),
        (1.0, "its format is 1.0"),
        (["x" * 1000], "its format is"),
    ],
)
def test_an_unknown_format_is_refused_with_advice(folder: Path, found: Any, message: str) -> None:
    change(folder / "config.json", "format", value=found)
    refused(folder, message)


@pytest.mark.parametrize("name", [n for n in FILES if n not in ("README.md", "checksums.json")])
def test_a_truncated_file_is_refused(folder: Path, name: str) -> None:
    whole = (folder / name).read_bytes()
    for size in (0, 1, 7, 8, len(whole) // 2, len(whole) - 2):
        (folder / name).write_bytes(whole[:size])
        refused(folder)
    (folder / name).unlink()
    refused(folder, "no such file|has no tokenizer|no segmenter")


def safetensors(header: bytes, size: int | None = None, data: bytes = b"") -> bytes:
    return struct.pack("<Q", len(header) if size is None else size) + header + data


HUGE = b'{"a":{"dtype":"F32","shape":[1000000000000],"data_offsets":[0,4000000000000]}}'
WEIGHTS = {
    "a header of 2^60 bytes": safetensors(b"{}", 1 << 60),
    "a header of 2^63 bytes": safetensors(b"{}", 1 << 63),
    "a header longer than the file": safetensors(b"{}", 100),
    "a tensor longer than the file": safetensors(HUGE, data=b"\0" * 8),
    "a shape of 10^12 in 8 bytes": safetensors(HUGE.replace(b"4000000000000", b"8"), data=b"\0" * 8),
    "a shape that overflows": safetensors(HUGE.replace(b"1000000000000", b"4294967296,4294967296")),
    "tensors that overlap": safetensors(
        b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},'
        b'"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', data=b"\0" * 4),
    "no such type": safetensors(
        b'{"a":{"dtype":"F99","shape":[1],"data_offsets":[0,4]}}', data=b"\0" * 4),
    "deep nesting": safetensors(b'{"a":' + b"[" * 100_000),
    "no header": safetensors(b"null"),
    "a pickle": pickle.dumps({"a": [1, 2, 3]}),
}  # fmt: skip


@pytest.mark.parametrize("content", WEIGHTS.values(), ids=WEIGHTS.keys())
def test_weights_with_false_headers_are_refused(folder: Path, content: bytes) -> None:
    (folder / "model.safetensors").write_bytes(content)
    refused(folder, "cannot be read|is missing")


class Dangerous:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("pwned",)


def test_nothing_is_ever_unpickled(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("pytorch_model.bin", "model.pt", "model.pkl", "modeling.py", "__init__.py"):
        (folder / name).write_bytes(pickle.dumps(Dangerous()))
    Parser.load(folder)  # what does not belong there is not even looked at
    for name in UNCHECKED:
        before = (folder / name).read_bytes()
        (folder / name).write_bytes(pickle.dumps(Dangerous()))
        if name != "README.md":
            refused(folder, "cannot be read|is not UTF-8|is not JSON")
        torch.save({"a": Dangerous()}, folder / name)
        with pytest.raises(HeadspanError):
            Parser.load(folder)
        (folder / name).write_bytes(before)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    ("change_of", "message"),
    [
        (lambda t: {**t, "inputs.ends": t["inputs.ends"].double()}, "the type torch.float64"),
        (lambda t: {**t, "inputs.ends": t["inputs.ends"].bfloat16()}, "bfloat16"),
        (lambda t: {**t, "inputs.ends": t["inputs.ends"].to(torch.float8_e4m3fn)}, "float8"),
        (lambda t: {**t, "inputs.ends": t["inputs.ends"].flatten()}, "has the shape"),
        (lambda t: {**t, "inputs.ends": torch.zeros(())}, "has the shape"),
        (lambda t: {**t, "inputs.ends": torch.zeros((), dtype=torch.int8),
                    "inputs.ends.scale": torch.ones(1, 1)}, "does not fit"),
        (lambda t: {n: x for n, x in t.items() if n != "segmenter.near.bias"}, "segmenter: the tensor near.bias is missing"),
        (lambda t: {**t, "segmenter.extra": torch.zeros(1)}, "segmenter: the tensor extra does not belong"),
        (lambda t: {**t, "../x": torch.zeros(1)}, "does not belong"),
    ],
)  # fmt: skip
def test_tensors_that_do_not_fit_are_refused(folder: Path, change_of: Any, message: str) -> None:
    path = folder / "model.safetensors"
    save_file(change_of(load_file(path)), path)
    refused(folder, message)


def test_weights_that_are_not_finite_are_refused(folder: Path) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path)
    name = sorted(n for n, tensor in tensors.items() if tensor.is_floating_point())[3]
    for value in (float("nan"), float("inf"), float("-inf")):
        poisoned = tensors[name].clone()
        poisoned.view(-1)[-1] = value
        save_file({**tensors, name: poisoned}, path)
        refused(folder, f"the tensor {name} has numbers that are not finite")


@pytest.mark.parametrize("name", [n for n in FILES if n not in ("README.md", "checksums.json")])
def test_a_file_that_is_not_as_it_was_saved_is_refused(
    whole: Path, tmp_path: Path, name: str
) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "model"))
    Parser.load(folder)
    path = folder / name
    content = path.read_bytes()
    path.write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
    refused(folder, f"{name} is not as it was saved: it was damaged or changed")
    path.unlink()
    refused(folder, f"{name} is missing")
    path.write_bytes(content)
    (folder / "README.md").write_text("another card", encoding="utf-8")
    assert Parser.load(folder).card == "another card"
    (folder / "checksums.json").write_text("[]", encoding="utf-8")
    refused(folder, "checksums.json is not a table")


JSON = {
    "deep nesting": '{"format":' + "[" * 100_000,
    "many digits": '{"format": 1, "temperature": ' + "9" * 10_000 + "}",
    "a key twice": '{"format": 1, "format": 1}',
    "NaN": '{"format": 1, "temperature": NaN}',
    "infinity": '{"format": 1, "temperature": 1e999}',
    "not UTF-8": '{"format": 1}\udcff',
    "a byte-order mark": '\ufeff{"format": 1}',
    "a list": "[]",
    "an unknown key": '{"format": 1, "code": "x"}',
}


@pytest.mark.parametrize("text", JSON.values(), ids=JSON.keys())
def test_bad_json_is_refused(folder: Path, whole: Path, text: str) -> None:
    (folder / "config.json").write_bytes(text.encode(errors="surrogateescape"))
    refused(folder)
    for name in ("vocabularies.json", "segmenter.json", "tokenizer.json", "lemmas.json"):
        shutil.copy(whole / "config.json", folder / "config.json")
        (folder / name).write_bytes(text.encode(errors="surrogateescape"))
        refused(folder)
        shutil.copy(whole / name, folder / name)


@pytest.mark.parametrize(
    ("file", "keys", "value", "message"),
    [
        ("config.json", ["model", "lstm_layers"], 10**9, "expected 100 at most"),
        ("config.json", ["model", "lstm_size"], 10**11, "cannot be built|has the shape"),
        ("config.json", ["model", "score_size"], 10**15, "at most"),
        ("config.json", ["model", "label_size"], 0, "at least 1"),
        ("config.json", ["model", "embeddings", "words"], 10**9, "has the shape"),
        ("config.json", ["model", "embeddings", "columns"], ["upos"], "columns that are read"),
        ("config.json", ["model", "tagger", "columns"], ["xpos", "upos"], "that are predicted"),
        ("config.json", ["temperature"], 0.0, "its temperature is"),
        ("config.json", ["temperature"], "hot", "its temperature is"),
        ("config.json", ["temperature"], 1e300, "expected a number from 0.05 to 20.0"),
        ("config.json", ["relation_temperature"], 1e-30, "its relation temperature is"),
        ("config.json", ["tokenizer", "window"], 10**6, "takes 64 at a time"),
        ("config.json", ["tokenizer", "window"], 2, "too small"),
        ("config.json", ["tokenizer", "start"], -1, "too small"),
        ("config.json", ["tokenizer", "mask"], 10**30, "the encoder has 60 subwords"),
        ("config.json", ["tokenizer"], [], "special numbers"),
        ("config.json", ["encoder"], None, "expected a table"),
        ("config.json", ["encoder", "hidden_size"], 10**12, "hidden_size is"),
        ("config.json", ["encoder", "num_hidden_layers"], 10**6, "layers"),
        ("config.json", ["encoder", "layer_norm_eps"], "x", "layer_norm_eps"),
        ("vocabularies.json", ["labels"], [], "labels is empty"),
        ("vocabularies.json", ["labels"], ["a\tb"], "no file can hold"),
        ("vocabularies.json", ["labels"], ["\ud800"], "no file can hold"),
        ("vocabularies.json", ["words"], [], "its vocabulary is empty"),
        ("vocabularies.json", ["words"], [1], "is not a list of names"),
        ("vocabularies.json", ["tags"], {"forms": ["x"]}, "that are predicted"),
        ("segmenter.json", ["sizes", "convolution"], 4096, "expected"),
        ("segmenter.json", ["sizes", "width"], 4095, "expected"),
        ("segmenter.json", ["sizes", "width"], 10**9, "sizes"),
        ("segmenter.json", ["multiwords", "seen"], {"a": ["b\n", "c"]}, "multiword"),
        ("segmenter.json", ["spaced"], [["Lu"]], "pairs"),
        ("vocabularies.json", ["tags", "lemmas"], ["l0-0+0:", "l0-0+9:", "=be"], "is not a script"),
        ("vocabularies.json", ["tags", "lemmas"], ["l0-0+0:", "=\ud800", "=be"], "no file can hold"),
        ("vocabularies.json", ["tags", "lemmas"], ["l0-0+0:"] * 3, "a name twice"),
        ("vocabularies.json", ["tags", "lemmas"], ["=be"], "has the shape"),
        ("lemmas.json", ["dictionary"], 10**30, "expected a dictionary"),
        ("lemmas.json", ["dictionary", "NOUN"], {"dogs": "d" * 10**6}, "at most 100 characters"),
        ("lemmas.json", ["dictionary", "NOUN"], {"dogs": "a\nb"}, "a file can hold"),
        ("lemmas.json", ["code"], "x", "expected a dictionary"),
    ],
)  # fmt: skip
def test_false_sizes_and_vocabularies_are_refused(
    folder: Path, file: str, keys: list[str], value: Any, message: str
) -> None:
    change(folder / file, *keys, value=value)
    refused(folder, message)


def test_a_subword_that_the_encoder_does_not_know_is_an_error(folder: Path) -> None:
    path = folder / "tokenizer.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    table["model"]["vocab"]["dog"] = 10**6
    path.write_text(json.dumps(table), encoding="utf-8")
    parser = Parser.load(folder)
    with pytest.raises(HeadspanError, match="subword number 1000000; the encoder has 60 subwords"):
        parser.parse_words(WORDS)


def test_saving_never_replaces_a_file(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(HeadspanError, match=r"notes\.txt: is a file; expected a folder"):
        Parser.load(folder).save(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_links_out_of_the_folder_are_refused(folder: Path, tmp_path: Path) -> None:
    for name in UNCHECKED:
        kept = tmp_path / f"kept-{name}"
        (folder / name).rename(kept)
        (folder / name).symlink_to(kept)
        refused(folder, "is a link to .*, which is not in the model folder")
        if name != "README.md":
            with pytest.raises(HeadspanError, match="is a link to"):
                fingerprint(folder)
        (folder / name).unlink()
        (folder / name).symlink_to("/dev/zero")
        refused(folder, "is a link to|is not a file")
        (folder / name).unlink()
        (folder / name).symlink_to(name)
        refused(folder, "cannot be read|symlink loop")
        (folder / name).unlink()
        os.mkfifo(folder / name)
        refused(folder, "is not a file")
        (folder / name).unlink()
        (folder / name).mkdir()
        refused(folder, "is not a file")
        (folder / name).rmdir()
        inside = folder / f"real-{name}"
        kept.rename(inside)
        (folder / name).symlink_to(inside.name)
        Parser.load(folder)
    (tmp_path / "link").symlink_to(folder)
    Parser.load(tmp_path / "link")  # which folder it is, its user has said


def test_links_within_the_hubs_cache_are_followed(folder: Path, tmp_path: Path) -> None:
    snapshot = tmp_path / "models--a--b" / "snapshots" / "0123"
    blobs = tmp_path / "models--a--b" / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for name in UNCHECKED:
        shutil.copy(folder / name, blobs / f"blob-{name}")
        (snapshot / name).symlink_to(f"../../blobs/blob-{name}")
    assert Parser.load(snapshot).parse_words(WORDS) == Parser.load(folder).parse_words(WORDS)
    (blobs / "blob-config.json").unlink()
    (blobs / "blob-config.json").symlink_to(folder / "config.json")
    refused(snapshot, "is a link to")


def test_names_in_a_configuration_are_never_followed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evil.py").write_text("raise SystemExit('it ran')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def connect(*_: Any) -> None:
        raise AssertionError("it asked the network")

    monkeypatch.setattr(socket.socket, "connect", connect)
    expected = Parser.load(folder).parse_words(WORDS)
    for name in (
        "/etc/passwd",
        "../../secret",
        "python:evil/x",
        "https://127.0.0.1/x",
        "owner/name",
    ):
        change(folder / "config.json", "model", "encoder", "name", value=name)
        change(folder / "config.json", "encoder", "_name_or_path", value=name)
        change(folder / "config.json", "encoder", "auto_map", value={"AutoModel": "evil.Model"})
        assert Parser.load(folder).parse_words(WORDS) == expected


TINY = {
    "vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
    "intermediate_size": 16, "max_position_embeddings": 66, "pad_token_id": 0,
}  # fmt: skip


@pytest.mark.parametrize("kind", ["roberta", "electra", "distilbert", "albert"])
def test_encoders_of_transformers_are_saved_and_loaded(
    folder: Path, tmp_path: Path, kind: str
) -> None:
    golden = Parser.load(folder)
    shape = {**TINY, "dim": 16, "n_layers": 1, "n_heads": 2, "embedding_size": 16}
    encoder = empty_encoder({"model_type": kind, **shape})
    made = Parser(
        Network(golden.config.model, golden.vocabularies.sizes(), encoder), golden.config,
        golden.vocabularies, golden.tokenizer, encoder_table(encoder),
    )  # fmt: skip
    made.save(tmp_path / "made")
    loaded = Parser.load(tmp_path / "made")
    assert loaded.parse_words(WORDS) == made.parse_words(WORDS)
    assert loaded.parse_words(WORDS * 30) == made.parse_words(WORDS * 30)  # in several windows
    (tmp_path / "made" / "checksums.json").unlink()
    change(tmp_path / "made" / "config.json", "tokenizer", "window", value=10**6)
    refused(tmp_path / "made", "at a time")


@pytest.mark.parametrize(
    "key", ["attn_implementation", "_attn_implementation", "_attn_implementation_internal"]
)
def test_an_encoder_fetches_no_kernel(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers.integrations import hub_kernels

    def fetch(*_: Any, **__: Any) -> None:
        raise AssertionError("a kernel was asked for")

    for name in ("load_and_register_attn_kernel", "get_kernel"):
        monkeypatch.setattr(hub_kernels, name, fetch)
    encoder = empty_encoder({"model_type": "roberta", **TINY, key: "evil/kernel"})
    assert "evil" not in str(encoder.config)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model_type": "roberta", "num_hidden_layers": 10**9}, "num_hidden_layers is"),
        ({"model_type": "roberta", "vocab_size": 10**12}, "vocab_size is"),
        ({"model_type": "roberta", "hidden_size": "x"}, "cannot be used"),
        ({"model_type": "roberta", "num_attention_heads": 0}, "cannot be used"),
        ({"model_type": "evil"}, "cannot be used"),
        ({"model_type": ["x"]}, "cannot be used"),
        ({"model_type": "detr", "backbone": "evil/x", "use_pretrained_backbone": True}, "text alone|cannot be used"),
        ({"model_type": "vit"}, "expected one that encodes text alone"),
    ],
)  # fmt: skip
def test_encoders_that_cannot_be_used_are_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(HeadspanError, match=message), torch.device("meta"):
        empty_encoder(config)


@pytest.mark.linux
def test_claiming_a_huge_encoder_takes_no_memory(folder: Path) -> None:
    """A folder of some kilobytes that claims an encoder of terabytes, of a kind not our own."""
    change(folder / "config.json", "encoder", value={"model_type": "roberta", **TINY,
           "hidden_size": 1 << 20, "intermediate_size": 1 << 20, "num_attention_heads": 1})  # fmt: skip
    script = (
        "import resource, sys\n"
        "from headspan.model.parser import Parser\n"
        "from headspan.plumbing.errors import HeadspanError\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    Parser.load(sys.argv[1])\nexcept HeadspanError as error:\n    print(error)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, folder], capture_output=True, text=True, timeout=300
    )
    *_, message, grown = done.stdout.splitlines()
    assert "the tensor" in message, done.stderr
    assert int(grown) < 1 << 20  # kilobytes; most of it is transformers itself


@pytest.mark.linux
def test_claiming_huge_scores_takes_no_memory(folder: Path) -> None:
    change(folder / "config.json", "model", "score_size", value=10**6)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused(folder, "has the shape")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_a_saved_model_parses_the_same(folder: Path, tmp_path: Path) -> None:
    parser = Parser.load(folder)
    parser.save(tmp_path / "again")
    assert Parser.load(tmp_path / "again").parse_words(WORDS) == parser.parse_words(WORDS)
    assert (
        json.loads((tmp_path / "again" / "config.json").read_text(encoding="utf-8"))["format"]
        == FORMAT
    )


def test_a_folder_of_other_things_does_not_hide_an_embedded_model(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "en").mkdir()
    assert find_model("en") == EMBEDDED / "en"
    assert find_model("./en") == Path("en")  # a path is a path
    shutil.copytree(whole, tmp_path / "en", dirs_exist_ok=True)
    assert find_model("en") == Path("en")
