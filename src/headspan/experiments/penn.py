"""The Penn and the Chinese Treebank as dependencies, split as the literature does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from headspan.conllu import Sentence
from headspan.experiments.corpora import (
    Prepared,
    expected_counts,
    files_below,
    listed,
    read_trees,
)
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import unreadable

_CONLL = (".conllx", ".conll", ".conllu", ".dep")

_SECTIONS: Mapping[str, range] = {
    "train": range(2, 22),
    "dev": range(22, 23),
    "test": range(23, 24),
}
_PTB_SOURCE = "Chen and Manning (2014), table 3,"
_PTB_COUNTS: Mapping[str, tuple[int, int | None]] = {
    "train": (39832, None),
    "dev": (1700, None),
    "test": (2416, None),
}
_WSJ = re.compile(r"wsj_(\d\d)(\d\d)(?!\d)")
_SECTION = re.compile(r"(?:wsj[_-]?|sec(?:tion)?[_-]?)?(\d\d)")

# Zhang and Clark (2008): the numbers of the files; not every number in a range has a file
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
_CTB_SOURCE = "Chen and Manning (2014), table 3,"
_CTB_COUNTS: Mapping[str, tuple[int, int | None]] = {
    "train": (16091, None),
    "dev": (803, None),
    "test": (1910, None),
}
_CHTB = re.compile(r"chtb_?(\d{1,4})(?!\d)")


def prepare_ptb(source: Path, output: Path) -> Prepared:
    """Sections 2–21, 22 and 23 of the WSJ into output/ptb/train, dev and test.conllx.

    source: a folder with Stanford Dependencies in CoNLL-X, a file for each wsj_SSNN or one for
    each section, named by its two digits.
    """
    found: dict[int, dict[int, Path]] = {}
    for path in files_below(source):
        if path.suffix not in _CONLL:
            continue
        file = _WSJ.match(path.name)
        section = file or _SECTION.fullmatch(path.stem)
        if section is None:
            continue
        number = int(file[2]) if file else -1
        files = found.setdefault(int(section[1]), {})
        if number in files or (files and -1 in (number, *files)):
            raise HeadspanError(
                f"{path}: section {section[1]} has this and {next(iter(files.values()))}; expected "
                "one file for the section, or one for each wsj_SSNN"
            )
        files[number] = path
    if not found:
        raise HeadspanError(
            f"{source}: has no file such as wsj_0201.conllx or 02.conllx; expected Stanford "
            "Dependencies in CoNLL-X"
        )
    prepared = Prepared()
    for part, sections in _SECTIONS.items():
        missing = [section for section in sections if section not in found]
        if missing:
            prepared.lacks.append(f"PTB: {part} has no section {listed(missing)}")
        paths = [found[s][number] for s in sections if s in found for number in sorted(found[s])]
        _put(prepared, output / "ptb" / f"{part}.conllx", map(_conllx, paths), bool(paths),
             _PTB_COUNTS, part, _PTB_SOURCE)  # fmt: skip
    return prepared


def prepare_ctb(source: Path, output: Path, *, encoding: str = "utf-8") -> Prepared:
    """CTB 5.1, split by file number, into output/ctb/train, dev and test.conllx.

    source: a folder with Penn2Malt's output (word, tag, head and label with tabs between) or with
    CoNLL-X, a file for each chtb_NNN. encoding: of Penn2Malt's output.
    """
    found: dict[int, Path] = {}
    for path in files_below(source):
        match = _CHTB.match(path.name)
        if match is None or path.suffix not in (*_CONLL, ".tab", ".malttab"):
            continue
        number = int(match[1])
        if number in found:
            raise HeadspanError(
                f"{path}: is file {number}, and so is {found[number]}; expected one"
            )
        found[number] = path
    if not found:
        raise HeadspanError(
            f"{source}: has no file such as chtb_001.fid.3.pa.gs.tab; expected Penn2Malt's output"
        )
    prepared = Prepared()
    for part, ranges in _CTB_SPLIT.items():
        numbers = [n for some in ranges for n in some if n in _CTB_FILES]
        missing = [number for number in numbers if number not in found]
        if missing:
            prepared.lacks.append(
                f"CTB: {part} lacks {len(missing)} of {len(numbers)} files: {listed(missing)}"
            )
        paths = [found[number] for number in numbers if number in found]
        read = (
            _conllx(path) if path.suffix in _CONLL else read_malttab(path, encoding)
            for path in paths
        )
        _put(prepared, output / "ctb" / f"{part}.conllx", read, bool(paths),
             _CTB_COUNTS, part, _CTB_SOURCE)  # fmt: skip
    return prepared


def _put(
    prepared: Prepared,
    path: Path,
    files: Iterable[Iterator[Sentence]],
    some: bool,
    counts: Mapping[str, tuple[int, int | None]],
    part: str,
    source: str,
) -> None:
    """Write a part if there is some of it."""
    if some:
        expected = expected_counts(counts, part, source)
        prepared.put(path, chain.from_iterable(files), expected, format="conllx")


def _conllx(path: Path) -> Iterator[Sentence]:
    return read_trees(path, format=None if path.suffix == ".conllu" else "conllx")


def read_malttab(path: Path, encoding: str = "utf-8") -> Iterator[Sentence]:
    """The sentences of Penn2Malt's output: a word a line, blank lines between sentences."""
    try:
        lines = path.read_text(encoding=encoding).split("\n")
    except LookupError as error:
        raise HeadspanError(f"{encoding}: is no encoding; expected one such as gb18030") from error
    except UnicodeError as error:
        raise HeadspanError(
            f"{path}: is not {encoding}; CTB comes in gb18030 as well: --encoding gb18030"
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
                f"{path}, line {number}: {line[:60]!r}; expected word, tag, head and label"
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
        raise HeadspanError(f"{path}: the sentence before line {line}: {error}") from error
