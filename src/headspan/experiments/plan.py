"""Plans: the trainings of an experiment, from a small TOML file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_type_hints

from headspan.config import Config, from_table, read_config, read_toml
from headspan.plumbing.errors import HeadspanError
from headspan.registries import LOSSES, STRUCTURES

Corpus: TypeAlias = Literal["", "ptb", "ctb", "ud-2.2"]
PARTS = ("train", "dev", "test")
_GRID_KEYS = (
    "model.structure",
    "model.loss",
    "training.seed",
    *(f"data.{part}" for part in PARTS),
)


@dataclass(frozen=True)
class Grid:
    """All combinations of treebanks, structures, losses and seeds on one base configuration."""

    base: str = ""
    """The path of a configuration, relative to the plan."""
    treebanks: tuple[str, ...] = ()
    files: str = "{data}/{treebank}/{treebank}-ud-{part}.conllu"
    """The paths of a treebank's parts."""
    structures: tuple[str, ...] = ("span",)
    losses: tuple[str, ...] = ("max-margin",)
    seeds: tuple[int, ...] = (1,)
    corpus: Corpus = ""
    """The corpus whose figures the paper reports for the same data; empty for none."""
    set: tuple[str, ...] = ()
    """More settings, such as `training.epochs=5`."""
    variant: str = ""
    """A name for these settings, if other grids have the same structures and losses."""


@dataclass(frozen=True)
class Plan:
    """An experiment: one or more grids."""

    name: str = ""
    data: str = "data"
    """The folder that `{data}` stands for."""
    grid: tuple[Grid, ...] = ()


@dataclass(frozen=True)
class Run:
    """One training."""

    treebank: str
    structure: str
    loss: str
    seed: int
    base: str
    """The path of the configuration."""
    corpus: str
    settings: Mapping[str, str]
    """Dotted keys and their values, which replace those of the base."""
    variant: str = ""

    @property
    def kind(self) -> str:
        """The structure, and the variant if it has a name."""
        return f"{self.structure}-{self.variant}" if self.variant else self.structure

    @property
    def system(self) -> str:
        """The name that runs share if they differ only in their seeds."""
        return f"{self.treebank}-{self.kind}-{self.loss}"

    @property
    def name(self) -> str:
        """The name of the run, and of its folder."""
        return f"{self.system}-{self.seed}"

    def config(self) -> Config:
        """The complete configuration of the training."""
        return read_config(self.base, self.settings)


def read_plan(path: str | Path, *, data: str | None = None) -> Plan:
    """Read a plan from TOML. data: the folder that `{data}` stands for, instead of the plan's."""
    table = read_toml(path)
    plan = from_table(Plan, table, str(path))
    if not plan.grid:
        raise HeadspanError(f"{path}: has no [[grid]]; expected at least one")
    folder = Path(path).parent
    grids = []
    for number, grid in enumerate(plan.grid, 1):
        _check(grid, f"{path}: grid {number}")
        grids.append(replace(grid, base=str(folder / grid.base)))
    return replace(
        plan,
        name=plan.name or Path(path).stem,
        data=plan.data if data is None else data,
        grid=tuple(grids),
    )


def _check(grid: Grid, where: str) -> None:
    for key in ("base", "treebanks", "structures", "losses", "seeds"):
        if not getattr(grid, key):
            raise HeadspanError(f"{where}: {key} is missing or empty")
    for key, known in (("structures", STRUCTURES), ("losses", LOSSES)):
        for name in getattr(grid, key):
            if name not in known:
                raise HeadspanError(
                    f"{where}: {key} has {name!r}; expected one of {', '.join(known)}"
                )
    for treebank in grid.treebanks:
        if not _is_name(treebank):
            raise HeadspanError(f"{where}: {treebank!r} cannot be the name of a treebank")
    if grid.variant and not _is_name(grid.variant):
        raise HeadspanError(f"{where}: {grid.variant!r} cannot be the name of a variant")
    for structure in grid.structures:
        if grid.variant and f"{structure}-{grid.variant}" in STRUCTURES:
            raise HeadspanError(
                f"{where}: {structure} with the variant {grid.variant!r} would have the name of "
                f"another structure, {structure}-{grid.variant}; expected another variant"
            )
    try:
        grid.files.format(data="", treebank="", part="")
    except (AttributeError, KeyError, IndexError, ValueError) as error:
        raise HeadspanError(
            f"{where}: files is {grid.files!r}; it can name {{data}}, {{treebank}} and {{part}}"
        ) from error
    needed = ["{part}", *(["{treebank}"] if len(grid.treebanks) > 1 else [])]
    for name in needed:
        if name not in grid.files:
            raise HeadspanError(f"{where}: files is {grid.files!r}; expected {name} in it")
    for setting in grid.set:
        key, equals, _ = setting.partition("=")
        if not equals:
            raise HeadspanError(f"{where}: set has {setting!r}; expected KEY=VALUE")
        if key.strip() in _GRID_KEYS:
            raise HeadspanError(
                f"{where}: set has {key.strip()}; expected it in the grid's structures, losses, "
                "seeds or files"
            )


def _is_name(name: str) -> bool:
    """Return whether the name can be part of a folder's name."""
    return name.replace("_", "").replace("-", "").isalnum()


def runs_of(plan: Plan) -> list[Run]:
    """The trainings of a plan: all systems of a treebank with one seed before the next seed."""
    runs = [
        Run(treebank, structure, loss, seed, grid.base, grid.corpus,
            _settings(grid, plan.data, treebank, structure, loss, seed), grid.variant)
        for grid in plan.grid
        for treebank in grid.treebanks
        for seed in grid.seeds
        for loss in grid.losses
        for structure in grid.structures
    ]  # fmt: skip
    for name, count in Counter(run.name for run in runs).items():
        if count > 1:
            raise HeadspanError(f"{plan.name}: has the run {name} {count} times; expected once")
    systems: dict[str, dict[str, str]] = {}
    for run in runs:
        settings = {**run.settings, "base": run.base, "training.seed": ""}
        if systems.setdefault(run.system, settings) != settings:
            raise HeadspanError(
                f"{plan.name}: has {run.system} with different settings in two grids; expected the "
                "same settings, since seeds are averaged"
            )
    return runs


def _settings(
    grid: Grid, data: str, treebank: str, structure: str, loss: str, seed: int
) -> dict[str, str]:
    values = {
        f"data.{part}": grid.files.format(data=data, treebank=treebank, part=part) for part in PARTS
    }
    values |= {"model.structure": structure, "model.loss": loss, "training.seed": str(seed)}
    for setting in grid.set:
        key, _, value = setting.partition("=")
        values[key.strip()] = value.strip()
    return values


def plan_table(runs: list[Run]) -> list[dict[str, Any]]:
    """The runs as a table for JSON, which `runs_from_table` reads."""
    return [{**vars(run), "settings": dict(run.settings)} for run in runs]


def runs_from_table(table: Any, where: str) -> list[Run]:
    """Read the runs that `plan_table` wrote."""
    try:
        runs = [Run(**row) for row in table]
    except TypeError:
        runs = []
    if not all(map(_sound, runs)) or len({run.name for run in runs}) < max(1, len(runs)):
        raise HeadspanError(f"{where}: is not the plan of an experiment")
    return runs


def _sound(run: Run) -> bool:
    """Return whether a run read from a file has the fields that a plan gives it."""
    hints = get_type_hints(Run) | {"settings": dict}
    return (
        all(isinstance(getattr(run, key), kind) for key, kind in hints.items())
        and all(isinstance(value, str) for value in run.settings.values())
        and {f"data.{part}" for part in PARTS} <= run.settings.keys()
        and _is_name(run.treebank)
        and (not run.variant or _is_name(run.variant))
        and run.structure in STRUCTURES
        and run.loss in LOSSES
    )
