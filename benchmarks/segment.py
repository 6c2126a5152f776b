"""Training time, accuracy and speed of a segmenter on a treebank's raw text.

    python benchmarks/segment.py [FOLDER] [--repeats N] [--json FILE] [--save FILE]

FOLDER has a treebank's `*-train.conllu` and `*-dev.conllu`, by default UD English EWT 2.16 in
../shared. Times are processor time on one thread.
"""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

import torch
from safetensors.torch import save, save_file

from headspan import conllu
from headspan.text import SegmenterEpoch, raw_text, score_segmenter, train_segmenter
from reporting import SHARED, arguments, needed, table, write_json

DEFAULT = SHARED / "treebanks/ud-2.16/en_ewt"


def main() -> None:
    parser = arguments(__doc__, repeats=5)
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the weights here")
    options = parser.parse_args()
    torch.set_num_threads(1)
    train, dev = (
        list(conllu.read(next(needed(options.folder).glob(f"*-{part}.conllu"))))
        for part in ("train", "dev")
    )

    def watch(p: SegmenterEpoch) -> None:
        print(
            f"epoch {p.epoch}: {time.process_time() - start:.0f} s, loss {p.loss:.4f}, tokens "
            f"{p.tokens:.2f}, words {p.words:.2f}, sentences {p.sentences:.2f}",
            flush=True,
        )

    start = time.process_time()
    segmenter = train_segmenter(train, dev, watch=watch)
    trained = time.process_time() - start
    result = score_segmenter(segmenter, dev)
    text, seconds = raw_text(dev), []
    for _ in range(options.repeats):
        start = time.process_time()
        words = sum(map(len, segmenter.segment(text)))
        seconds.append(time.process_time() - start)
    tensors, _ = segmenter.state()
    row = {
        **{name: f"{result[name].f1:.2f}" for name in ("tokens", "words", "sentences")},
        "training, s": round(trained),
        "words per second": round(words / median(seconds)),
        "weights, KB": round(len(save(tensors)) / 1000),
    }
    title = f"The dev treebank of {options.folder.name}, F1 from raw text"
    table(title, list(row), [list(row.values())])
    write_json(options.json, {"title": title, "rows": [row]})
    if options.save:
        save_file(tensors, options.save)


if __name__ == "__main__":
    main()
