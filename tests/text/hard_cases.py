"""Reading hard_cases.txt, and holding a segmenter against it.

`python -m tests.text.hard_cases` prints the cases that the embedded model gets wrong, as it
segments them.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import headspan
from headspan.text import Segmenter
from headspan.training.checkpoint import load_segmenter

FILE = Path(__file__).with_name("hard_cases.txt")


class HardCase(NamedTuple):
    """A text, and the words of its sentences."""

    group: str
    text: str
    sentences: list[list[str]]
    missed: bool
    """Whether the embedded model is known to get it wrong."""


def read() -> Iterator[HardCase]:
    """The cases of the file, in order."""
    group = ""
    for block in FILE.read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("# ")]
        if lines and lines[0].startswith("## "):
            group = lines.pop(0)[3:]
        text = [line for line in lines if not line.startswith(("= ", "~"))]
        if text:
            yield HardCase(
                group,
                "\n".join("" if line == "¶" else line for line in text),
                [line[2:].split() for line in lines if line.startswith("= ")],
                "~" in lines,
            )


def found(segmenter: Segmenter, case: HardCase) -> list[list[str]]:
    """The words of the sentences that a segmenter finds in the text of a case."""
    return [list(sentence.forms) for sentence in segmenter.segment(case.text)]


def main() -> None:
    """Print what the embedded model, or a saved segmenter, gets wrong."""
    segmenter = load_segmenter(Path(sys.argv[1])) if sys.argv[1:] else headspan.load("en").segmenter
    assert segmenter is not None
    cases = list(read())
    wrong = [(case, words) for case in cases if (words := found(segmenter, case)) != case.sentences]
    for case, sentences in wrong:
        print(case.text, *(f"= {' '.join(words)}" for words in sentences), sep="\n", end="\n\n")
    print(f"{len(cases) - len(wrong)} of {len(cases)} cases are right")


if __name__ == "__main__":
    main()
