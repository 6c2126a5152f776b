"""Settings of all tests, and the real treebanks that some need.

Treebanks are looked for beside the checkout, or in the folder that HEADSPAN_SHARED names.
"""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine must not make a test fail, and the same code must give the same outcome.
# HEADSPAN_HYPOTHESIS=search tries new random inputs; so does fuzz/.
settings.register_profile(
    "same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", settings.get_profile("same"), derandomize=False)
settings.load_profile(os.environ.get("HEADSPAN_HYPOTHESIS", "same"))
# Outputs in the documentation are the same on processors that are fast at int8 and on others.
os.environ["HEADSPAN_INT8"] = "0"
# A shell's background job ignores Ctrl-C, and every process that tests start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("HEADSPAN_SHARED", ROOT.parent / "shared"))

# Paths below tests/ that are not collected elsewhere; docs/release.md has the reasons. A single
# test that needs Linux is marked `linux`.
LINUX_ONLY = ["faults"]  # resource limits, and folders that change places in one system call
POSIX_ONLY = [
    "corpus", "experiments", "test_extras.py",  # file locks
    "annotate", "serve/test_annotating.py", "serve/test_annotating_page.py",  # file locks, too
    "training", "test_memory.py",  # signals
    "serve/test_server.py", "test_cli.py", "test_readme.py",  # signals, terminals, bash
    "test_files.py", "test_model_folders.py", "integrations",  # pipes, links, permissions
    "test_benchmarks.py", "test_release.py",  # the module `resource`, umasks
]  # fmt: skip
collect_ignore = LINUX_ONLY * (sys.platform != "linux") + POSIX_ONLY * (sys.platform == "win32")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "linux: reads /proc, /dev/full or memory in kilobytes")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if sys.platform != "linux" and item.get_closest_marker("linux"):
        pytest.skip("needs Linux")


def shared(path: str) -> Path:
    """Return a file of real data; skip the test if it is missing."""
    file = SHARED / path
    if not file.exists():
        pytest.skip(f"needs real data: {path} is not in {os.path.relpath(SHARED, ROOT)}")
    return file


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


class _Missing:
    """An importer that raises for every module of a library, as if it were not installed."""

    def __init__(self, library: str) -> None:
        self.library = library

    def find_spec(self, name: str, path: Sequence[str] | None, target: object = None) -> None:
        if name.partition(".")[0] == self.library:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.fixture
def uninstall(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that hides an installed library until the test ends."""

    def without(library: str) -> None:
        for name in list(sys.modules):
            if name.partition(".")[0] == library:
                monkeypatch.delitem(sys.modules, name)
        monkeypatch.setattr(sys, "meta_path", [_Missing(library), *sys.meta_path])

    return without


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="write the golden files again")
