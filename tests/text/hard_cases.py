"""Reading hard_cases.txt, and holding a segmenter against it."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from headspan.text import Segmenter

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
