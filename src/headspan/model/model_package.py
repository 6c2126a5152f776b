"""A model as a Python package, which pip installs and `headspan.load` then finds by its name.

Such a package has `pyproject.toml`, the model's card as `README.md`, `LICENSE`, and under
`src/headspan_NAME` an `__init__.py` with nothing to run beside the folder `model`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from headspan import __version__
from headspan.model.folder import CARD, GROUP, IN_PACKAGE
from headspan.plumbing.errors import HeadspanError, shown
from headspan.plumbing.files import placed

PROJECT, LICENCE = "pyproject.toml", "LICENSE"
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_EXPRESSION = re.compile(r"[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*")


@dataclass(frozen=True)
class ModelPackage:
    """What a package says of its model. Raises HeadspanError if it cannot be said."""

    name: str
    """The name for `headspan.load`, such as `fr`."""
    language: str = ""
    """The name of the language, such as French."""
    licence: str = ""
    """The licence of the model as an SPDX expression; empty if it is not known."""
    sources: tuple[str, ...] = ()
    """The treebanks that the model has learned from, each with its licence if that is known."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise HeadspanError(
                f"the name of the model is {shown(self.name)}; expected lower-case letters and "
                "digits, such as fr or fr-news"
            )
        if self.licence and not _EXPRESSION.fullmatch(self.licence):
            raise HeadspanError(
                f"the licence is {shown(self.licence)}; expected an SPDX expression such as "
                "CC-BY-SA-4.0"
            )

    @property
    def distribution(self) -> str:
        """The name of the package for pip."""
        return f"headspan-{self.name}"

    @property
    def module(self) -> str:
        """The name of the package in Python."""
        return f"headspan_{self.name.replace('-', '_')}"

    @contextmanager
    def written(self, path: Path) -> Iterator[Path]:
        """The package at a path, whole or not at all, around a model folder still to be written.

        Yields the model folder's path. Its card also becomes that of the package. An older package
        is replaced, anything else is not.
        """
        self.check_place(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with placed(path) as root:
            package = root / "src" / self.module
            package.mkdir(parents=True)
            yield package / IN_PACKAGE
            card = (package / IN_PACKAGE / CARD).read_text(encoding="utf-8")
            for name, text in (
                (PROJECT, self._project()),
                (CARD, card),
                (LICENCE, self._notice()),
                (f"src/{self.module}/__init__.py", f'"""{self._title()}."""\n'),
            ):
                (root / name).write_text(text, encoding="utf-8")

    def check_place(self, path: Path) -> None:
        """Raise HeadspanError unless a package can be written there without losing anything."""
        if path.is_dir() and (not any(path.iterdir()) or _is_package(path)):
            return
        if path.exists() or path.is_symlink():
            what = "contains other files" if path.is_dir() else "is not a folder"
            raise HeadspanError(
                f"{path}: {what}; expected a new folder, or a model package to replace"
            )

    def _title(self) -> str:
        what = f"of {self.language} " if self.language else ""
        return f"A model {what}for the dependency parser headspan"

    def _project(self) -> str:
        licence = f'license = "{self.licence}"\n' if self.licence else ""
        return f"""\
[build-system]
requires = ["hatchling>=1.26"]
build-backend = "hatchling.build"

[project]
name = "{self.distribution}"
version = "{__version__}"
description = "{self._title()}."
readme = "{CARD}"
{licence}license-files = ["{LICENCE}"]
requires-python = ">=3.11"
dependencies = ["headspan>={__version__}"]

[project.entry-points."{GROUP}"]
{self.name} = "{self.module}"

[tool.hatch.build.targets.wheel]
packages = ["src/{self.module}"]
"""

    def _notice(self) -> str:
        terms = f"The model in this package is under: {self.licence}"
        if not self.licence:
            terms = "The licence of the model in this package follows from those of the treebanks"
        learned = "".join(f"- {source}\n" for source in self.sources)
        return f"{terms}.\n" + (f"\nIt has learned from\n\n{learned}" if learned else "")


def _is_package(path: Path) -> bool:
    """Whether a folder is a model package, and nothing else."""
    project = path / PROJECT
    own = {PROJECT, CARD, LICENCE, "src"}
    if {file.name for file in path.iterdir()} != own or not project.is_file():
        return False
    return GROUP in project.read_text(encoding="utf-8", errors="replace")
