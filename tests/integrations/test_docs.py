"""The code on the page about spaCy runs, with the tiny model in place of the English one."""

import re
from pathlib import Path

import pytest

from conftest import ROOT
from headspan.model import folder as model_folder

PAGE = (ROOT / "docs/integrations.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_the_code_on_the_page_runs(
    block: str,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "en").symlink_to(model)
    monkeypatch.setattr(model_folder, "EMBEDDED", tmp_path / "models")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(block, names)
    assert "flies" in capsys.readouterr().out
    if "drawing" in names:
        assert str(names["drawing"]).startswith("<svg")
