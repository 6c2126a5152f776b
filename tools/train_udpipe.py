"""Train UDPipe 1 on a treebank with its default settings, for peers.py (`pip install ufal.udpipe`).

    python tools/train_udpipe.py TRAIN DEV -o FILE

Only the tagger, with lemmas, and the parser are trained: peers.py gives it words.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

METHOD = "morphodita_parsito"
"""The only kind of model that UDPipe 1 has."""


def sentences_of(path: Path) -> Any:
    """The sentences of a CoNLL-U file, as UDPipe's trainer takes them."""
    from ufal import udpipe

    reader = udpipe.InputFormat.newConlluInputFormat()
    reader.setText(path.read_text(encoding="utf-8"))
    error = udpipe.ProcessingError()
    found = udpipe.Sentences()
    sentence = udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        found.append(sentence)
        sentence = udpipe.Sentence()
    if error.occurred():
        raise SystemExit(f"{path}: {error.message}")
    return found


def main() -> None:
    """Run the command."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("train", type=Path, metavar="TRAIN")
    options.add_argument("dev", type=Path, metavar="DEV")
    options.add_argument("-o", "--output", type=Path, required=True, metavar="FILE")
    chosen = options.parse_args()
    from ufal import udpipe

    train, dev = sentences_of(chosen.train), sentences_of(chosen.dev)
    error = udpipe.ProcessingError()
    kinds = udpipe.Trainer.NONE, udpipe.Trainer.DEFAULT, udpipe.Trainer.DEFAULT
    model = udpipe.Trainer.train(METHOD, train, dev, *kinds, error)
    if error.occurred():
        raise SystemExit(f"UDPipe: {error.message}")
    chosen.output.write_bytes(model)


if __name__ == "__main__":
    main()
