"""The package as a whole: its version, its public names, its imports."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import headspan
from conftest import ROOT


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_version_is_the_installed_one() -> None:
    assert version("headspan") == headspan.__version__


def test_public_names_exist() -> None:
    for name in headspan.__all__:
        assert getattr(headspan, name)
        assert name in dir(headspan)
    assert (Path(headspan.__file__).parent / "py.typed").exists()


def test_importing_headspan_imports_no_large_library() -> None:
    assert (
        python(
            "import sys, headspan; print(*{'numpy', 'rich', 'typer', 'torch'} & set(sys.modules))"
        )
        == ""
    )


def test_the_command_line_and_the_ground_floor_import_no_torch() -> None:
    code = (
        "import sys; from headspan import conllu, cli, pseudoprojective, scoring, tree, treebank_stats; "
        "print('torch' in sys.modules)"
    )
    assert python(code) == "False"


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(headspan, "nothing")


WITHOUT_TORCH = """
import sys


class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "transformers"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Missing())
import headspan
from headspan.inference import Constraints

"""


def test_parsing_needs_no_torch(tmp_path: Path) -> None:
    code = """
parser = headspan.load("en-fast")
document = parser("She saw the man with the telescope. Don't panic!", confidence=True, k=2)
print([str(sentence.root) for sentence in document])
words = [token.text for token in document[0]]
print(parser.parse_words(words, constraints=Constraints(required_arcs=[(2, 7)])).heads)
parser.save(sys.argv[1])
print(headspan.load(sys.argv[1])("Time flies.")[0].deprels)
"""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH + code, str(tmp_path / "saved")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == [
        "['saw', 'panic']", "(2, 0, 4, 2, 7, 7, 2, 2)", "('nsubj', 'root', 'punct')",
    ]  # fmt: skip


def test_without_torch_training_says_what_to_install(tmp_path: Path) -> None:
    for arguments, message in (
        (["train", "configs/lstm.toml", "-o", str(tmp_path / "run")],
         "headspan: training needs torch, which is not installed: pip install 'headspan[train]'\n"),
        (["parse", "Hello.", "--text", "--model", "tests/golden/models/v1"],
         "headspan: tests/golden/models/v1: the structure 'span' needs torch, which is not installed: "
         "pip install 'headspan[torch]'\n"),
    ):  # fmt: skip
        code = f"sys.argv = ['headspan', *{arguments!r}]\nfrom headspan.cli import main\nmain()"
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT_TORCH + code],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (2, message)


def test_export_writes_what_another_program_can_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numpy as np
    import onnx
    import onnxruntime

    from headspan.model.exporting import export
    from headspan.plumbing.errors import HeadspanError

    monkeypatch.setattr("headspan.runtime.int8.is_available", lambda: False)  # nothing is computed
    export("en-fast", tmp_path / "onnx", int8=True)
    written = {path.name for path in (tmp_path / "onnx").iterdir()}
    assert {"network.onnx", "relations.onnx", "segmenter.onnx", "vocabularies.json"} <= written
    for name in ("network", "relations", "segmenter"):
        onnx.checker.check_model(tmp_path / "onnx" / f"{name}.onnx", full_check=True)
        assert f"## {name}.onnx" in (tmp_path / "onnx" / "README.md").read_text(encoding="utf-8")
    relations = onnxruntime.InferenceSession(tmp_path / "onnx" / "relations.onnx")
    _, size = relations.get_inputs()[0].shape
    parents, children = np.ones((2, size), np.float32), np.ones((2, 3, size), np.float32)
    (scores,) = relations.run(None, {"parents": parents, "children": children})
    assert scores.shape[:2] == (2, 3)
    weight = headspan.load("en-fast").network.tensors()["labels.weight"]
    assert np.allclose(scores[0, 0], weight.sum((1, 2)), rtol=1e-3, atol=1e-2)
    with pytest.raises(HeadspanError, match="exists already"):
        export("en-fast", tmp_path / "onnx", int8=True)
    with pytest.raises(HeadspanError, match=r"the structure 'span' needs torch"):
        export(ROOT / "tests/golden/models/v1", tmp_path / "other", int8=False)
    assert not (tmp_path / "other").exists()
