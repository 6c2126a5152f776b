"""The lock, the licences and the wheel of a release, and the platforms it is for."""

import email
import subprocess
import sys
import zipfile
from importlib.metadata import Distribution
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from conftest import LINUX_ONLY, POSIX_ONLY, ROOT

LOCKS = sorted((ROOT / "locks").glob("*.txt"))
assert LOCKS


def tool(name: str) -> ModuleType:
    spec = spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


lock, licences, build = (tool(name) for name in ("lock", "licences", "build"))


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_a_lock_has_the_constraints_and_a_hash_for_each(path: Path) -> None:
    locked = lock.pins(path)
    assert {name: Version(v).public for name, (v, _) in locked.items()} == {
        name: version for name, (version, _) in lock.pins(lock.CONSTRAINTS).items()
    }
    assert all(digest for _, digest in locked.values())
    assert "://" not in path.read_text(encoding="utf-8")


def test_constraints_are_within_the_bounds_of_pyproject() -> None:
    tested = lock.pins(lock.CONSTRAINTS)
    for requirement in map(Requirement, lock.requirements()):
        assert tested[canonicalize_name(requirement.name)][0] in requirement.specifier


@pytest.mark.parametrize("text", ["torch>=2\n", "a==1\nA==1\n", "a==1 --hash=sha256:12\n", "\n"])
def test_a_line_that_is_not_a_pin_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "lock.txt").write_text(text)
    with pytest.raises(SystemExit, match="expected one name==version per line, once"):
        lock.pins(tmp_path / "lock.txt")


def package(folder: Path, name: str, *lines: str) -> Distribution:
    """An installed package with these lines of metadata."""
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir()
    head = ["Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0"]
    (about / "METADATA").write_text("\n".join([*head, *lines]) + "\n")
    return Distribution.at(about)


def test_every_licence_here_is_allowed() -> None:
    done = subprocess.run(
        [sys.executable, "tools/licences.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    table = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert {"headspan", "torch", "numba", "typing-extensions"} <= table.keys()
    assert [name for name in table if "GPL" in table[name]] == ["udapi", "udtools"]
    assert all("exception" in table[name] for name in ("udapi", "udtools"))


@pytest.mark.parametrize(
    ("line", "expected", "allowed"),
    [
        ("License-Expression: MIT", "MIT", True),
        ("License-Expression: MPL-2.0 AND (Apache-2.0 OR MIT)", None, True),
        ("License-Expression: BSD-2-Clause AND Apache-2.0 WITH LLVM-exception", None, True),
        ("License-Expression: MIT OR GPL-3.0-only", None, False),
        ("License-Expression: GPL-2.0-only WITH Classpath-exception-2.0", None, False),
        ("Classifier: License :: OSI Approved :: BSD License", "BSD", True),
        ("Classifier: License :: DFSG approved\nLicense: MIT", "MIT", True),
        ("License: Apache 2.0", "Apache-2.0", True),
        ("License: Ask us", "Ask us", False),
        ("Summary: says nothing about it", "none named", False),
    ],
)
def test_a_licence_is_read_and_judged(
    line: str, expected: str | None, allowed: bool, tmp_path: Path
) -> None:
    expression = licences.licence(package(tmp_path, "made_up", line))
    assert expression == (expected or line.partition(": ")[2])
    assert licences.is_allowed(expression) is allowed


def test_requirements_are_followed_through_extras_and_a_licence_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plain, with_extra = 'Requires-Dist: made-up-one; extra == "x"', "License-Expression: MIT"
    package(tmp_path, "made_up", "Provides-Extra: x", plain, with_extra)
    package(tmp_path, "made_up_one", "License: Ask us", "Requires-Dist: made-up-two[y]>1")
    package(tmp_path, "beside", "License: Nobody asked")
    monkeypatch.syspath_prepend(str(tmp_path))
    packages, missing = licences.needed("made-up")
    assert ([p.name for p in packages], missing) == (["made_up", "made_up_one"], {"made-up-two"})
    monkeypatch.setattr(licences, "needed", lambda: (packages, missing))
    with pytest.raises(SystemExit, match=r"^made-up-one: licence is 'Ask us'; expected"):
        licences.main()
    assert "not installed here: made-up-two" in capsys.readouterr().out


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (built,) = build.build(ROOT, tmp_path_factory.mktemp("dist"), "wheel", time="1700000000")
    return Path(built)


def test_the_wheel_has_the_package_and_nothing_else(wheel: Path) -> None:
    assert build.wheel_problems(wheel, ROOT) == []
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {"headspan/py.typed", "headspan/serve/page/index.html"} <= set(names)


def test_a_wheel_that_lacks_or_adds_something_is_noticed(wheel: Path, tmp_path: Path) -> None:
    changed = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            if name != "headspan/py.typed":
                new.writestr(name, old.read(name))
        new.writestr("tests/test_tree.py", "")
    assert build.wheel_problems(changed, ROOT) == [
        f"{wheel.name}: lacks headspan/py.typed",
        f"{wheel.name}: has tests/test_tree.py, which does not belong",
    ]


def test_the_metadata_of_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("/METADATA"))
        about = email.message_from_bytes(archive.read(name))
    assert about["License-Expression"] == "Apache-2.0"
    assert about["Requires-Python"] == ">=3.11"
    assert about["Description-Content-Type"] == "text/markdown"
    assert about.get_payload().startswith("# headspan\n")


def test_every_extra_has_its_smoke_test() -> None:
    assert list(tool("smoke_checks").EXTRAS) == tool("smoke").extras()


def test_paths_that_are_not_collected_everywhere_exist() -> None:
    assert [p for p in (*LINUX_ONLY, *POSIX_ONLY) if not (ROOT / "tests" / p).exists()] == []


WITHOUT_POSIX = """
import sys
sys.modules.update(dict.fromkeys(["fcntl", "grp", "pwd", "resource", "termios"]))  # not importable
import headspan.cli, headspan.conllu, headspan.inference, headspan.model.parser, headspan.scoring
import headspan.serve.app, headspan.text, headspan.training.loop, headspan.tree
sys.argv = ["headspan", "corpus", "examples/gold.conllu", "-o", sys.argv[1]]
headspan.cli.main()
"""


def test_without_posix_modules_the_package_is_imported_and_a_command_refuses(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-c", WITHOUT_POSIX, tmp_path / "out"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    message = "headspan: this command needs Linux or macOS: this Python has no module 'fcntl'\n"
    assert (done.returncode, done.stderr) == (2, message)
    assert not (tmp_path / "out").exists()
