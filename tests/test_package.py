"""The package as a whole: its version, its public names, its imports."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import headspan


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
