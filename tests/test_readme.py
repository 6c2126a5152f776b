"""Every code block of the README and the docs works as shown."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[object]:
    """The code blocks of a language, on all pages."""
    parameters = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            if match[1] == language:
                line = text.count("\n", 0, match.start()) + 1
                parameters.append(pytest.param(match[2], id=f"{page.name}:{line}"))
    return parameters


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks like the project, where commands may leave files behind."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("benchmarks", "configs", "examples", "docs", "Makefile", "README.md"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def shell(command: str, place: Path = ROOT) -> str:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-ec", command],
        cwd=place, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_code_blocks_are_of_a_tested_language() -> None:
    for page in PAGES:
        kinds = {match[1] for match in BLOCK.finditer(page.read_text(encoding="utf-8"))}
        assert kinds <= {"sh", "console", "python", "text"}, page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for name, part in LINK.findall(text):
        if name.startswith(("http://", "https://")):
            continue
        target = page.parent / name if name else page
        assert target.exists(), name
        if part:
            headings = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings}
            assert part in anchors, f"{name}#{part}"


@pytest.mark.parametrize("block", blocks("console"))
def test_terminal_sessions_print_what_is_shown(block: str, place: Path) -> None:
    """Lines after `$` are run and print the lines below them; `…` stands for any lines."""
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
        printed = [line.rstrip() for line in shell(command, place).rstrip("\n").split("\n")]
        parts = expected.rstrip("\n").split("\n")
        if "…" not in parts:
            assert printed == parts
            continue
        pattern = "".join(r"(?:.*\n)*" if p == "…" else re.escape(p) + r"\n" for p in parts)
        assert re.fullmatch(pattern, "\n".join(printed) + "\n"), "\n".join(printed)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_sessions_print_what_is_shown(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = page.read_text(encoding="utf-8")
    code = "\n".join(match[2] for match in BLOCK.finditer(text) if match[1] == "python")
    test = doctest.DocTestParser().get_doctest(code, {}, page.name, str(page), 0)
    assert ">>>" not in code or test.examples
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test)
    assert runner.failures == 0


@pytest.mark.parametrize("block", blocks("sh"))
def test_commands_that_are_not_run_exist(block: str) -> None:
    """Commands that cannot run inside a test, such as `make test`, at least exist."""
    for line in block.strip().split("\n"):
        command = line.partition("#")[0].split()
        if command[0] == "make":
            assert (
                subprocess.run(
                    ["make", "-n", *command[1:]], cwd=ROOT, capture_output=True, check=False
                ).returncode
                == 0
            )
        elif command[0] == "headspan":
            assert f"Usage: headspan {command[1]}" in shell(f"headspan {command[1]} --help")
        else:
            assert command[0] in ("python", "torchrun")
            assert command[0] != "python" or (ROOT / command[1]).exists()


def test_commands_of_the_readme_name_files_that_are_there() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = [line for m in BLOCK.finditer(readme) if m[1] == "sh" for line in m[2].splitlines()]
    for line in lines:
        words = shlex.split(line, comments=True)
        for before, word in pairwise(words):
            if before not in ("-o", "--model") and re.fullmatch(r"[\w/.-]*[/.]\w+/?", word):
                assert (ROOT / word).exists() or word.startswith("--"), line


def test_the_readme_names_the_extras_of_its_features() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for extra in ("parquet", "ray", "plot", "serve", "train"):
        assert re.search(rf"the extra `?{extra}\b", readme), extra


@pytest.mark.parametrize("what", ["cli", "api"])
def test_a_generated_reference_is_up_to_date(what: str) -> None:
    code = f"import make_{what} as made; print(made.page(), end='')"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "docs", capture_output=True, text=True, check=True
    )
    assert done.stdout == (ROOT / "docs" / f"{what}.md").read_text(encoding="utf-8")
