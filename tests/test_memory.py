"""Free memory is given back, where that can be done; nothing is kept for ever."""

import ctypes
import sys
from pathlib import Path

import pytest

from headspan.model import parser
from headspan.plumbing import memory
from headspan.plumbing.memory import give_back
from headspan.training.loop import Trainer
from training.conftest import treebank  # noqa: F401 (a fixture)
from training.test_training import config


def test_nothing_is_returned_on_other_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    give_back()
    memory._malloc_trim.cache_clear()
    monkeypatch.setattr(sys, "platform", "win32")
    give_back()
    assert memory._malloc_trim() is None
    memory._malloc_trim.cache_clear()


def test_a_parser_returns_free_memory_now_and_then(
    treebank: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[int] = []
    monkeypatch.setattr(parser, "give_back", lambda: given.append(1))
    monkeypatch.setattr(parser, "_TIDY", 10)
    parse = Trainer(config(treebank), tmp_path).parser
    for _ in range(5):
        parse.parse_words(["x"] * 4)
    assert len(given) == 1
    parse.parse_words(["x"] * 30)
    assert len(given) == 2


class _Heap(ctypes.Structure):
    """What glibc's mallinfo2 gives."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd",
            "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


def test_parsing_does_not_use_more_and_more_memory(treebank: Path, tmp_path: Path) -> None:  # noqa: F811
    mallinfo = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if mallinfo is None:
        pytest.skip("needs a C library that says what is in use")
    mallinfo.restype = _Heap

    def used_after(rounds: int) -> int:
        for number in range(rounds):
            parse.parse_words([f"{number % 10}"] * (1 + number % 9), confidence=True)
        heap = mallinfo()
        return int(heap.uordblks + heap.hblkhd)

    parse = Trainer(config(treebank), tmp_path).parser
    before = used_after(90)  # every batch that there is
    assert used_after(270) - before < 100_000
