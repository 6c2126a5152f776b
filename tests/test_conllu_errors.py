import gzip
import io
import lzma
from pathlib import Path

import pytest

from headspan import HeadspanError, conllu
from headspan.conllu import ConlluError


def rows(*ids: str, head: str = "0") -> str:
    return "".join(f"{name}\ta\t_\t_\t_\t_\t{head}\t_\t_\t_\n" for name in ids) + "\n"


GOOD = rows("1")
BAD = {
    "too few columns": ("1\ta\t_\n\n", 1, "3 columns in '1\\ta\\t_'", "10 columns separated by tabs"),
    "too many columns": ("# c\n" + GOOD[:-2] + "\tx\n\n", 2, "11 columns", "10 columns"),
    "one column": ("hello\n\n", 1, "1 column in 'hello'", "10 columns"),
    "a space line": (GOOD[:-1] + " \n\n", 2, "a line of only white space", "ten columns, or an empty"),
    "a comment inside": (GOOD[:-1] + "# c\n\n", 2, "a comment after the first word", "comments only before"),
    "an ID out of order": (rows("1", "3"), 2, "the ID '3'", "the ID 2"),
    "an ID twice": (rows("1", "1"), 2, "the ID '1'", "the ID 2"),
    "an ID from 0": (rows("0"), 1, "the ID '0'", "the ID 1"),
    "an ID that is not a number": (rows("1", "x"), 2, "the ID 'x'", "the ID 2"),
    "an ID with a zero": (rows("01"), 1, "the ID '01'", "the ID 1"),
    "an ID in other digits": (rows("１"), 1, "the ID '１'", "the ID 1"),
    "a head that is not a number": (rows("1", head="x"), 1, "the head 'x' that is not a number", "0 to 1"),
    "a negative head": (rows("1", head="-1"), 1, "the head '-1' that is not a number", "0 to 1, or _"),
    "a padded head": (rows("1", head="00"), 1, "the head '00' that is not a number", "0 to 1"),
    "an empty head": (rows("1", head=""), 1, "the head ''", "0 to 1"),
    "a head outside": (rows("1", head="2"), 1, "the head '2' outside the sentence", "0 to 1"),
    "a head far outside": (rows("1", head="9" * 5000), 1, "outside the sentence", "0 to 1"),
    "overlapping ranges": (rows("1-2", "1", "2-3", "2", "3"), 3, "the range 2-3", "overlap the range 1-2"),
    "a range inside another": (rows("1-3", "1", "2-3", "2", "3"), 3, "the range 2-3", "overlap"),
    "a range twice": (rows("1-2", "1-2", "1", "2"), 2, "the ID '1-2'", "the ID 1"),
    "a range too early": (rows("2-3", "1", "2", "3"), 1, "the range 2-3", "one that starts at 1"),
    "a range backwards": (rows("1", "2-1", "2"), 2, "the range 2-1", "ends at 2 or later"),
    "a range over the end": (rows("1", "2-4", "2", "3"), 2, "the range 2-4", "one that ends at 3 or before"),
    "a range of nothing": (rows("1", "2-3"), 2, "the range 2-3", "one that ends at 1 or before"),
    "an empty node too early": (rows("1.1", "1"), 1, "the empty node 1.1", "0.1"),
    "an empty node skipped": (rows("1", "1.2"), 2, "the empty node 1.2", "1.1"),
    "an empty node after a range": (rows("1", "2-3", "1.1", "2", "3"), 3, "the ID '1.1'", "the ID 2"),
    "head outside after ranges": (rows("1-2", "1", "2", head="9"), 2, "the head '9' outside", "0 to 2"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "found", "expected"), BAD.values(), ids=BAD.keys())
def test_an_error_names_file_line_problem_and_expectation(
    text: str, line: int, found: str, expected: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.conllu"
    path.write_bytes((GOOD + text + GOOD).encode())
    reader = conllu.read(path, format="conllu")
    next(reader)
    with pytest.raises(ConlluError) as caught:
        list(reader)
    error = caught.value
    assert isinstance(error, HeadspanError)
    assert (error.file, error.line) == (str(path), line + 2)
    assert found in error.found
    assert expected in error.expected
    assert str(error) == f"{path}:{line + 2}: found {error.found}; expected {error.expected}"
    assert len(str(error).removeprefix(str(path))) < 200


@pytest.mark.parametrize(("text", "line", "found", "expected"), BAD.values(), ids=BAD.keys())
def test_bad_sentences_can_be_skipped(text: str, line: int, found: str, expected: str) -> None:
    reader = conllu.parse(GOOD + text + GOOD + text, format="conllu", skip_bad=True)
    assert [s.forms for s in reader] == [("a",), ("a",)]
    assert reader.skipped == len(reader.errors) == 2
    assert reader.errors[0].line == line + 2
    assert found in str(reader.errors[0])
    assert expected in str(reader.errors[1])


@pytest.mark.parametrize(
    ("middle", "found"),
    [
        (b"\xff", "the byte 0xff, which is not UTF-8"),
        (b"\xc3", "the byte 0xc3"),
        (b"\xed\xa0\x80", "the byte 0xed"),  # a lone surrogate
        (b"\0", "a NUL byte"),
    ],
)
def test_bytes_that_are_not_text_are_errors(middle: bytes, found: str) -> None:
    bad = b"# fine\n" + rows("1").encode().replace(b"a", b"a" + middle)
    data = GOOD.encode() + bad + GOOD.encode()
    with pytest.raises(ConlluError, match="input:4") as caught:
        list(conllu.read(io.BytesIO(data)))
    assert found in caught.value.found
    reader = conllu.read(io.BytesIO(data), skip_bad=True)
    assert len(list(reader)) == 2
    assert reader.skipped == 1


def test_only_the_first_errors_are_kept() -> None:
    reader = conllu.parse("bad\n\n" * 1000 + GOOD, skip_bad=True)
    assert len(list(reader)) == 1
    assert reader.skipped == 1000
    assert len(reader.errors) == 100


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_truncated_archive_is_an_error_even_when_skipping(pack) -> None:  # type: ignore[no-untyped-def]
    data = pack((GOOD * 1000).encode())
    for cut in (data[: len(data) // 2], data[:-4], data[:20] + b"junk" + data[24:]):
        with pytest.raises(ConlluError, match="complete file"):
            list(conllu.read(io.BytesIO(cut), skip_bad=True))


def test_text_in_another_encoding_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "latin"
    path.write_text(GOOD.replace("a", "ä"), encoding="latin-1")
    with pytest.raises(ConlluError, match="0xe4"):
        list(conllu.read(path))
    with path.open(encoding="utf-8") as file, pytest.raises(ConlluError, match="not UTF-8"):
        list(conllu.read(file))
    reader = conllu.parse(GOOD + GOOD.replace("a", "\ud800") + GOOD, skip_bad=True)
    assert len(list(reader)) == 2
    assert reader.errors[0].line == 3
    path.write_text(GOOD, encoding="utf-16")
    with pytest.raises(ConlluError, match="NUL"):
        list(conllu.read(path))


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HeadspanError, match=r"nowhere.conllu: cannot be read: no such file"):
        conllu.read(tmp_path / "nowhere.conllu")
    with pytest.raises(HeadspanError, match="is a directory"):
        conllu.read(tmp_path)


def test_errors_in_conllx() -> None:
    with pytest.raises(ConlluError, match=r"text:2: found the ID '3'; expected the ID 2"):
        list(conllu.parse("1 a _ N N _ 0 r _ _\n3 b _ N N _ 1 r _ _\n\n"))
    with pytest.raises(ConlluError, match=r"9 columns.*separated by spaces or tabs"):
        list(conllu.parse("1 a _ N N _ 0 r _ _\n2 b _ N N _ 1 r _\n\n"))
    with pytest.raises(ConlluError, match="the ID '1-2'"):
        list(conllu.parse(rows("1-2", "1", "2"), format="conllx"))


def test_a_projective_head_is_written_back_or_an_error() -> None:
    row = "1\ta\t_\tN\tN\t_\t0\troot\t{}\troot|PDEPREL=x\n\n"
    good = row.format("0")
    assert conllu.to_text(conllu.parse(good, format="conllx"), format="conllx") == good
    with pytest.raises(ConlluError, match=r"the PHEAD '0\|PDEPREL=y'; expected a number, or _"):
        list(conllu.parse(row.format("0|PDEPREL=y"), format="conllx"))
