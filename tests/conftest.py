"""Where tests find real treebanks: beside the checkout, or where HEADSPAN_SHARED says."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine must not make a test fail, and the same code must give the same outcome. New random
# inputs come with HEADSPAN_HYPOTHESIS=search, and from fuzz/
settings.register_profile(
    "same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", settings.get_profile("same"), derandomize=False)
settings.load_profile(os.environ.get("HEADSPAN_HYPOTHESIS", "same"))
# a shell's background job ignores Ctrl-C, and so would all that tests start
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("HEADSPAN_SHARED", ROOT.parent / "shared"))


def shared(path: str) -> Path:
    """A file of real data; the test skips where it is not there."""
    found = SHARED / path
    if not found.exists():
        pytest.skip(f"needs real data: {path} is not in {os.path.relpath(SHARED, ROOT)}")
    return found


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


class _Missing:
    """Finds no module of a library, and lets nobody else find one."""

    def __init__(self, library: str) -> None:
        self.library = library

    def find_spec(self, name: str, path: Sequence[str] | None, target: object = None) -> None:
        if name.partition(".")[0] == self.library:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.fixture
def uninstall(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes it look as if a library were not installed, until the test ends."""

    def without(library: str) -> None:
        for name in list(sys.modules):
            if name.partition(".")[0] == library:
                monkeypatch.delitem(sys.modules, name)
        monkeypatch.setattr(sys, "meta_path", [_Missing(library), *sys.meta_path])

    return without


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="write golden files anew")
