"""Put a trained model into the package, with a card that has its scores.

    python tools/embed_model.py RUN NAME

RUN is the folder of `headspan train`. The test treebank is scored: once per model.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from headspan import load
from headspan.model.folder import EMBEDDED

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Run the command."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("run", type=Path, metavar="RUN")
    options.add_argument("name", metavar="NAME")
    chosen = options.parse_args()
    load(chosen.run / "model").save(EMBEDDED / chosen.name, small=True)
    card = [ROOT / "benchmarks" / "model_card.py", "--model", chosen.name, "--write"]
    subprocess.run([sys.executable, *card, "--log", chosen.run / "log.jsonl"], check=True)


if __name__ == "__main__":
    main()
