"""Treebanks of Universal Dependencies in the folders of a release."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headspan import conllu
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import open_output, unreadable

_FILE = re.compile(
    r"(([a-z]{2,3})_[a-z0-9_]+)-ud-(train|dev|test)((?:-[a-z0-9]+)*)\.conllu(\.[gx]z)?"
)
_LICENCE = re.compile(r"^License: *(\S.*?)\s*$", re.MULTILINE)
_CREATIVE_COMMONS = re.compile(r"CC[ -]BY(-(NC|ND|SA)){0,2}[ -][1-4]\.[05]")
_SPDX = {
    "Apache 2.0": "Apache-2.0",
    "CC0": "CC0-1.0",
    "CC0 1.0": "CC0-1.0",
    "GNU GPL 2.0": "GPL-2.0-only",
    "GNU GPL 3.0": "GPL-3.0-only",
    "GNU LGPL 2.1": "LGPL-2.1-only",
    "LGPL-LR": "LGPLLR",
}
"""How treebanks spell licences other than those of Creative Commons, and how SPDX does."""
_HELD_OUT = 10  # of so many blocks of sentences, the last one is held out


@dataclass(frozen=True)
class UdTreebank:
    """The files of a treebank, those of each part in the order of their names."""

    name: str
    """Such as fr_sequoia."""
    language: str
    """The ISO code."""
    train: tuple[str, ...] = ()
    dev: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    licence: str = ""
    """As the treebank's README has it; empty if it does not say."""


def find_treebanks(folders: Sequence[Path]) -> list[UdTreebank]:
    """The treebanks in folders as they are released, one or several per folder.

    Raises HeadspanError if a folder has none, if none has a training part, or if the treebanks are
    of several languages.
    """
    treebanks: dict[str, UdTreebank] = {}
    for folder in folders:
        for treebank in _in_folder(folder):
            if treebank.name in treebanks:
                raise HeadspanError(f"{folder}: the treebank {treebank.name} occurs twice")
            treebanks[treebank.name] = treebank
    chosen = list(treebanks.values())
    languages = sorted({treebank.language for treebank in chosen})
    if len(languages) > 1:
        raise HeadspanError(
            f"the treebanks are of several languages: {', '.join(languages)}; expected one"
        )
    if not any(treebank.train for treebank in chosen):
        raise HeadspanError(
            f"{', '.join(map(str, folders))}: has no training part; expected a file such as "
            f"{chosen[0].name}-ud-train.conllu"
        )
    return chosen


def _in_folder(folder: Path) -> list[UdTreebank]:
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise unreadable(folder, error) from error
    parts: dict[tuple[str, str], dict[str, list[str]]] = {}
    for match in filter(None, map(_FILE.fullmatch, names)):
        files = parts.setdefault((match[1], match[2]), {"train": [], "dev": [], "test": []})
        files[match[3]].append(str(folder / match[0]))
    if not parts:
        raise HeadspanError(
            f"{folder}: has no treebank of Universal Dependencies; expected files such as "
            "fr_gsd-ud-train.conllu"
        )
    licence = _licence(folder)
    return [
        UdTreebank(
            name,
            language,
            tuple(files["train"]),
            tuple(files["dev"]),
            tuple(files["test"]),
            licence,
        )
        for (name, language), files in parts.items()
    ]


def _licence(folder: Path) -> str:
    """The licence in the machine-readable part of a treebank's README."""
    for name in ("README.md", "README.txt"):
        if (folder / name).is_file():
            text = (folder / name).read_text(encoding="utf-8", errors="replace")
            if match := _LICENCE.search(text):
                return match[1]
    return ""


def spdx(treebanks: Sequence[UdTreebank]) -> str:
    """The licences of treebanks as one SPDX expression; empty if one of them is not known."""
    names = [
        t.licence.replace(" ", "-")
        if _CREATIVE_COMMONS.fullmatch(t.licence)
        else _SPDX.get(t.licence, "")
        for t in treebanks
        if t.train
    ]
    return " AND ".join(dict.fromkeys(names)) if all(names) else ""


def with_dev(treebanks: Sequence[UdTreebank], folder: Path) -> list[UdTreebank]:
    """The treebanks, one of which has a dev part, for training to choose the best epoch on.

    If none has one, a tenth of each training part is held out: both parts are written to the
    folder.
    """
    if any(treebank.dev for treebank in treebanks):
        return list(treebanks)
    return [_held_out(treebank, folder) if treebank.train else treebank for treebank in treebanks]


def _held_out(treebank: UdTreebank, folder: Path) -> UdTreebank:
    """A treebank with a dev part of its training part's sentences: a block of every ten."""
    sentences = [s for path in treebank.train for s in conllu.read(path) if len(s)]
    if len(sentences) < _HELD_OUT:
        raise HeadspanError(
            f"{treebank.train[0]}: has {len(sentences)} sentences, too few to hold some out, and "
            f"there is no dev part; expected {_HELD_OUT} or more"
        )
    block = max(1, min(10, len(sentences) // (2 * _HELD_OUT)))
    parts = {"train": list[conllu.Sentence](), "dev": list[conllu.Sentence]()}
    for k, sentence in enumerate(sentences):
        held_out = k // block % _HELD_OUT == _HELD_OUT - 1
        parts["dev" if held_out else "train"].append(sentence)
    folder.mkdir(parents=True, exist_ok=True)
    names = {part: folder / f"{treebank.name}-ud-{part}.conllu" for part in parts}
    for part, path in names.items():
        with open_output(path) as stream:
            conllu.write(parts[part], stream)
    return replace(treebank, train=(str(names["train"]),), dev=(str(names["dev"]),))
