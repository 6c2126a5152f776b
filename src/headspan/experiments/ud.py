"""Universal Dependencies for the plans, from the archive or the folder of a release."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from headspan.experiments.corpora import Counts, Prepared, files_below, read_trees, unpack
from headspan.experiments.plan import PARTS
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import unreadable

TWELVE: Mapping[str, str] = {
    "bg_btb": "UD_Bulgarian-BTB",
    "ca_ancora": "UD_Catalan-AnCora",
    "cs_pdt": "UD_Czech-PDT",
    "de_gsd": "UD_German-GSD",
    "en_ewt": "UD_English-EWT",
    "es_ancora": "UD_Spanish-AnCora",
    "fr_gsd": "UD_French-GSD",
    "it_isdt": "UD_Italian-ISDT",
    "nl_alpino": "UD_Dutch-Alpino",
    "no_bokmaal": "UD_Norwegian-Bokmaal",
    "ro_rrt": "UD_Romanian-RRT",
    "ru_syntagrus": "UD_Russian-SynTagRus",
}
"""The paper's treebanks and their folders in a release.

The paper lists NO-rrt. There is no such treebank: RRT is the Romanian Reference Treebank. UD 2.2
has three for Norwegian: Bokmaal, Nynorsk and NynorskLIA. The paper does not say which it means; we
use Bokmaal, the larger written standard.
"""
_FILE = re.compile(r"([a-z]+_[a-z]+)-ud-(train|dev|test)(-[a-z]+)?\.conllu")
_RELEASE = re.compile(r"\bud-(?:treebanks-v)?(\d+\.\d+)")
_STATS = "stats.xml"
_SIZES_WITHIN = 1 << 16  # bytes of stats.xml; the sizes are at its beginning
_SIZE = re.compile(r"<(total|train|dev|test)>(.{0,999}?)</\1>", re.DOTALL)
_NUMBER = re.compile(r"<(sentences|tokens|words)>(\d{1,12})</")
_SOURCE = "the release of UD 2.2"
# counted in the release itself; other treebanks are compared with their stats.xml only
_COUNTS: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "bg_btb": {"dev": (1115, 16089), "test": (1116, 15724)},
    "cs_cltt": {"train": (860, 26742), "dev": (129, 4773), "test": (136, 4115)},
    "de_gsd": {"dev": (799, 12486), "test": (977, 16498)},
    "en_ewt": {"train": (12543, 204585), "dev": (2002, 25148), "test": (2077, 25096)},
    "fr_sequoia": {"train": (2231, 50543), "dev": (412, 10011), "test": (456, 10048)},
    "nl_alpino": {"dev": (718, 11541), "test": (596, 11046)},
}


def prepare_ud(
    source: Path, output: Path, *, treebanks: Sequence[str] = (), release: str = "2.2"
) -> Prepared:
    """Write treebanks of a release to output/ud-RELEASE/TREEBANK/, under their own file names.

    source: the archive of a release, or a folder with some or all of its treebanks.
    treebanks: by default the paper's twelve. A training part that comes in several files (Czech)
    becomes one file.
    """
    treebanks = treebanks or list(TWELVE)
    for name in treebanks:
        if not _FILE.fullmatch(f"{name}-ud-dev.conllu"):
            raise HeadspanError(f"{name!r} is not a treebank of UD; expected a name such as en_ewt")
    if not re.fullmatch(r"\d+\.\d+", release):
        raise HeadspanError(f"{release!r} is not a release of UD; expected a number such as 2.2")
    if source.is_dir():
        above = (_release({name}) for name in reversed(source.resolve().parts))
        named = _release({child.name for child in source.iterdir()}) or next(
            filter(None, above), set()
        )
        return _prepare(source, output, treebanks, release, named, str(source))
    if not source.exists():
        raise HeadspanError(f"{source}: there is no such file or folder")
    pattern = re.compile(rf"({'|'.join(treebanks)})-ud-(train|dev|test)(-[a-z]+)?\.conllu")
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".headspan-", dir=output) as unpacked:
        folders = unpack(source, pattern, Path(unpacked), beside=_STATS)
        named = _release(folders | {source.name})
        return _prepare(Path(unpacked), output, treebanks, release, named, str(source))


def _release(names: set[str]) -> set[str]:
    """The releases in the names of folders or archives."""
    return {match[1] for name in names for match in _RELEASE.finditer(name)}


def _prepare(
    folder: Path,
    output: Path,
    treebanks: Sequence[str],
    release: str,
    named: set[str],
    source: str,
) -> Prepared:
    if named and named != {release}:
        raise HeadspanError(f"{source}: is UD {', '.join(sorted(named))}; expected UD {release}")
    parts = _find(folder, treebanks, output)
    if not parts:
        raise HeadspanError(f"{source}: has none of {', '.join(treebanks)}")
    prepared = Prepared()
    if not named:
        prepared.warnings.append(
            f"{source}: does not say which release of UD it is; assuming {release}"
        )
    for name in treebanks:
        missing = [part for part in PARTS if (name, part) not in parts]
        if missing:
            full_name = f" ({TWELVE[name]})" if name in TWELVE else ""
            prepared.lacks.append(f"{name}{full_name}: has no {', '.join(missing)}")
        _put_treebank(prepared, name, output / f"ud-{release}" / name, release, parts)
    return prepared


def _put_treebank(
    prepared: Prepared,
    name: str,
    folder: Path,
    release: str,
    parts: Mapping[tuple[str, str], list[Path]],
) -> None:
    """Write the parts of a treebank, and compare them with the release and with its stats.xml."""
    counts = _COUNTS.get(name, {}) if release == "2.2" else {}
    files_of = {part: parts[name, part] for part in PARTS if (name, part) in parts}
    stated: dict[str, Counts] = {}
    for place in {path.parent: None for files in files_of.values() for path in files}:
        stated |= read_stats(place / _STATS)
    written = []
    for part, files in files_of.items():
        path = folder / f"{name}-ud-{part}.conllu"
        expected = [Counts(*counts[part], _SOURCE)] if part in counts else []
        expected += [stated[part]] if part in stated else []
        sentences = chain.from_iterable(read_trees(file, format="conllu") for file in files)
        prepared.put(path, sentences, expected)
        written.append(prepared.files[path])
    if "total" in stated and len(written) == len(PARTS):
        whole = Counts(sum(c.sentences for c in written), sum(c.words or 0 for c in written))
        prepared.compare(str(folder), whole, stated["total"])


def read_stats(path: Path) -> dict[str, Counts]:
    """Read the sizes in a treebank's stats.xml: of `total`, and sometimes of its parts.

    Every treebank of a release has such a file; if it is missing, there are no sizes.
    """
    if not path.is_file() or path.is_symlink():
        return {}
    try:
        with path.open("rb") as file:
            text = file.read(_SIZES_WITHIN).decode("utf-8", "replace").partition("</size>")[0]
    except OSError as error:
        raise unreadable(path, error) from error
    sizes: dict[str, Counts] = {}
    for part, inner in _SIZE.findall(text):
        numbers = {what: int(number) for what, number in _NUMBER.findall(inner)}
        if "sentences" in numbers:
            # words may be left out if every token is one word
            words = numbers.get("words", numbers.get("tokens"))
            sizes[part] = Counts(numbers["sentences"], words, "its stats.xml")
    return sizes


def _find(
    folder: Path, treebanks: Sequence[str], output: Path
) -> dict[tuple[str, str], list[Path]]:
    """The files of each part, several if it comes in pieces; files below output are left out."""
    parts: dict[tuple[str, str], dict[str, Path]] = {}
    for path in files_below(folder, without=output):
        match = _FILE.fullmatch(path.name)
        if not match or match[1] not in treebanks:
            continue
        pieces = parts.setdefault((match[1], match[2]), {})
        if path.name in pieces:
            raise HeadspanError(f"{path}: occurs twice; the other is {pieces[path.name]}")
        pieces[path.name] = path
    for (name, part), pieces in parts.items():
        whole = f"{name}-ud-{part}.conllu"
        if whole in pieces and len(pieces) > 1:
            raise HeadspanError(
                f"{pieces[whole]}: there are the whole part and {len(pieces) - 1} pieces of it; "
                "expected one or the other"
            )
    return {key: [pieces[name] for name in sorted(pieces)] for key, pieces in parts.items()}
