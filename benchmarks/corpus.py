"""How much faster `headspan corpus` is with several processes than with one.

The numbers of processes take turns. What counts is the time after the first shard, by which time
every process has loaded the model; the whole time is shown, too. Processor time says what a busy
machine hides: if it does not grow with the processes, they do not get in each other's way.
"""

import os
import resource
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
    parser.add_argument("text", type=Path, nargs="?", help="a text; default: EWT's dev treebank's")
    parser.add_argument("--model", default="en", help="the model")
    parser.add_argument("--times", type=int, default=4, help="how often the text is repeated")
    parser.add_argument("--shard-size", type=int, default=20, help="as for headspan corpus")
    parser.add_argument("--processes", default="1,2", help="the numbers of processes to compare")
    given = parser.parse_args()
    counts = [int(count) for count in given.processes.split(",")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        work = folder / "text.txt"
        work.write_text((_text(given.text) + "\n\n") * given.times, encoding="utf-8")
        runs: dict[int, list[dict[str, float]]] = {count: [] for count in counts}
        for turn in range(given.repeats):
            for count in counts:
                target = folder / f"{turn}-{count}"
                runs[count].append(_run(work, target, count, given.model, given.shard_size))
    figures = {
        count: {key: median(run[key] for run in some) for key in some[0]}
        for count, some in runs.items()
    }
    one = figures[counts[0]]
    rows: list[list[Any]] = [
        [
            count,
            found["words"] / found["seconds"],
            found["steady"],
            found["steady"] / one["steady"],
            1000 * found["cpu"] / found["words"],
        ]
        for count, found in figures.items()
    ]
    header = ["processes", "words/s", "after loading", "ratio", "CPU s / 1,000 words"]
    table(f"{given.repeats} turns, {os.cpu_count()} cores", header, rows)
    write_json(given.json, {"rows": [dict(zip(header, row, strict=True)) for row in rows]})


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
    """Processor seconds of all processes that have ended, and of this one."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    main()
