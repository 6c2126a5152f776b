"""Make a Python package of a model folder, for pip and for tools/build.py.

    python tools/model_package.py MODEL models/NAME [--licence SPDX] [--source TEXT]…

MODEL is a model folder. It is stored in little space, with its own card. `headspan train --ud`
makes such a package by itself; this is for models that were trained in another way.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from headspan import load
from headspan.model.model_package import ModelPackage
from headspan.text.language import LANGUAGES


def main() -> None:
    """Run the command."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("model", type=Path, metavar="MODEL")
    options.add_argument("package", type=Path, metavar="models/NAME")
    options.add_argument("--licence", default="", metavar="SPDX")
    options.add_argument("--source", action="append", default=[], metavar="TEXT")
    chosen = options.parse_args()
    parser = load(chosen.model)
    language = LANGUAGES.get(parser.language or "", "")
    about = ModelPackage(
        chosen.package.name, language, chosen.licence, sources=tuple(chosen.source)
    )
    with about.written(chosen.package) as folder:
        parser.save(folder, small=True)


if __name__ == "__main__":
    main()
