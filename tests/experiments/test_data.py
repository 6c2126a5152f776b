"""Preparing corpora from small made-up files, and from malicious archives."""

import io
import shutil
import tarfile
from pathlib import Path

import pytest

from conftest import shared
from experiments.test_report import headspan
from headspan import conllu
from headspan.conllu import Sentence
from headspan.experiments import ud
from headspan.experiments.corpora import listed
from headspan.experiments.penn import prepare_ctb, prepare_ptb
from headspan.experiments.ud import prepare_ud
from headspan.plumbing.errors import HeadspanError

ROW = "1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_\n\n"


def archive(path: Path, members: dict[str, bytes | str], kind: bytes = tarfile.SYMTYPE) -> Path:
    """A .tgz; a string is the target of a link."""
    with tarfile.open(path, "w:gz") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            if isinstance(content, str):
                member.type, member.linkname = kind, content
                tar.addfile(member)
            else:
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    return path


def release(folder: str = "ud-treebanks-v2.2/UD_English-EWT") -> dict[str, bytes | str]:
    return {
        f"{folder}/en_ewt-ud-{part}.conllu": ROW.encode() * size
        for part, size in (("train", 3), ("dev", 2), ("test", 1))
    }


def test_ud_from_an_archive(tmp_path: Path) -> None:
    members: dict[str, bytes | str] = {
        **release(),
        "ud-treebanks-v2.2/README": b"text",
        "ud-treebanks-v2.2/UD_Czech-PDT/cs_pdt-ud-train-m.conllu": ROW.encode() * 2,
        "ud-treebanks-v2.2/UD_Czech-PDT/cs_pdt-ud-train-c.conllu": ROW.encode().replace(b"D", b"d"),
        "ud-treebanks-v2.2/UD_Czech-PDT/cs_pdt-ud-dev.conllu": ROW.encode(),
    }
    path = archive(tmp_path / "ud-treebanks-v2.2.tgz", members)
    prepared = prepare_ud(path, tmp_path / "data", treebanks=["en_ewt", "cs_pdt"])
    train = tmp_path / "data/ud-2.2/en_ewt/en_ewt-ud-train.conllu"
    assert train.read_text(encoding="utf-8") == ROW * 3
    assert prepared.files[train].words == 6
    assert f"{train}: has 3 sentences; the release of UD 2.2 has 12,543" in prepared.warnings
    assert f"{train}: has 6 words; the release of UD 2.2 has 204,585" in prepared.warnings
    assert prepared.lacks == ["cs_pdt (UD_Czech-PDT): has no test"]
    czech = list(conllu.read(tmp_path / "data/ud-2.2/cs_pdt/cs_pdt-ud-train.conllu"))
    assert [s.forms[0] for s in czech] == ["dogs", "Dogs", "Dogs"]
    assert [p.name for p in (tmp_path / "data").iterdir()] == ["ud-2.2"]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"../en_ewt-ud-dev.conllu": b"x"}, "'../en_ewt-ud-dev.conllu' leaves the archive"),
        ({"/tmp/en_ewt-ud-dev.conllu": b"x"}, "leaves the archive"),
        ({"a/../../en_ewt-ud-dev.conllu": b"x"}, "leaves the archive"),
        ({"a/en_ewt-ud-dev.conllu": "/etc/passwd"}, "is a link or device"),
        ({"a/en_ewt-ud-dev.conllu": b"", "b/en_ewt-ud-dev.conllu": b""}, "twice"),
        ({"a/stats.xml": b"", "./a/stats.xml": b""}, "has 'a/stats.xml' twice"),
        ({"a\nb/stats.xml": b"", "./a\nb/stats.xml": b""}, "has 'a\\nb/stats.xml' twice"),
        ({"a/stats.xml": bytes(2**20 + 1)}, "has 1,048,577 bytes; expected 1,048,576 at most"),
        ({"a/stats.xml": "/etc/passwd"}, "is a link or device"),
        ({"a/readme": b"x"}, "has none of en_ewt"),
        ({"ud-treebanks-v2.3/en_ewt-ud-dev.conllu": b""}, "is UD 2.3; expected UD 2.2"),
        ({"a/en_ewt-ud-dev.conllu": ROW.replace("\t2\t", "\t_\t").encode()}, "word 1 has no head"),
    ],
)  # fmt: skip
def test_malicious_and_wrong_archives_are_refused(
    tmp_path: Path, members: dict[str, bytes | str], message: str
) -> None:
    out = tmp_path / "deep" / "data"
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
        path = archive(tmp_path / "some.tgz", members, kind)
        with pytest.raises(HeadspanError) as error:
            prepare_ud(path, out, treebanks=["en_ewt"])
        assert message in str(error.value)
        assert "\n" not in str(error.value)
        assert not [p for p in tmp_path.rglob("*") if p.is_file() and p != path]


def test_other_members_of_an_archive_are_never_written(tmp_path: Path) -> None:
    members: dict[str, bytes | str] = {
        **release(), "../../evil": b"x", "link": "/etc", "link/passwd": b"x"
    }  # fmt: skip
    prepare_ud(archive(tmp_path / "x.tgz", members), tmp_path / "data", treebanks=["en_ewt"])
    written = {p.name for p in tmp_path.rglob("*") if p.is_file()}
    assert written == {"x.tgz", *(f"en_ewt-ud-{part}.conllu" for part in ("train", "dev", "test"))}


def test_files_that_are_not_archives_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.tgz"
    for content in (b"not a tar at all" * 100, b"x", b"", b"PK\x03\x04" * 9):
        path.write_bytes(content)
        with pytest.raises(HeadspanError, match="is not a complete") as error:
            prepare_ud(path, tmp_path / "data")
        assert "\n" not in str(error.value)
    whole = archive(tmp_path / "y.tgz", {**release(), "big": bytes(200_000)}).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(HeadspanError, match="is not a complete"):
        prepare_ud(path, tmp_path / "data", treebanks=["en_ewt"])
    with pytest.raises(HeadspanError, match="there is no such file or folder"):
        prepare_ud(tmp_path / "nothing", tmp_path / "data")
    with pytest.raises(HeadspanError, match=r"'\.\./x' is not a treebank"):
        prepare_ud(path, tmp_path / "data", treebanks=["../x"])
    with pytest.raises(HeadspanError, match=r"'\.\./2' is not a release"):
        prepare_ud(path, tmp_path / "data", release="../2")


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"GNU.sparse.map": "x"}, "is not a complete .tgz archive"),
        ({"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}, "is not a complete .tgz archive"),
        ({"size": "-1"}, "has -1 bytes; expected "),
    ],
)
def test_archives_with_malicious_headers_are_refused(
    tmp_path: Path, headers: dict[str, str], message: str
) -> None:
    path = tmp_path / "x.tgz"
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as tar:
        member = tarfile.TarInfo("a/en_ewt-ud-dev.conllu")
        member.size, member.pax_headers = len(ROW), headers
        tar.addfile(member, io.BytesIO(ROW.encode()))
    with pytest.raises(HeadspanError) as error:
        prepare_ud(path, tmp_path / "data", treebanks=["en_ewt"])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_an_archive_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headspan.experiments.corpora._LARGEST_SUM", 3 * len(ROW))
    path = archive(tmp_path / "x.tgz", release())
    with pytest.raises(HeadspanError, match="bytes of treebanks"):
        prepare_ud(path, tmp_path / "data", treebanks=["en_ewt"])
    assert not list((tmp_path / "data").iterdir())


def test_prepared_files_are_not_taken_for_a_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    archive(tmp_path / "x.tgz", release("UD_English-EWT"))
    with tarfile.open(tmp_path / "x.tgz") as tar:
        tar.extractall(tmp_path, filter="data")
    for _ in range(2):
        prepared = prepare_ud(Path(), Path("data"), treebanks=["en_ewt"])
        assert len(prepared.files) == 3


def test_ud_from_folders(tmp_path: Path) -> None:
    folder = tmp_path / "mine" / "UD_English-EWT"
    folder.mkdir(parents=True)
    for name, content in release("").items():
        assert isinstance(content, bytes)
        (folder / name.strip("/")).write_bytes(content)
    (folder / "en_ewt-ud-test.conllu").unlink()
    (folder / "en_ewt-ud-test.conllu").symlink_to(folder / "en_ewt-ud-dev.conllu")
    prepared = prepare_ud(tmp_path / "mine", tmp_path / "data", treebanks=["en_ewt"])
    assert prepared.lacks == ["en_ewt (UD_English-EWT): has no test"]
    assert "does not say which release" in prepared.warnings[0]
    for place, message in (("ud-2.3", "is UD 2.3; expected UD 2.2"), ("ud-2.2", "")):
        # the nearest folder that names a release does so for what is in it
        moved = tmp_path / "ud-2.16-work" / place / "UD_English-EWT"
        shutil.copytree(folder, moved, symlinks=True)
        if message:
            with pytest.raises(HeadspanError, match=message):
                prepare_ud(moved, tmp_path / "data", treebanks=["en_ewt"])
        else:
            again = prepare_ud(moved, tmp_path / "data", treebanks=["en_ewt"])
            assert not [w for w in again.warnings if "which release" in w]
    (folder / "en_ewt-ud-train-b.conllu").write_text(ROW, encoding="utf-8")
    with pytest.raises(HeadspanError, match="the whole part and 1 pieces"):
        prepare_ud(tmp_path / "mine", tmp_path / "data", treebanks=["en_ewt"])


def test_the_counts_are_those_of_the_release(tmp_path: Path) -> None:
    source = shared("treebanks/ud-2.2")
    names = [name for name in ("bg_btb", "cs_cltt", "nl_alpino") if (source / name).is_dir()]
    assert prepare_ud(source, tmp_path, treebanks=names).warnings == []
    assert len(ud.TWELVE) == 12


STATS = """<?xml version="1.0" encoding="UTF-8"?>
<treebank>
  <!-- words and fused can be omitted -->
  <size>
    <total><sentences>{}</sentences><tokens>9</tokens><words>12</words><fused>3</fused></total>
    {}
  </size>
  <deps unique="2"><train><sentences>99</sentences></train></deps>
</treebank>
"""


def stats(*parts: str, total: int = 6) -> bytes:
    return STATS.format(total, "\n".join(parts)).encode()


def test_sizes_are_compared_with_the_treebanks_own_statistics(tmp_path: Path) -> None:
    folder = "ud-treebanks-v2.3/UD_English-EWT"
    other = {"ud-treebanks-v2.3/UD_X-Y/stats.xml": stats(total=77)}
    cases: list[tuple[bytes, list[str]]] = [
        (stats(), []),
        (stats("<dev><sentences>2</sentences><tokens>4</tokens></dev>"), []),
        (
            stats("<dev><sentences>7</sentences><tokens>4</tokens><words>8</words></dev>", total=9),
            [
                "en_ewt/en_ewt-ud-dev.conllu: has 2 sentences; its stats.xml has 7",
                "en_ewt/en_ewt-ud-dev.conllu: has 4 words; its stats.xml has 8",
                "en_ewt: has 6 sentences; its stats.xml has 9",
            ],
        ),
        (b"\xff<size><total>", []),
        (b"", []),
    ]
    for number, (content, warnings) in enumerate(cases):
        members = {**other, **release(folder), f"{folder}/stats.xml": content}
        path = archive(tmp_path / f"{number}.tgz", members)
        unpacked = tmp_path / f"ud-2.3-{number}"
        unpacked.mkdir()
        for name, inside in release("").items():
            assert isinstance(inside, bytes)
            (unpacked / name.strip("/")).write_bytes(inside)
        (unpacked / "stats.xml").write_bytes(content)
        for source in (path, unpacked):
            out = tmp_path / "data"
            prepared = prepare_ud(source, out, treebanks=["en_ewt"], release="2.3")
            assert prepared.warnings == [f"{out / 'ud-2.3' / line}" for line in warnings]
            assert not list(out.rglob("stats.xml"))
    # without one of the parts the total says nothing
    (unpacked / "stats.xml").write_bytes(stats(total=9))
    (unpacked / "en_ewt-ud-dev.conllu").unlink()
    prepared = prepare_ud(unpacked, tmp_path / "data", treebanks=["en_ewt"], release="2.3")
    assert prepared.warnings == []
    assert len(prepared.lacks) == 1


def ptb(folder: Path, names: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        text = ROW.replace("Dogs", name).replace("\t_\t_\n", "\t_\t_\n")
        (folder / f"{name}.conllx").write_text(text, encoding="utf-8")


def test_ptb_by_sections_and_by_files(tmp_path: Path) -> None:
    ptb(tmp_path / "a", [f"{section:02}" for section in range(25)])
    prepared = prepare_ptb(tmp_path / "a", tmp_path / "data")
    assert prepared.lacks == []
    train = list(conllu.read(tmp_path / "data/ptb/train.conllx"))
    assert [s.forms[0] for s in train] == [f"{section:02}" for section in range(2, 22)]
    assert train[0].heads == (2, 0)
    (dev,) = conllu.read(tmp_path / "data/ptb/dev.conllx")
    assert dev.forms[0] == "22"
    assert prepared.warnings[0].endswith(
        "train.conllx: has 20 sentences; Chen and Manning (2014), table 3, has 39,832"
    )
    ptb(tmp_path / "b" / "23", ["wsj_2310.mrg", "wsj_2302", "wsj_2400"])
    ptb(tmp_path / "b" / "02", ["wsj_0203"])
    prepared = prepare_ptb(tmp_path / "b", tmp_path / "data")
    assert prepared.lacks == [
        "PTB: train has no section 3–21",
        "PTB: dev has no section 22",
    ]
    test = conllu.read(tmp_path / "data/ptb/test.conllx")
    assert [s.forms[0] for s in test] == ["wsj_2302", "wsj_2310.mrg"]
    ptb(tmp_path / "b", ["23"])
    with pytest.raises(HeadspanError, match="expected one file per section"):
        prepare_ptb(tmp_path / "b", tmp_path / "data")
    with pytest.raises(HeadspanError, match="has no file such as wsj_0201"):
        prepare_ptb(tmp_path / "data", tmp_path / "data")


def test_ctb_by_file_numbers(tmp_path: Path) -> None:
    source = tmp_path / "ctb"
    source.mkdir()
    for number in (1, 815, 816, 885, 900, 1001, 1137, 1148, 1151):
        text = f"第{number}\tNN\t2\tSUB\n说\tVV\t0\tROOT\n\n"
        (source / f"chtb_{number:03}.fid.3.pa.gs.tab").write_text(text, encoding="utf-8")
    prepared = prepare_ctb(source, tmp_path / "data")

    def numbers(part: str) -> list[str]:
        return [s.forms[0] for s in conllu.read(tmp_path / f"data/ctb/{part}.conllx")]

    assert numbers("train") == ["第1", "第815", "第1001"]
    assert numbers("dev") == ["第900", "第1148", "第1151"]
    assert numbers("test") == ["第816", "第885", "第1137"]
    (first, *_) = conllu.read(tmp_path / "data/ctb/train.conllx")
    assert (first.upos, first.xpos, first.heads, first.deprels) == (
        ("NN", "VV"), ("NN", "VV"), (2, 0), ("SUB", "ROOT")
    )  # fmt: skip
    assert prepared.lacks[1] == "CTB: dev lacks 33 of 36 files: 901–931, 1149–1150"
    sizes = [int(lack.split(" of ")[1].split()[0]) for lack in prepared.lacks]
    assert sum(sizes) == 890
    path = source / "chtb_002.fid.3.pa.gs.tab"
    path.write_bytes("中国\tNR\t0\tROOT\n".encode("gb18030"))
    with pytest.raises(HeadspanError, match="is not utf-8; try --encoding gb18030"):
        prepare_ctb(source, tmp_path / "data")
    with pytest.raises(HeadspanError, match="is not utf-16; try"):
        prepare_ctb(source, tmp_path / "data", encoding="utf-16")
    for number in (815, 1):
        (source / f"chtb_{number:03}.fid.3.pa.gs.tab").unlink()
    path.write_text("中国\tNR\tx\tROOT\n", encoding="utf-8")
    with pytest.raises(HeadspanError, match=r":1: .* expected word, tag, head and label"):
        prepare_ctb(source, tmp_path / "data")
    path.write_text("中国\tNR\t7\tROOT\n", encoding="utf-8")
    with pytest.raises(HeadspanError, match=":2: the sentence before this line"):
        prepare_ctb(source, tmp_path / "data")
    (source / "chtb_2.tab").write_text("", encoding="utf-8")
    with pytest.raises(HeadspanError, match="is file 2, and so is"):
        prepare_ctb(source, tmp_path / "data")


def test_numbers_in_messages() -> None:
    assert listed([5, 1, 2, 3, 9]) == "1–3, 5, 9"
    assert listed(range(1, 40, 2), most=2) == "1, 3, …"


def test_the_command(tmp_path: Path) -> None:
    path = archive(tmp_path / "ud-treebanks-v2.2.tgz", release())
    done = headspan("data", "ud", path, "-o", tmp_path / "data", "--treebanks", "en_ewt")
    assert "en_ewt-ud-dev.conllu: 2 sentences, 4 words" in done.stdout
    assert "headspan: warning: " in done.stderr
    done = headspan("data", "ud", path, "-o", tmp_path / "data", code=1)
    assert "headspan: missing: no_bokmaal (UD_Norwegian-Bokmaal): has no train" in done.stderr
    assert "is not a folder" in headspan("data", "ptb", tmp_path / "x", code=2).stderr
    assert "has no file such as" in headspan("data", "ctb", tmp_path, code=2).stderr
    assert isinstance(
        next(conllu.read(tmp_path / "data/ud-2.2/en_ewt/en_ewt-ud-dev.conllu")), Sentence
    )
