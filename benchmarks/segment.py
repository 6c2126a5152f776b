"""Training time, accuracy and speed of a segmenter on the raw text of treebanks.

    python benchmarks/segment.py [FOLDER …] [--save FILE] [--load FILE] [--part PART]

Each FOLDER has a treebank's `*-train.conllu` and `*-dev.conllu`, by default UD English EWT 2.16 in
../shared. One segmenter is trained on all of them together, then scored on each: on its raw text,
with lines wrapped at 72 characters, with all paragraphs joined into one, and with one sentence per
line. Times are processor time on one thread.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

import torch
from safetensors.numpy import save

from headspan import conllu, scoring
from headspan.conllu import Sentence
from headspan.text import Segmenter, SegmenterEpoch, raw_text, train_segmenter
from headspan.training.checkpoint import load_segmenter, save_segmenter
from reporting import SHARED, arguments, needed, table, write_json

DEFAULT = SHARED / "treebanks/ud-2.16/en_ewt"
METRICS = ("tokens", "words", "sentences")


def main() -> None:
    parser = arguments(__doc__, repeats=5)
    parser.add_argument("folders", nargs="*", type=Path, default=[DEFAULT], metavar="FOLDER")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the segmenter here")
    parser.add_argument("--load", type=Path, metavar="FILE", help="score this one, do not train")
    parser.add_argument("--part", default="dev", help="the part to score, by default dev")
    options = parser.parse_args()
    torch.set_num_threads(1)
    start = time.process_time()
    segmenter = load_segmenter(options.load) if options.load else trained(options.folders)
    seconds = time.process_time() - start
    if options.save:
        save_segmenter(options.save, segmenter)
    rows = [row for folder in options.folders for row in scored(segmenter, folder, options.part)]
    title = f"The {options.part} part, F1"
    table(title, ["treebank", "text", *METRICS], rows)
    speed = {
        "training, s": 0 if options.load else round(seconds),
        "words per second": words_per_second(segmenter, options.folders[0], options.repeats),
        "weights, KB": round(len(save(segmenter.state()[0])) / 1000),
    }
    table("Time and size", list(speed), [list(speed.values())])
    write_json(options.json, {"title": title, "rows": rows, **speed})


def part(folder: Path, name: str) -> list[Sentence]:
    return list(conllu.read(next(needed(folder).glob(f"*-{name}.conllu"))))


def trained(folders: Sequence[Path]) -> Segmenter:
    start = time.process_time()

    def watch(p: SegmenterEpoch) -> None:
        print(
            f"epoch {p.epoch}: {time.process_time() - start:.0f} s, loss {p.loss:.4f}, tokens "
            f"{p.tokens:.2f}, words {p.words:.2f}, sentences {p.sentences:.2f}",
            flush=True,
        )

    train, dev = (
        [sentence for folder in folders for sentence in part(folder, name)]
        for name in ("train", "dev")
    )
    return train_segmenter(train, dev, watch=watch)


def scored(segmenter: Segmenter, folder: Path, name: str) -> Iterator[list[str]]:
    """The rows of the table for one treebank."""
    gold = part(folder, name)
    text = raw_text(gold)
    paragraphs = text.split("\n\n")
    wrapped = "\n\n".join(
        textwrap.fill(paragraph, 72, break_long_words=False, break_on_hyphens=False)
        for paragraph in paragraphs
    )
    found = {
        "raw": segmenter.segment(text),
        "wrapped at 72": segmenter.segment(wrapped),
        "joined": segmenter.segment(" ".join(paragraphs)),
        "a sentence per line": segmenter.segment("\n".join(sentence.text for sentence in gold)),
        "segment_lines": segmenter.segment_lines(sentence.text for sentence in gold),
    }
    for layout, sentences in found.items():
        result = scoring.score(with_trees(gold), with_trees(sentences))
        yield [folder.name, layout, *(f"{result[metric].f1:.2f}" for metric in METRICS)]


def with_trees(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """The sentences with trees, which scoring requires but these scores ignore."""
    for sentence in sentences:
        yield sentence.with_parse(range(len(sentence)), ["_"] * len(sentence))


def words_per_second(segmenter: Segmenter, folder: Path, repeats: int) -> int:
    text, seconds = raw_text(part(folder, "dev")), []
    for _ in range(repeats):
        start = time.process_time()
        words = sum(map(len, segmenter.segment(text)))
        seconds.append(time.process_time() - start)
    return round(words / median(seconds))


if __name__ == "__main__":
    main()
