"""Speed of `headspan corpus` with several processes, compared with one.

The numbers of processes take turns. The ratio compares the speed after the first shard, when every
process has loaded the model; the overall speed is shown, too. If processor time per word does not
grow with the processes, they do not slow each other down, even if the machine is busy.
"""

import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from headspan import conllu
from headspan.corpus import CorpusProgress, parse_corpus
from headspan.text import raw_text
from reporting import SHARED, arguments, needed, table, write_json

TREEBANK = SHARED / "treebanks/ud-2.16/en_ewt/en_ewt-ud-dev.conllu"


def main() -> None:
    parser = arguments(__doc__, repeats=3)
    parser.add_argument(
        "text", type=Path, nargs="?", help="a text; default: that of EWT's dev part"
    )
    parser.add_argument("--model", default="en", help="the model")
    parser.add_argument("--times", type=int, default=4, help="number of copies of the text")
    parser.add_argument("--shard-size", type=int, default=20, help="option of headspan corpus")
    parser.add_argument("--processes", default="1,2", help="numbers of processes to compare")
    options = parser.parse_args()
    counts = [int(count) for count in options.processes.split(",")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        work = folder / "text.txt"
        work.write_text((_text(options.text) + "\n\n") * options.times, encoding="utf-8")
        runs: dict[int, list[dict[str, float]]] = {count: [] for count in counts}
        for turn in range(options.repeats):
            for count in counts:
                target = folder / f"{turn}-{count}"
                runs[count].append(_run(work, target, count, options.model, options.shard_size))
    figures = {
        count: {key: median(run[key] for run in group) for key in group[0]}
        for count, group in runs.items()
    }
    one = figures[counts[0]]
    rows: list[list[Any]] = [
        [
            count,
            figure["words"] / figure["seconds"],
            figure["steady"],
            figure["steady"] / one["steady"],
            1000 * figure["cpu"] / figure["words"],
        ]
        for count, figure in figures.items()
    ]
    header = ["processes", "words/s", "after loading", "ratio", "CPU s / 1,000 words"]
    table(f"{options.repeats} turns, {os.cpu_count()} cores", header, rows)
    write_json(options.json, {"rows": [dict(zip(header, row, strict=True)) for row in rows]})


def _text(path: Path | None) -> str:
    if path is not None:
        return needed(path).read_text(encoding="utf-8")
    return raw_text(list(conllu.read(needed(TREEBANK))))


def _run(text: Path, folder: Path, processes: int, model: str, size: int) -> dict[str, float]:
    seen: list[tuple[float, CorpusProgress]] = []
    before, started = _cpu(), time.perf_counter()
    summary = parse_corpus(
        [text], folder, model=model, processes=processes, shard_size=size,
        watch=lambda progress: seen.append((time.perf_counter(), progress)),
    )  # fmt: skip
    seconds = time.perf_counter() - started
    (begun, first), (ended, last) = seen[1], seen[-1]
    if last.words == first.words:
        sys.exit("the text makes a single shard; give a longer one, or a smaller --shard-size")
    return {
        "words": summary.words,
        "seconds": seconds,
        "steady": (last.words - first.words) / (ended - begun),
        "cpu": _cpu() - before,
    }


def _cpu() -> float:
    """Processor seconds of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


if __name__ == "__main__":
    main()
