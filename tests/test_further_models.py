"""The packages of the models besides English, in models/."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import headspan
from conftest import ROOT
from headspan.model.folder import FURTHER, Figures
from headspan.model.model_package import LICENCE, PROJECT
from headspan.training.language_model import LARGEST

TEXTS = {
    "fr": "Elle a vu l'homme du village. Il dort.",
    "nl": "De hond zag een kat. Zij slaapt niet.",
    "pt": "Ela viu o homem do rio. Eles comeram o pão.",
    "tr": "Adam kitabı okudu. Çocuk uyuyor.",
}
PACKAGES = sorted(path.parent for path in (ROOT / "models").glob(f"*/{PROJECT}"))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_a_model_beside_the_main_package_reads_text(package: Path) -> None:
    name = package.name
    assert name in FURTHER
    (model,) = package.glob("src/*/model")
    parser = headspan.load(model)
    document = parser(TEXTS[name], confidence=True)
    assert [sentence.root.upos for sentence in document] == ["VERB", "VERB"]
    for token in document.tokens:
        assert token.lemma != "_"
        assert 0 < token.confidence <= 1
    assert sum(file.stat().st_size for file in model.iterdir()) <= LARGEST
    figures = Figures.of((model / "README.md").read_text(encoding="utf-8"))
    assert figures.language == name
    assert figures.las is not None
    assert figures.raw_las is not None
    assert figures.las > figures.raw_las > 45
    project = tomllib.loads((package / PROJECT).read_text(encoding="utf-8"))["project"]
    table = tomllib.loads((ROOT / "models" / "models.toml").read_text(encoding="utf-8"))
    assert project["name"] == f"headspan-{name}"
    assert project["license"] == table[name]["licence"]
    assert (package / LICENCE).read_text(encoding="utf-8").strip()


@pytest.mark.parametrize("package", PACKAGES[:1], ids=lambda path: path.name)
def test_a_package_on_the_path_is_found_by_its_name(package: Path, tmp_path: Path) -> None:
    """As pip installs it: the package beside the record of its entry point."""
    name = package.name
    record = tmp_path / f"headspan_{name}-0.dist-info"
    record.mkdir()
    project = tomllib.loads((package / PROJECT).read_text(encoding="utf-8"))["project"]
    ((group, points),) = project["entry-points"].items()
    lines = "\n".join(f"{key} = {value}" for key, value in points.items())
    (record / "entry_points.txt").write_text(f"[{group}]\n{lines}\n")
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: headspan-{name}\nVersion: 0\n")
    (module,) = (package / "src").iterdir()
    (tmp_path / module.name).symlink_to(module)
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "headspan", "parse", "--model", name, "--text", TEXTS[name]],
        env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\troot\t") == 2
