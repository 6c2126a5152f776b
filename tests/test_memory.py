"""Free memory is given back, where that can be done."""

import sys
from pathlib import Path

import pytest

from headspan import memory, parser
from headspan.memory import give_back
from headspan.training.loop import Trainer
from training.conftest import treebank  # noqa: F401 (a fixture)
from training.test_training import config


def test_where_it_cannot_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    give_back()
    memory._malloc_trim.cache_clear()
    monkeypatch.setattr(sys, "platform", "win32")
    give_back()
    assert memory._malloc_trim() is None
    memory._malloc_trim.cache_clear()


def test_a_parser_does_so_now_and_then(
    treebank: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[int] = []
    monkeypatch.setattr(parser, "give_back", lambda: given.append(1))
    monkeypatch.setattr(parser, "_TIDY", 10)
    parse = Trainer(config(treebank), tmp_path).parser
    for _ in range(5):
        parse(["x"] * 4)
    assert len(given) == 1
    parse(["x"] * 30)
    assert len(given) == 2
