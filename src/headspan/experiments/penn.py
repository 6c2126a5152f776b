"""The Penn and the Chinese Treebank as dependencies, with the usual splits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from headspan.conllu import Sentence
from headspan.experiments.corpora import Counts, Prepared, files_below, listed, read_trees
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import unreadable

_CONLL = (".conllx", ".conll", ".conllu", ".dep")
_SOURCE = "Chen and Manning (2014), table 3,"

_SECTIONS: Mapping[str, range] = {
    "train": range(2, 22),
    "dev": range(22, 23),
    "test": range(23, 24),
}
_PTB_SENTENCES: Mapping[str, int] = {"train": 39832, "dev": 1700, "test": 2416}
_WSJ = re.compile(r"wsj_(\d\d)(\d\d)(?!\d)")
_SECTION = re.compile(r"(?:wsj[_-]?|sec(?:tion)?[_-]?)?(\d\d)")

# the file numbers of Zhang and Clark (2008); not every number in a range has a file
_CTB_SPLIT: Mapping[str, tuple[range, ...]] = {
    "train": (range(1, 816), range(1001, 1137)),
    "dev": (range(886, 932), range(1148, 1152)),
    "test": (range(816, 886), range(1137, 1148)),
}
_CTB_FILES = frozenset(
    chain(range(1, 326), range(400, 455), range(500, 555), range(590, 597), range(600, 886),
          range(900, 932), range(1001, 1079), range(1100, 1152))
)  # fmt: skip
"""The 890 files of CTB 5.1."""
_CTB_SENTENCES: Mapping[str, int] = {"train": 16091, "dev": 803, "test": 1910}
_CHTB = re.compile(r"chtb_?(\d{1,4})(?!\d)")


def prepare_ptb(source: Path, output: Path) -> Prepared:
    """Write sections 2–21, 22 and 23 of the WSJ to output/ptb/train, dev and test.conllx.

    source: a folder with Stanford Dependencies in CoNLL-X, one file per wsj_SSNN, or one per
    section, named by its two digits.
    """
    by_section: dict[int, dict[int, Path]] = {}
    for path in files_below(source):
        if path.suffix not in _CONLL:
            continue
        file = _WSJ.match(path.name)
        section = file or _SECTION.fullmatch(path.stem)
        if section is None:
            continue
        number = int(file[2]) if file else -1
        files = by_section.setdefault(int(section[1]), {})
        if number in files or (files and -1 in (number, *files)):
            raise HeadspanError(
                f"{path}: section {section[1]} has this and {next(iter(files.values()))}; expected "
                "one file per section, or one per wsj_SSNN"
            )
        files[number] = path
    if not by_section:
        raise HeadspanError(
            f"{source}: has no file such as wsj_0201.conllx or 02.conllx; expected Stanford "
            "Dependencies in CoNLL-X"
        )
    prepared = Prepared()
    for part, sections in _SECTIONS.items():
        missing = [section for section in sections if section not in by_section]
        if missing:
            prepared.lacks.append(f"PTB: {part} has no section {listed(missing)}")
        paths = [by_section[s][n] for s in sections for n in sorted(by_section.get(s, ()))]
        if paths:
            path = output / "ptb" / f"{part}.conllx"
            _put(prepared, path, map(_conllx, paths), _PTB_SENTENCES[part])
    return prepared


def prepare_ctb(source: Path, output: Path, *, encoding: str = "utf-8") -> Prepared:
    """Write CTB 5.1, split by file number, to output/ctb/train, dev and test.conllx.

    source: a folder with Penn2Malt's output (word, tag, head and label, separated by tabs) or with
    CoNLL-X, one file per chtb_NNN. encoding: the encoding of Penn2Malt's output.
    """
    by_number: dict[int, Path] = {}
    for path in files_below(source):
        match = _CHTB.match(path.name)
        if match is None or path.suffix not in (*_CONLL, ".tab", ".malttab"):
            continue
        number = int(match[1])
        if number in by_number:
            raise HeadspanError(
                f"{path}: is file {number}, and so is {by_number[number]}; expected one"
            )
        by_number[number] = path
    if not by_number:
        raise HeadspanError(
            f"{source}: has no file such as chtb_001.fid.3.pa.gs.tab; expected Penn2Malt's output"
        )
    prepared = Prepared()
    for part, ranges in _CTB_SPLIT.items():
        numbers = [n for n in chain.from_iterable(ranges) if n in _CTB_FILES]
        missing = [number for number in numbers if number not in by_number]
        if missing:
            prepared.lacks.append(
                f"CTB: {part} lacks {len(missing)} of {len(numbers)} files: {listed(missing)}"
            )
        paths = [by_number[number] for number in numbers if number in by_number]
        read = (
            _conllx(path) if path.suffix in _CONLL else read_malttab(path, encoding)
            for path in paths
        )
        if paths:
            _put(prepared, output / "ctb" / f"{part}.conllx", read, _CTB_SENTENCES[part])
    return prepared


def _put(
    prepared: Prepared, path: Path, files: Iterable[Iterator[Sentence]], expected: int
) -> None:
    """Write the files of a part, with the number of sentences that is published for it."""
    counts = Counts(expected, None, _SOURCE)
    prepared.put(path, chain.from_iterable(files), [counts], format="conllx")


def _conllx(path: Path) -> Iterator[Sentence]:
    return read_trees(path, format=None if path.suffix == ".conllu" else "conllx")


def read_malttab(path: Path, encoding: str = "utf-8") -> Iterator[Sentence]:
    """Read Penn2Malt's output: one word per line, blank lines between sentences."""
    try:
        lines = path.read_text(encoding=encoding).split("\n")
    except LookupError as error:
        raise HeadspanError(f"{encoding}: is not an encoding; expected gb18030 or utf-8") from error
    except UnicodeError as error:
        raise HeadspanError(
            f"{path}: is not {encoding}; try --encoding gb18030, which CTB also comes in"
        ) from error
    except OSError as error:
        raise unreadable(path, error) from error
    rows: list[list[str]] = []
    for number, line in enumerate([*lines, ""], 1):
        cells = line.rstrip("\r").split("\t")
        if cells == [""]:
            if rows:
                yield _sentence(rows, path, number)
            rows = []
        elif len(cells) != 4 or not cells[0] or not cells[2].isascii() or not cells[2].isdigit():
            raise HeadspanError(
                f"{path}:{number}: {line[:60]!r}; expected word, tag, head and label"
            )
        else:
            rows.append(cells)


def _sentence(rows: list[list[str]], path: Path, line: int) -> Sentence:
    forms, tags, heads, labels = zip(*rows, strict=True)
    try:
        return Sentence.from_words(
            forms, upos=tags, xpos=tags, heads=map(int, heads), deprels=labels
        )
    except HeadspanError as error:
        raise HeadspanError(f"{path}:{line}: the sentence before this line: {error}") from error
