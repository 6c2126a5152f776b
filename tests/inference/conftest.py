"""The tests of this folder are about the compiled loops, so these are used from the first tree on."""

import pytest

from headspan.inference import few_trees


@pytest.fixture(autouse=True)
def compiled_loops_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few_trees, "_BUDGET", 0.0)
