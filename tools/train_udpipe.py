"""Train UDPipe 1 with its default settings, for comparison (`pip install ufal.udpipe`).

    python tools/train_udpipe.py TRAIN DEV -o FILE
    python tools/train_udpipe.py --ud FOLDER [FOLDER …] -o FILE

From two files, only the tagger, with lemmas, and the parser are trained: peers.py gives it words.
With `--ud`, on the treebanks that `headspan train --ud` would learn from, its tokenizer is trained
as well: languages.py gives it raw text.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from headspan.training.ud_folders import find_treebanks, with_dev

METHOD = "morphodita_parsito"
"""The only kind of model that UDPipe 1 has."""


def sentences_of(paths: Iterable[str | Path]) -> Any:
    """The sentences of CoNLL-U files, as UDPipe's trainer takes them."""
    from ufal import udpipe

    found = udpipe.Sentences()
    for path in paths:
        reader = udpipe.InputFormat.newConlluInputFormat()
        reader.setText(Path(path).read_text(encoding="utf-8"))
        error = udpipe.ProcessingError()
        sentence = udpipe.Sentence()
        while reader.nextSentence(sentence, error):
            found.append(sentence)
            sentence = udpipe.Sentence()
        if error.occurred():
            raise SystemExit(f"{path}: {error.message}")
    return found


def train(train: Iterable[str | Path], dev: Iterable[str | Path], *, tokenizer: bool) -> bytes:
    """A model of UDPipe; its default settings choose nothing on dev but the tokenizer's epoch."""
    from ufal import udpipe

    error = udpipe.ProcessingError()
    default = udpipe.Trainer.DEFAULT
    kinds = default if tokenizer else udpipe.Trainer.NONE, default, default
    model = udpipe.Trainer.train(METHOD, sentences_of(train), sentences_of(dev), *kinds, error)
    if error.occurred():
        raise SystemExit(f"UDPipe: {error.message}")
    return bytes(model)


def main() -> None:
    """Run the command."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("files", nargs="*", type=Path, metavar="TRAIN DEV")
    options.add_argument("--ud", nargs="+", type=Path, metavar="FOLDER")
    options.add_argument("-o", "--output", type=Path, required=True, metavar="FILE")
    chosen = options.parse_args()
    if chosen.ud and not chosen.files:
        with tempfile.TemporaryDirectory() as held_out:
            found = with_dev(find_treebanks(chosen.ud), Path(held_out))
            parts = [[p for t in found for p in getattr(t, part)] for part in ("train", "dev")]
            model = train(*parts, tokenizer=True)
    elif len(chosen.files) == 2 and not chosen.ud:
        model = train(chosen.files[:1], chosen.files[1:], tokenizer=False)
    else:
        options.error("expected TRAIN and DEV, or --ud")
    chosen.output.write_bytes(model)


if __name__ == "__main__":
    main()
