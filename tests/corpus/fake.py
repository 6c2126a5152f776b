"""A parser without a network, for tests of everything around it. Some words make it fail."""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from headspan.conllu import Sentence
from headspan.model.parse_result import Parse
from headspan.plumbing.errors import warn
from headspan.text import sentences_from_lines


class FakeParser:
    """A line of text is a sentence; the head of every word is the word before it."""

    def sentences(self, pieces: Iterable[str], **_: Any) -> Iterator[Sentence]:
        return sentences_from_lines("".join(pieces).splitlines(keepends=True))

    def parse(self, sentences: Sequence[Sentence], **wanted: Any) -> list[Parse]:
        return [self._parse(sentence, **wanted) for sentence in sentences]

    def _parse(self, sentence: Sentence, *, confidence: bool = False, retag: bool = False) -> Parse:
        n = len(sentence)
        for word in sentence.forms:
            if word == "RAISE":
                raise ValueError("a word that\nraises")
            if word == "MEMORY":
                raise MemoryError
            if word == "DIE":
                os._exit(7)
            if word.startswith("DIE-ONCE="):
                mark = Path(word.partition("=")[2])
                if not mark.exists():
                    mark.touch()
                    os._exit(7)
            if word == "WARN":
                warn("a word that warns")
            if word == "WAIT":
                time.sleep(0.3)
        parsed = sentence.with_parse(range(n), ["root", *["dep"] * (n - 1)][:n])
        return Parse.of(parsed, head_confidences=(0.5,) * n if confidence else ())


def load(model: str, threads: int) -> Any:
    return FakeParser()
