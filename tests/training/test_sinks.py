import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headspan.config import Config, TrainingConfig
from headspan.plumbing.errors import HeadspanError
from headspan.training.sinks import open_sinks


def config(name: Any) -> Config:
    return Config(training=TrainingConfig(log=(name,), seed=3))


def test_tensorboard_gets_figures_by_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Any] = []
    writer = SimpleNamespace(
        add_scalar=lambda *args: written.append(args), flush=lambda: written.append("flush")
    )
    module: Any = SimpleNamespace(SummaryWriter=lambda folder: written.append(folder) or writer)
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    (sink,) = open_sinks(config("tensorboard"), tmp_path)
    sink(7, {"parse": 0.5, "label": 1.0})
    assert written == [str(tmp_path), ("parse", 0.5, 7), ("label", 1.0, 7), "flush"]


def test_wandb_gets_figures_by_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[Any] = []
    run = SimpleNamespace(log=lambda figures, step: logged.append((figures, step)))
    module: Any = SimpleNamespace(init=lambda **options: logged.append(options) or run)
    monkeypatch.setitem(sys.modules, "wandb", module)
    (sink,) = open_sinks(config("wandb"), tmp_path / "run")
    sink(2, {"dev_las": 90.0})
    assert logged[0]["config"]["training"]["seed"] == 3
    assert logged[1] == ({"dev_las": 90.0}, 2)


@pytest.mark.parametrize("name", ["tensorboard", "wandb"])
def test_a_sink_that_is_not_installed_is_an_error(
    name: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("torch.utils.tensorboard", "wandb"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(HeadspanError, match=f"{name}, which is not installed: pip install {name}"):
        open_sinks(config(name), tmp_path)
    assert open_sinks(Config(), tmp_path) == []
