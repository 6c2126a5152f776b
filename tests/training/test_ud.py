"""Models from folders of Universal Dependencies: found, learned, scored, packaged, installed."""

import json
import random
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from conftest import ROOT
from headspan import HeadspanError, Parser, conllu, load
from headspan.cli.commands import app
from headspan.conllu import MultiwordToken, Sentence
from headspan.model.folder import Figures, find_model, installed_models
from headspan.model.model_package import ModelPackage
from headspan.training.defaults import default_settings
from headspan.training.treebank import read_treebank
from headspan.training.ud_folders import UdTreebank, find_treebanks, spdx, with_dev

from .test_train_cli import headspan

NOUNS, VERBS = ["chat", "chien", "livre", "jardin"], ["voit", "aime", "cherche"]
TINY = [f"--model.{size}_size=8" for size in ("lstm", "score", "label")]
TINY += ["--model.tagger.size=8", "--training.epochs=2"]


def french(draw: random.Random, *, xpos: bool) -> Sentence:
    """Le NOUN VERB le NOUN du NOUN .: with `du` as a multiword token and no space at the end."""
    words = ["Le", draw.choice(NOUNS), draw.choice(VERBS), "le", draw.choice(NOUNS), "de", "le",
             draw.choice(NOUNS), "."]  # fmt: skip
    tags = ["DET", "NOUN", "VERB", "DET", "NOUN", "ADP", "DET", "NOUN", "PUNCT"]
    gender = [f"Gender=Masc|UPos={tag}" if tag in ("DET", "NOUN") else "_" for tag in tags]
    bare = Sentence.from_words(
        words, upos=tags, lemmas=[w.lower() for w in words], feats=gender,
        xpos=tags if xpos else None, heads=[2, 3, 0, 5, 3, 8, 8, 5, 3],
        deprels=["det", "nsubj", "root", "det", "obj", "case", "det", "nmod", "punct"],
    )  # fmt: skip
    return Sentence(
        bare.forms, bare.lemmas, bare.upos, bare.xpos, bare.feats, bare.heads, bare.deprels,
        bare.deps, ["_"] * 7 + ["SpaceAfter=No", "_"], bare.comments, [MultiwordToken(6, 7, ("du", *"________"))],
    )  # fmt: skip


def write(folder: Path, name: str, sizes: dict[str, int], *, xpos: bool, licence: str) -> Path:
    draw = random.Random(name)
    folder.mkdir(parents=True)
    for part, size in sizes.items():
        path = folder / f"{name}-ud-{part}.conllu"
        conllu.write([french(draw, xpos=xpos) for _ in range(size)], path)
    (folder / "README.md").write_text(f"# Summary\n\nLicense: {licence}\n")
    (folder / "stats.xml").write_text("<treebank/>")
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """One treebank with a dev part and XPOS, and one without them."""
    root = tmp_path_factory.mktemp("ud")
    parts = {"train-a": 15, "train-b": 15, "dev": 8, "test": 8}
    one = write(root / "UD_French-One", "fr_one", parts, xpos=True, licence="CC BY-SA 4.0")
    parts = {"train": 20, "test": 5}
    other = write(root / "UD_French-Other", "fr_other", parts, xpos=False, licence="LGPL-LR")
    return [one, other]


def test_the_parts_of_treebanks_are_found_by_name(folders: list[Path]) -> None:
    one, other = find_treebanks(folders)
    assert [Path(path).name for path in one.train] == [
        "fr_one-ud-train-a.conllu", "fr_one-ud-train-b.conllu",
    ]  # fmt: skip
    assert (len(one.dev), len(one.test), len(other.dev)) == (1, 1, 0)
    assert (one.name, one.language, one.licence) == ("fr_one", "fr", "CC BY-SA 4.0")
    assert spdx([one, other]) == "CC-BY-SA-4.0 AND LGPLLR"


def test_folders_that_cannot_be_learned_from_are_named(folders: list[Path], tmp_path: Path) -> None:
    with pytest.raises(HeadspanError, match=r"has no treebank of Universal Dependencies; expected"):
        find_treebanks([tmp_path])
    with pytest.raises(HeadspanError, match="nowhere: cannot be read: no such file"):
        find_treebanks([tmp_path / "nowhere"])
    with pytest.raises(HeadspanError, match="the treebank fr_one occurs twice"):
        find_treebanks([folders[0], folders[0]])
    it = write(tmp_path / "it", "it_two", {"test": 1}, xpos=True, licence="")
    with pytest.raises(HeadspanError, match="several languages: fr, it; expected one"):
        find_treebanks([*folders, it])
    with pytest.raises(HeadspanError, match="no training part; expected a file such as it_two-ud"):
        find_treebanks([it])


def test_without_a_dev_part_a_tenth_is_held_out(folders: list[Path], tmp_path: Path) -> None:
    assert with_dev(find_treebanks(folders), tmp_path) == find_treebanks(folders)
    (other,) = with_dev(find_treebanks(folders[1:]), tmp_path / "out")
    train, dev = (read_treebank(files, "x") for files in (other.train, other.dev))
    assert (len(train), len(dev)) == (18, 2)
    both = read_treebank(find_treebanks(folders[1:])[0].train, "train")
    assert dev == [both[9], both[19]]
    few = write(tmp_path / "few", "fr_few", {"train": 9}, xpos=True, licence="")
    with pytest.raises(HeadspanError, match="has 9 sentences, too few to hold some out"):
        with_dev(find_treebanks([few]), tmp_path / "out")


def test_a_file_whose_forms_are_numbers_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "tr_x-ud-train.conllu"
    path.write_text(
        "".join(f"{k}" + f"\t{k}" * 5 + f"\t{k - 1}" + f"\t{k}" * 3 + "\n" for k in (1, 2)) + "\n"
    )
    with pytest.raises(HeadspanError, match=r"tr_x-ud-train.conllu: the file is damaged: FORM is"):
        read_treebank(str(path), "train")


def test_the_defaults_follow_from_the_treebanks(
    folders: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = find_treebanks(folders)
    both = default_settings([one, other])
    assert both["model"]["tagger"]["columns"] == ["upos", "feats", "lemmas"]  # both have these
    assert default_settings([one])["model"]["tagger"]["columns"][1] == "xpos"
    assert both["data"]["segment"] is True
    assert "columns" not in both["model"]["embeddings"]  # raw text has no tags
    assert both["model"]["tagger"]["layer"] == 1  # without an encoder, words know of no others
    assert both["training"]["epochs"] == 60
    monkeypatch.setattr("headspan.training.defaults.encoder_size", lambda name: 384)
    with_encoder = default_settings([one], encoder="x")
    assert with_encoder["model"]["encoder"]["name"] == "x"
    assert with_encoder["model"]["tagger"]["layer"] == 0
    assert with_encoder["training"]["epochs"] < both["training"]["epochs"]


def test_tagsets_of_different_treebanks_are_not_mixed(folders: list[Path], tmp_path: Path) -> None:
    def treebank(name: str, tags: dict[str, str]) -> UdTreebank:
        (tmp_path / name).mkdir()
        path = tmp_path / name / f"fr_{name}-ud-train.conllu"
        (one,) = find_treebanks(folders[:1])
        sentences = read_treebank(one.train, "train")
        changed = [s.with_tags(xpos=[tags.get(tag, tag) for tag in s.xpos]) for s in sentences]
        conllu.write(changed, path)
        (found,) = find_treebanks([path.parent])
        return found

    same = treebank("same", {})
    similar = treebank("similar", {"PUNCT": "."})
    other = treebank("other", {"DET": "d", "NOUN": "n", "VERB": "v", "ADP": "p"})
    for treebanks, expected in (
        ([same, similar], ["upos", "xpos", "feats", "lemmas"]),
        ([same, similar, other], ["upos", "feats", "lemmas"]),
    ):
        assert default_settings(treebanks)["model"]["tagger"]["columns"] == expected


@pytest.fixture(scope="module")
def made(folders: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run on both treebanks."""
    out = tmp_path_factory.mktemp("made") / "run"
    done = headspan("train", "--ud", *folders, "-o", out, "--name", "fr-tiny", *TINY)
    assert "training: 50 sentences" in done.stderr
    assert "segmenter: trained first" in done.stderr
    assert "fr_other, test: LAS" in done.stdout
    assert "all, test: LAS" in done.stdout
    return out


def test_a_model_of_a_language_reads_text(made: Path) -> None:
    parser = Parser.load(made / "package" / "src" / "headspan_fr_tiny" / "model")
    (sentence,) = parser("Le chat voit le jardin du chien.")
    assert sentence.forms == ("Le", "chat", "voit", "le", "jardin", "de", "le", "chien", ".")
    assert set(parser.vocabularies.tags) == {"upos", "feats", "lemmas"}
    assert parser.language == "fr"


def test_the_card_has_the_scores_of_every_treebank(made: Path) -> None:
    card = (made / "package" / "README.md").read_text(encoding="utf-8")
    assert card == (made / "model" / "README.md").read_text(encoding="utf-8")
    figures = Figures.of(card)
    assert figures.language == "fr"
    assert figures.words_per_second
    rows = {line.split(" | ")[0].strip("| "): line for line in card.splitlines() if "|" in line}
    assert {"fr_one", "fr_other", "all"} <= rows.keys()
    assert card.count("\n| fr_one |") == 2  # from words and from raw text
    assert "UD fr_other (LGPL-LR)" in card


def test_a_package_is_installed_found_and_listed(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import build
    finally:
        sys.path.pop(0)
    (wheel,) = build.build(made / "package", tmp_path / "dist", "wheel", time="1700000000")
    assert wheel.name.startswith("headspan_fr_tiny-")
    assert build.wheel_problems(wheel, made / "package") == []
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert find_model("fr-tiny") == tmp_path / "site" / "headspan_fr_tiny" / "model"
    assert installed_models()["fr-tiny"].package.startswith("headspan-fr-tiny 0.")
    assert "headspan_fr_tiny" not in sys.modules  # nothing of the package was run
    assert len(load("fr-tiny")("Le chat voit.")[0]) == 4
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'site'}:{Path(conllu.__file__).parents[2]}")
    listed = json.loads(headspan("info", "--json").stdout)["models"]
    assert [m["model"] for m in listed] == ["en", "en-fast", "fr-tiny"]
    assert listed[-1]["language"] == "fr"


def test_a_missing_model_is_named_with_the_command_that_installs_it() -> None:
    with pytest.raises(HeadspanError, match=r"^tr: .* `pip install ./models/tr` .*: en, en-fast$"):
        load("tr")
    with pytest.raises(HeadspanError, match=r"^xx: there is no such model folder; models here: en"):
        load("xx")


def test_a_finished_run_is_packaged_again(made: Path, folders: list[Path], tmp_path: Path) -> None:
    package = tmp_path / "models" / "fr-tiny"
    again = ["train", "--ud", *folders, "-o", made, "--name", "fr-tiny", *TINY, "--resume"]
    headspan(*again, "--package", package, "--licence", "CC-BY-4.0")
    assert 'license = "CC-BY-4.0"' in (package / "pyproject.toml").read_text(encoding="utf-8")
    one, other = (
        next(folder.glob("src/*/model/model.safetensors")).read_bytes()
        for folder in (made / "package", package)
    )
    assert one == other


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "found no CONFIG.toml and no --ud; expected one of them"),
        (["FOLDER"], "is a folder; --ud FOLDER trains on one"),
        (["--ud", "FOLDER", "--name", "Fr"], "the name of the model is 'Fr'; expected lower-case"),
        (["--ud", "FOLDER", "--licence", "CC BY"], "the licence is 'CC BY'; expected an SPDX"),
        (["configs/lstm.toml", "--name", "x"], "--name, --licence and --package are for --ud"),
        (["--ud", "FOLDER", "other.conllu"], "other.conllu: cannot be read"),
    ],
)
def test_wrong_arguments_are_one_line(
    arguments: list[str], message: str, folders: list[Path], tmp_path: Path
) -> None:
    arguments = [str(folders[0]) if a == "FOLDER" else a for a in arguments]
    with pytest.raises(HeadspanError, match=re.escape(message)) as raised:
        app(["train", *arguments, "-o", str(tmp_path / "out")], standalone_mode=False)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "out").exists()


def test_other_files_are_not_replaced_by_a_package(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with (
        pytest.raises(HeadspanError, match="contains other files; expected a new folder"),
        ModelPackage("fr").written(tmp_path),
    ):
        raise AssertionError
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_tool_makes_a_package_of_a_model_folder(made: Path, tmp_path: Path) -> None:
    tool = [sys.executable, ROOT / "tools" / "model_package.py"]
    subprocess.run([*tool, made / "model", tmp_path / "fr", "--licence", "CC0-1.0"], check=True)
    assert (tmp_path / "fr" / "src" / "headspan_fr" / "model" / "config.json").exists()
    assert "A model of French for" in (tmp_path / "fr" / "pyproject.toml").read_text()
