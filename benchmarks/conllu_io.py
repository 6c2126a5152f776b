"""Compare reading and writing a treebank with headspan and with the conllu package, in one run.

    python benchmarks/conllu_io.py [FILE] [--repeats N] [--json FILE]

FILE is a CoNLL-U file, by default the training part of UD English EWT 2.2 in ../shared. Both read
all sentences and write them again; the table shows whether the bytes are the same.
"""

from __future__ import annotations

import io
from pathlib import Path
from statistics import median

import conllu as conllu_package

from headspan import conllu
from reporting import SHARED, arguments, in_turns, needed, ratio, table, write_json

DEFAULT = SHARED / "treebanks/ud-2.2/en_ewt/en_ewt-ud-train.conllu"


def main() -> None:
    parser = arguments(__doc__, repeats=5)
    parser.add_argument("file", nargs="?", type=Path, default=DEFAULT)
    options = parser.parse_args()
    data = needed(options.file).read_bytes()
    words = sum(map(len, conllu.read(options.file)))
    written: dict[str, bytes] = {}

    def ours() -> None:
        out = io.BytesIO()
        conllu.write(conllu.read(options.file), out)
        written["headspan"] = out.getvalue()

    def theirs() -> None:
        out = io.StringIO()
        with options.file.open(encoding="utf-8") as file:
            for sentence in conllu_package.parse_incr(file):
                out.write(sentence.serialize())
        written["conllu"] = out.getvalue().encode()

    seconds = in_turns({"headspan": ours, "conllu": theirs}, options.repeats)
    rows = [
        {
            "package": name,
            "seconds": median(times),
            "words per second": round(words / median(times)),
            "same bytes": "yes" if written[name] == data else "no",
        }
        for name, times in seconds.items()
    ]
    title = f"Reading and writing {options.file.name}: {words:,} words, {len(data):,} bytes"
    table(title, list(rows[0]), [list(row.values()) for row in rows])
    faster = ratio(seconds["conllu"], seconds["headspan"])
    print(f"\nheadspan is {faster:.1f} times as fast")
    write_json(options.json, {"title": title, "rows": rows, "times faster": faster})


if __name__ == "__main__":
    main()
