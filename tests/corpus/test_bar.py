import io
from typing import Any

import pytest
from rich.console import Console

from headspan.cli import corpus
from headspan.corpus.run import CorpusProgress


def test_the_bar_moves_before_the_first_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()

    def terminal(**_: Any) -> Console:
        return Console(file=screen, force_terminal=True, width=120, color_system=None)

    monkeypatch.setattr(corpus, "Console", terminal)
    nothing = CorpusProgress(0, 0, 1.0, 0, 0, 1000)
    with corpus._bar() as watch:
        assert watch
        watch(nothing)
    assert "parsing the first shard 0:00:0" in screen.getvalue()  # with a clock
    assert "0%" not in screen.getvalue()
    with corpus._bar() as watch:
        assert watch
        watch(CorpusProgress(1, 50, 10.0, 500, 0, 1000))
    assert "50%, 50 words, 5 per second, 10 s left" in screen.getvalue()
