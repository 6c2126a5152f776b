"""Whether memory stays flat when one process parses millions of words.

    python benchmarks/long_run.py [--model MODEL] [--words N] [--json FILE] [--plot FILE]

The text of a treebank, over and over, takes the way of `headspan parse`: segmented if the model
can, parsed lazily, written as CoNLL-U to nowhere. Every so many words the resident memory of the
process is noted. The first tenth is warm-up; what counts is the slope of a line through the rest.
Ctrl-C ends it early, with the figures so far.
"""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from headspan import conllu
from headspan.conllu import Sentence
from headspan.model.parser import Parser
from headspan.text import raw_text
from reporting import SHARED, arguments, needed, table, write_json

TREEBANK = SHARED / "treebanks/ud-2.16/en_ewt/en_ewt-ud-train.conllu"
WARM_UP = 0.1  # of the words
MB = 1e6


@dataclass(frozen=True)
class Sample:
    """How much memory the process had after so many words."""

    words: int
    seconds: float
    bytes: int


def resident() -> int:
    """Bytes of this process that are in memory now."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def text_of(sentences: list[Sentence], parser: Parser) -> str:
    """Raw text for a model that finds words itself, else a sentence a line."""
    if parser.segmenter is not None:
        return raw_text(sentences) + "\n\n"
    return "".join(" ".join(sentence.forms) + "\n" for sentence in sentences)


def run(parser: Parser, text: str, words: int, every: int) -> Iterator[Sample]:
    """Parse so many words and note the memory every so many."""
    done = noted = 0
    started = time.perf_counter()
    yield Sample(0, 0.0, resident())
    with Path(os.devnull).open("wb") as nowhere:
        for parse in parser.pipe(parser.sentences(repeat(text))):
            conllu.write([parse], nowhere)
            done += len(parse)
            if done - noted >= every or done >= words:
                noted = done
                yield Sample(done, time.perf_counter() - started, resident())
            if done >= words:
                return


def steady(samples: list[Sample]) -> list[Sample]:
    """The samples after the warm-up."""
    return [s for s in samples if s.words >= WARM_UP * samples[-1].words]


def figures(samples: list[Sample]) -> dict[str, float]:
    """What the samples after the warm-up say, in MB, and the words a second of the whole run."""
    later = steady(samples)
    memory = [s.bytes / MB for s in later]
    slope = np.polyfit([s.words / 1e6 for s in later], memory, 1)[0]
    last = samples[-1]
    return {
        "words": last.words,
        "words a second": last.words / last.seconds,
        "loaded (MB)": samples[0].bytes / MB,
        "median (MB)": median(memory),
        "lowest (MB)": min(memory),
        "highest (MB)": max(memory),
        "slope (MB a million words)": float(slope),
    }


def plot(path: Path, samples: list[Sample], found: dict[str, float]) -> None:
    """Memory against words."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "headspan"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3.4))
    axes.plot([s.words / 1e6 for s in samples], [s.bytes / MB for s in samples], lw=1)
    axes.axvspan(0, WARM_UP * found["words"] / 1e6, color="#eeeeee", label="warm-up")
    slope = found["slope (MB a million words)"]
    axes.set_title(f"after warm-up {slope:+.2f} MB a million words", fontsize="medium")
    axes.set_xlabel("million words parsed")
    axes.set_ylabel("resident memory (MB)")
    axes.set_ylim(0, 1.15 * max(s.bytes for s in samples) / MB)
    axes.set_xlim(0, found["words"] / 1e6)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", loc="lower right")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    print(f"wrote {path}")


def main() -> None:
    parser = arguments(__doc__, repeats=1)
    parser.add_argument("treebank", type=Path, nargs="?", default=TREEBANK, help="whose text")
    parser.add_argument("--model", default="en", help="the model")
    parser.add_argument("--words", type=int, default=2_000_000, help="how many to parse")
    parser.add_argument("--every", type=int, default=10_000, help="words from sample to sample")
    parser.add_argument("--plot", type=Path, help="draw memory against words here")
    given = parser.parse_args()
    model = Parser.load(given.model)
    text = text_of([s for s in conllu.read(needed(given.treebank)) if len(s)], model)
    samples: list[Sample] = []
    try:
        for sample in run(model, text, given.words, given.every):
            samples.append(sample)
            shown = f"{sample.words:,} words, {sample.bytes / MB:,.0f} MB, {sample.seconds:,.0f} s"
            print(f"\r{shown}", end="", flush=True)
    except KeyboardInterrupt:
        print("\nstopped early")
    found = figures(samples)
    rows: list[list[Any]] = [[name, value] for name, value in found.items()]
    table(f"{given.model}, one process", ["what", "value"], rows)
    if given.plot:
        plot(given.plot, samples, found)
    write_json(given.json, {"figures": found, "samples": [vars(s) for s in samples]})


if __name__ == "__main__":
    main()
