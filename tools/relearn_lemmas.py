"""Learn the dictionary of lemmas of an embedded English model again, after its rules have changed.

    python tools/relearn_lemmas.py NAME [NAME …]

The words are those of the treebanks in configs/NAME.toml. The network and the scripts that it
predicts stay as they are, so that nothing but lemmas changes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from headspan.config import read_config
from headspan.lemmas import Lemmatizer
from headspan.model import folder as files
from headspan.training.treebank import read_training

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Run the command."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("names", nargs="+", metavar="NAME")
    for name in options.parse_args().names:
        config = read_config(ROOT / "configs" / f"{name}.toml")
        words = [
            word
            for s in read_training(config.data.train)
            for word in zip(s.forms, s.lemmas, s.upos, strict=True)
        ]
        _, learned = Lemmatizer.learn(words)
        folder = files.EMBEDDED / name
        files.write_json(folder / files.LEMMAS, learned.to_json())
        files.write_checksums(folder)
        entries = sum(map(len, learned.dictionary.values()))
        print(f"{name}: {entries:,} entries")


if __name__ == "__main__":
    main()
