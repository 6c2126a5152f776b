"""Memory of one process that parses millions of words.

    python benchmarks/long_run.py [--model MODEL] [--words N] [--json FILE] [--plot FILE]

The text of a treebank is parsed again and again as by `headspan parse`: segmented if the model can,
parsed lazily, and written as CoNLL-U to the null device. The resident memory of the process is
sampled every `--every` words. The first tenth is warm-up; the result is the slope of a line through
the rest. Ctrl-C ends the run early, with the results so far. Linux only.
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
from reporting import SHARED, arguments, needed, pyplot, save_figure, table, write_json

TREEBANK = SHARED / "treebanks/ud-2.16/en_ewt/en_ewt-ud-train.conllu"
WARM_UP = 0.1  # share of the words
MB = 1e6


@dataclass(frozen=True)
class Sample:
    """The memory of the process after a number of words."""

    words: int
    seconds: float
    bytes: int


def resident() -> int:
    """The resident memory of this process, in bytes."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def text_of(sentences: list[Sentence], parser: Parser) -> str:
    """Raw text for a model with a segmenter, else one sentence per line."""
    if parser.segmenter is not None:
        return raw_text(sentences) + "\n\n"
    return "".join(" ".join(sentence.forms) + "\n" for sentence in sentences)


def run(parser: Parser, text: str, words: int, every: int) -> Iterator[Sample]:
    """Parse so many words, and yield a sample every so many."""
    done = sampled = 0
    started = time.perf_counter()
    yield Sample(0, 0.0, resident())
    with Path(os.devnull).open("wb") as nowhere:
        for parse in parser.parse_stream(parser.sentences(repeat(text))):
            conllu.write([parse], nowhere)
            done += len(parse)
            if done - sampled >= every or done >= words:
                sampled = done
                yield Sample(done, time.perf_counter() - started, resident())
            if done >= words:
                return


def steady(samples: list[Sample]) -> list[Sample]:
    """The samples after the warm-up."""
    return [s for s in samples if s.words >= WARM_UP * samples[-1].words]


def figures(samples: list[Sample]) -> dict[str, float]:
    """Statistics of the samples after the warm-up, in MB, and the speed of the whole run."""
    later = steady(samples)
    memory = [s.bytes / MB for s in later]
    slope = np.polyfit([s.words / 1e6 for s in later], memory, 1)[0]
    last = samples[-1]
    return {
        "words": last.words,
        "words per second": last.words / last.seconds,
        "loaded (MB)": samples[0].bytes / MB,
        "median (MB)": median(memory),
        "lowest (MB)": min(memory),
        "highest (MB)": max(memory),
        "slope (MB per million words)": float(slope),
    }


def plot(path: Path, samples: list[Sample], results: dict[str, float]) -> None:
    """Plot memory against words."""
    figure, axes = pyplot().subplots(figsize=(7, 3.4))
    axes.plot([s.words / 1e6 for s in samples], [s.bytes / MB for s in samples], lw=1)
    axes.axvspan(0, WARM_UP * results["words"] / 1e6, color="#eeeeee", label="warm-up")
    slope = results["slope (MB per million words)"]
    axes.set_title(f"after warm-up {slope:+.2f} MB per million words", fontsize="medium")
    axes.set_xlabel("million words parsed")
    axes.set_ylabel("resident memory (MB)")
    axes.set_ylim(0, 1.15 * max(s.bytes for s in samples) / MB)
    axes.set_xlim(0, results["words"] / 1e6)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", loc="lower right")
    figure.tight_layout()
    save_figure(figure, path)


def main() -> None:
    parser = arguments(__doc__, repeats=1)
    parser.add_argument(
        "treebank", type=Path, nargs="?", default=TREEBANK, help="source of the text"
    )
    parser.add_argument("--model", default="en", help="the model")
    parser.add_argument("--words", type=int, default=2_000_000, help="number of words to parse")
    parser.add_argument("--every", type=int, default=10_000, help="words between two samples")
    parser.add_argument("--plot", type=Path, help="plot memory against words to this file")
    options = parser.parse_args()
    model = Parser.load(options.model)
    text = text_of([s for s in conllu.read(needed(options.treebank)) if len(s)], model)
    samples: list[Sample] = []
    try:
        for sample in run(model, text, options.words, options.every):
            samples.append(sample)
            shown = f"{sample.words:,} words, {sample.bytes / MB:,.0f} MB, {sample.seconds:,.0f} s"
            print(f"\r{shown}", end="", flush=True)
    except KeyboardInterrupt:
        print("\nstopped early")
    results = figures(samples)
    rows: list[list[Any]] = [[name, value] for name, value in results.items()]
    table(f"{options.model}, one process", ["what", "value"], rows)
    if options.plot:
        plot(options.plot, samples, results)
    write_json(options.json, {"figures": results, "samples": [vars(s) for s in samples]})


if __name__ == "__main__":
    main()
