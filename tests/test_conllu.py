import gzip
import io
import lzma
import pickle
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import conllu as independent
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import SHARED, shared
from headspan import HeadspanError, conllu
from headspan.conllu import NO_HEAD, ConlluError, EmptyNode, MultiwordToken, Sentence
from headspan.tree import NotProjective
from sentences import blocks

TREEBANKS = sorted(str(p.relative_to(SHARED)) for p in SHARED.glob("treebanks/*/*/*.conllu"))

DU = """\
# sent_id = s1
# text = Il parle du chat.
1\tIl\til\tPRON\t_\tPerson=3\t2\tnsubj\t2:nsubj|4.1:nsubj\t_
2\tparle\tparler\tVERB\t_\t_\t0\troot\t0:root\t_
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\tLang=fr
3\tde\tde\tADP\t_\t_\t5\tcase\t5:case\t_
4\tle\tle\tDET\t_\t_\t5\tdet\t5:det\t_
4.1\tgros\t_\tADJ\t_\t_\t_\t_\t5:amod\t_
5\tchat\tchat\tNOUN\t_\t_\t2\tobl\t2:obl\tSpaceAfter=No
6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t2:punct\t_

"""
WORD = "1\tHi\thi\tINTJ\tUH\t_\t0\troot\t_\t_"


def round_trip(data: bytes, **options: object) -> bytes:
    out = io.BytesIO()
    conllu.write(conllu.read(io.BytesIO(data), **options), out)  # type: ignore[arg-type]
    return out.getvalue()


@pytest.mark.parametrize("name", TREEBANKS or ["treebanks"])
def test_real_treebanks_are_written_back_byte_for_byte(name: str) -> None:
    data = shared(name).read_bytes()
    words = [line.split(b"\t") for line in data.splitlines() if line[:1].isdigit()]
    if all(len(set(columns)) == 1 for columns in words):
        pytest.skip(f"{name} is damaged: every column of every word holds its ID")
    assert round_trip(data) == data


@pytest.mark.parametrize("name", [n for n in TREEBANKS if "dev" in n] or ["treebanks"])
def test_real_treebanks_are_read_as_by_the_conllu_package(name: str) -> None:
    path = shared(name)
    theirs = independent.parse(path.read_text(encoding="utf-8"))
    for ours, their in zip(conllu.read(path), theirs, strict=True):
        words = [token for token in their if isinstance(token["id"], int)]
        assert list(ours.forms) == [w["form"] for w in words]
        assert list(ours.upos) == [w["upos"] for w in words]
        assert list(ours.heads) == [w["head"] for w in words]
        assert list(ours.deprels) == [w["deprel"] for w in words]
        ranges = [(t["id"][0], t["id"][2]) for t in their if not isinstance(t["id"], int)
                  and t["id"][1] == "-"]  # fmt: skip
        assert [(m.first, m.last) for m in ours.multiwords] == ranges
        assert ours.text == their.metadata["text"]
        assert ours.sent_id == their.metadata["sent_id"]


def test_a_sentence_holds_all_columns_and_lines() -> None:
    (sentence,) = conllu.parse(DU)
    assert len(sentence) == 6
    assert sentence.forms == ("Il", "parle", "de", "le", "chat", ".")
    assert sentence.heads == (2, 0, 5, 5, 2, 2)
    assert sentence.multiwords == (
        MultiwordToken(3, 4, ("du", "_", "_", "_", "_", "_", "_", "_", "Lang=fr")),
    )
    assert sentence.empty_nodes == (
        EmptyNode(4, 1, ("gros", "_", "ADJ", "_", "_", "_", "_", "5:amod", "_")),
    )
    assert sentence.enhanced[0] == (("2", "nsubj"), ("4.1", "nsubj"))
    assert [t.form for t in sentence.surface_tokens] == ["Il", "parle", "du", "chat", "."]
    assert sentence.sent_id == "s1"
    assert sentence.text == "Il parle du chat."
    assert conllu.to_text([sentence]) == DU
    assert conllu.to_text(conllu.parse(conllu.to_text([sentence, sentence]))) == DU + DU


def test_text_is_joined_from_tokens_if_there_is_no_comment() -> None:
    (sentence,) = conllu.parse(DU.replace("# text = Il parle du chat.\n", ""))
    assert sentence.text == "Il parle du chat."


LAYOUTS = {
    "nothing": "",
    "one line end": "\n",
    "blank lines": "\n\n\n",
    "a byte-order mark": "\ufeff",
    "a byte-order mark and blank lines": "\ufeff\n\n",
    "a byte-order mark and a sentence": "\ufeff" + DU,
    "comments only": "# just\n# comments\n",
    "comments only, closed": "# just\n# comments\n\n",
    "comments only, no line end": "# c",
    "comments between": DU + "# alone\n\n" + DU,
    "CRLF": DU.replace("\n", "\r\n"),
    "CRLF, no last line end": DU.replace("\n", "\r\n").rstrip(),
    "mixed line ends": DU.replace("_\n", "_\r\n", 2),
    "mixed line ends, none at last": DU.replace("_\n", "_\r\n", 2).rstrip("\n"),
    "CRLF and LF sentences": DU.replace("\n", "\r\n") + DU,
    "CRLF, cut in the middle of the last line end": DU.replace("\n", "\r\n").rstrip() + "\r",
    "a lone carriage return at last": DU.rstrip("\n") + "\r",
    "carriage returns inside": DU.replace("chat\t", "ch\rat\t"),
    "two carriage returns": DU.replace("\n", "\r\r\n").removesuffix("\r\r\n"),
    "no last line end": DU.rstrip("\n"),
    "no blank line at last": DU.removesuffix("\n"),
    "many blank lines": "\n\n" + DU + "\n\n" + DU + "\n",
    "spaces in form and lemma": WORD.replace("Hi", "10 000").replace("hi", "10 000") + "\n\n",
    "underscore as form": WORD.replace("Hi", "_").replace("hi", "_") + "\n\n",
    "a form that looks like a comment": WORD.replace("Hi", "#") + "\n\n",
    "other line separators": WORD.replace("Hi", "a\u2028b\x0bc\x85d") + "\n\n",
    "empty columns": "1\t\t\t\t\t\t0\t\t\t\n\n",
    "no heads": WORD.replace("\t0\troot", "\t_\t_") + "\n\n",
    "an empty node first": "0.1\te\t_\t_\t_\t_\t_\t_\t1:x\t_\n" + WORD + "\n\n",
    "comment without space": "#x\n#\n# a = b = c\n" + WORD + "\n\n",
}


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_unusual_but_valid_files_are_written_back_byte_for_byte(text: str) -> None:
    assert round_trip(text.encode()) == text.encode()
    assert conllu.to_text(conllu.parse(text)) == text
    target = io.StringIO(newline="")
    conllu.write(conllu.read(io.StringIO(text, newline="")), target)
    assert target.getvalue() == text


@given(st.data())
def test_random_files_are_written_back_byte_for_byte(data: st.DataObject) -> None:
    newline = st.sampled_from(["\n", "\r\n"])
    text = data.draw(st.sampled_from(["", "\ufeff"])) + data.draw(newline) * data.draw(
        st.integers(0, 2)
    )
    for lines in data.draw(st.lists(blocks(), max_size=3)):
        for line in lines:
            text += line + data.draw(newline)
        for _ in range(data.draw(st.integers(1, 3))):
            text += data.draw(newline)
    text = text[: len(text) - data.draw(st.integers(0, 3))]
    assert round_trip(text.encode(), format="conllu") == text.encode()


def test_sentences_of_different_files_make_one_valid_file() -> None:
    (last,) = conllu.parse("\ufeff" + DU.rstrip("\n"))
    (windows,) = conllu.parse(DU.replace("\n", "\r\n").rstrip())
    text = conllu.to_text([last, windows, last])
    assert text.count("\ufeff") == 1
    assert [s.forms for s in conllu.parse(text)] == [last.forms] * 3


def test_with_parse_and_with_tags_make_new_sentences() -> None:
    (sentence,) = conllu.parse(DU)
    parsed = sentence.with_parse([2, 0, 2, 2, 2, 2], ["dep"] * 6)
    assert parsed.heads == (2, 0, 2, 2, 2, 2)
    assert parsed.deprels == ("dep",) * 6
    assert sentence.heads == (2, 0, 5, 5, 2, 2)
    assert (parsed.multiwords, parsed.comments) == (sentence.multiwords, sentence.comments)
    tagged = sentence.with_tags(upos=["X"] * 6, feats=["_"] * 6)
    assert tagged.upos == ("X",) * 6
    assert tagged.lemmas == sentence.lemmas
    assert parsed != sentence == sentence.with_parse(sentence.heads, sentence.deprels)
    with pytest.raises(AttributeError):
        sentence.heads = ()  # type: ignore[misc]


def test_a_sentence_can_be_made_from_words() -> None:
    sentence = Sentence.from_words(["Time", "flies"], heads=[2, 0], deprels=["nsubj", "root"])
    assert conllu.to_text([sentence]) == (
        "1\tTime\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tflies\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    )
    assert Sentence.from_words(["a"]).heads == (NO_HEAD,)


def test_columns_become_tuples_of_plain_strings() -> None:
    sentence = Sentence.from_words(["a", "b"], heads=np.array([2, 0]), deprels=np.array(["x", "y"]))
    assert sentence.heads == (2, 0)
    assert [type(r) for r in sentence.deprels] == [str, str]
    assert hash(Sentence(*[["_"]] * 5, [0], *[["_"]] * 3))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.with_parse([2.5, 0, 5, 5, 2, 2], ["_"] * 6), "heads must be whole numbers"),
        (lambda s: s.with_parse(["2", 0, 5, 5, 2, 2], ["_"] * 6), "heads must be whole numbers"),
        (lambda s: s.with_tags(upos=[1] * 6), "upos of word 1 is 1; expected a string"),
        (lambda s: Sentence.from_words(["a"], deprels=[]), "0 deprels for a sentence of 1 words"),
        (lambda s: s.with_parse([7, 0, 0, 0, 0, 0], ["_"] * 6), "word 1 has head 7 in a sentence"),
        (lambda s: s.with_parse([0], ["_"]), "1 heads for a sentence of 6 words"),
        (lambda s: s.with_parse([0] * 6, ["_"]), "1 deprels for a sentence of 6 words"),
        (lambda s: s.with_tags(upos=["X"]), "1 upos for a sentence of 6 words"),
        (lambda s: Sentence((), (), (), (), (), (), (), (), ("_",)), "differ in length"),
    ],
)
def test_columns_that_do_not_fit_are_errors(change, message: str) -> None:  # type: ignore[no-untyped-def]
    (sentence,) = conllu.parse(DU)
    with pytest.raises(HeadspanError, match=message):
        change(sentence)


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        (Sentence.from_words(["a\tb"]), r"word 1 has a tab, line end or NUL in 'a\\tb'"),
        (Sentence.from_words(["a", "b\n"]), "word 2 has a tab"),
        (Sentence.from_words(["a"], comments=["text"]), "is not one line that starts with #"),
        (Sentence.from_words(["a"], comments=["# a\n1"]), "is not one line that starts with #"),
        (replace(Sentence.from_words(["a"]), heads=(9,)), "a head is outside the sentence of 1"),
        (replace(Sentence.from_words(["a"]), heads=(10**9,)), "a head is outside"),
        (Sentence.from_words(["\ud800"]), r"U\+D800 cannot be written"),
    ],
)
def test_sentences_that_could_not_be_read_again_are_not_written(
    sentence: Sentence, message: str, tmp_path: Path
) -> None:
    with pytest.raises(HeadspanError, match=message):
        conllu.write([Sentence.from_words(["fine"]), sentence], tmp_path / "out.conllu")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_compressed_files_are_written_and_recognised_by_content(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"a.conllu{suffix}"
    assert conllu.write(conllu.parse(DU + DU), path) == 2
    unpack = {"": bytes, ".gz": gzip.decompress, ".xz": lzma.decompress}[suffix]
    assert unpack(path.read_bytes()) == (DU + DU).encode()
    assert conllu.to_text(conllu.read(path)) == DU + DU
    with path.open("rb") as file:
        assert conllu.to_text(conllu.read(file)) == DU + DU
        assert not file.closed
    renamed = path.rename(tmp_path / "named-as-nothing")
    assert conllu.to_text(conllu.read(renamed)) == DU + DU


def test_open_files_are_read_and_left_open(tmp_path: Path) -> None:
    buffer = io.BytesIO(DU.encode())
    assert len(list(conllu.read(buffer))) == 1
    assert not buffer.closed
    path = tmp_path / "a.conllu"
    path.write_text(DU, encoding="utf-8")
    with path.open(encoding="utf-8") as text:
        assert len(list(conllu.read(text))) == 1
        assert not text.closed
    with path.open("rb") as binary:
        next(conllu.read(binary))
        assert not binary.closed


@pytest.mark.parametrize("packed", [False, True])
def test_a_dash_means_standard_input_and_output(packed: bool) -> None:
    code = "from headspan import conllu; conllu.write(conllu.read('-'), '-')"
    data = gzip.compress(DU.encode()) if packed else DU.encode()
    run = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True)
    assert run.stdout == DU.encode()


@pytest.mark.parametrize("make", [
    lambda: tempfile.NamedTemporaryFile("w+", encoding="utf-8"),
    lambda: tempfile.NamedTemporaryFile("w+b"),
    lambda: tempfile.SpooledTemporaryFile(mode="w+", encoding="utf-8"),
    lambda: tempfile.TemporaryFile("w+b"),
])  # fmt: skip
def test_temporary_files_can_be_written_and_read(make) -> None:  # type: ignore[no-untyped-def]
    with make() as file:
        conllu.write(conllu.parse(DU), file)
        file.seek(0)
        assert conllu.to_text(conllu.read(file)) == DU


def test_wrong_sources_and_formats_are_errors() -> None:
    for wrong in (None, b"path", 7):
        with pytest.raises(HeadspanError, match="expected a path or an open file"):
            conllu.read(wrong)  # type: ignore[arg-type]
    with pytest.raises(HeadspanError, match="use parse"):
        conllu.read(DU)
    with pytest.raises(HeadspanError, match="cannot be read"):
        conllu.read("a\0b")
    with pytest.raises(HeadspanError, match="format is 'CoNLL-X'; expected one of conllu, conllx"):
        conllu.parse(DU, format="CoNLL-X")  # type: ignore[arg-type]
    with pytest.raises(HeadspanError, match="format is 'xml'"):
        conllu.to_text([], format="xml")  # type: ignore[arg-type]


def test_reading_holds_one_sentence_at_a_time() -> None:
    """Endless input: a sentence comes out before the source ends."""

    def endless():  # type: ignore[no-untyped-def]
        while True:
            yield from DU.encode().splitlines(keepends=True)

    reader = conllu.Reader(endless(), name="endless")
    assert [next(reader).sent_id for _ in range(1000)] == ["s1"] * 1000


@pytest.mark.linux
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    code = """
import resource, sys
from headspan import conllu
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
conllu.write(conllu.read(sys.argv[1]), sys.argv[1] + ".small")
before = peak()
conllu.write((s for _ in range(3000) for s in conllu.read(sys.argv[1])), sys.argv[1] + ".big")
count = sum(len(s) for s in conllu.read(sys.argv[1] + ".big"))
print(count, peak() - before)
"""
    path = tmp_path / "a.conllu"
    path.write_text(DU * 20, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    words, grown = map(int, run.stdout.split())
    assert words == 3000 * 20 * 6
    assert Path(f"{path}.big").stat().st_size > 20_000_000
    assert grown < 4_000  # KiB


CONLLX = """\
1  The    the   DT DT _ 2 det   _ _
2  pound  pound NN NN _ 3 nsubj _ _
3  fell   fall  VB VBD _ 0 root _ _

1 Yes _ UH UH _ _ _ _ _

"""


def test_conllx_with_white_space_is_recognised() -> None:
    reader = conllu.parse(CONLLX)
    first, second = reader
    assert reader.format == "conllx"
    assert first.forms == ("The", "pound", "fell")
    assert first.heads == (2, 3, 0)
    assert (first.upos[2], first.xpos[2]) == ("VB", "VBD")
    assert second.heads == (NO_HEAD,)
    tabs = "\n".join("\t".join(line.split()) for line in CONLLX.split("\n"))
    assert conllu.to_text([first, second], format="conllx") == tabs
    assert conllu.to_text(conllu.parse(tabs, format="conllx"), format="conllx") == tabs


def test_conllx_keeps_its_projective_columns() -> None:
    text = "1\ta\t_\tN\tN\t_\t2\tx\t2\ta|b\n2\tb\t_\tN\tN\t_\t0\ty\t_\tr\n\n"
    reader = conllu.parse(text)
    (sentence,) = reader
    assert reader.format == "conllx"
    assert sentence.misc == ("PHEAD=2|PDEPREL=a|b", "PHEAD=_|PDEPREL=r")
    assert sentence.deps == ("_", "_")
    again = conllu.to_text(conllu.parse(conllu.to_text([sentence])), format="conllx")
    assert again == text


def test_conllx_leaves_out_what_it_cannot_hold() -> None:
    text = conllu.to_text(conllu.parse("# alone\n\n" + DU), format="conllx")
    assert [line.split("\t")[0] for line in text.splitlines()] == [*"123456", ""]
    assert all(line.endswith("\t_\t_") for line in text.splitlines() if line)


def test_the_file_name_decides_the_format_if_the_first_word_does_not(tmp_path: Path) -> None:
    for name, expected in [("a.conllx", "conllx"), ("a.conll.gz", "conllx"), ("a.txt", "conllu")]:
        conllu.write(conllu.parse(WORD + "\n\n"), tmp_path / name)
        reader = conllu.read(tmp_path / name)
        next(reader)
        assert reader.format == expected
    reader = conllu.parse(WORD.replace("\t_\t_", "\t0:root\t_"))
    next(reader)
    assert reader.format == "conllu"


def test_a_bad_first_sentence_does_not_decide_the_format() -> None:
    """One line with spaces instead of tabs, as from a paste, must not make a file CoNLL-X."""
    broken = DU.replace("\t", " ", 9)
    reader = conllu.parse(broken + DU, skip_bad=True)
    assert conllu.to_text(reader) == DU
    assert reader.skipped == 1
    reader = conllu.parse("what is this\n\n" + CONLLX, skip_bad=True)
    assert [s.forms[0] for s in reader] == ["The", "Yes"]
    assert reader.format == "conllx"


def test_conllx_with_tabs_is_split_only_at_tabs() -> None:
    with pytest.raises(conllu.ConlluError, match=r"9 columns .* \(the file was read as CoNLL-X\)"):
        list(conllu.parse("1\tNew York\tNY\tN\tN\t_\t0\troot\t_\n\n", format="conllx"))
    (sentence,) = conllu.parse("1 10\u00a0000 _ N N _ 0 root _ _\n\n")
    assert sentence.forms == ("10\u00a0000",)


def test_errors_can_be_pickled() -> None:
    error = conllu.ConlluError("f", 1, "a", "b")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line) == (str(error), 1)
    arc = pickle.loads(pickle.dumps(NotProjective((1, 2)))).arc
    assert arc == (1, 2)


def test_a_carriage_return_is_not_taken_for_a_line_end() -> None:
    (word,) = conllu.parse(WORD + "\n\n")
    for broken in (replace(word, misc=("a\r",)), replace(word, comments=("# a\r",))):
        with pytest.raises(HeadspanError, match="ends in a carriage return"):
            conllu.to_text([broken])
    with pytest.raises(HeadspanError, match="ends in a carriage return"):
        conllu.to_text([replace(word, misc=("PHEAD=0|PDEPREL=a\r",))], format="conllx")
    (windows,) = conllu.parse(WORD + "\r\n\r\n")  # such a line end is unambiguous
    unusual = replace(windows, misc=("a\r",))
    assert list(conllu.parse(conllu.to_text([unusual, word]))) == [unusual, word]


@given(st.lists(st.tuples(st.lists(blocks(), max_size=2), st.text("\n\r", max_size=4)), max_size=4))
def test_sentences_of_random_files_make_one_valid_file(
    files: list[tuple[list[list[str]], str]],
) -> None:
    sentences: list[Sentence] = []
    for sentence_lines, end in files:
        text = "\n\n".join(map("\n".join, sentence_lines)) + end
        try:
            sentences += conllu.parse(text, format="conllu")
        except ConlluError:  # a line of carriage returns
            continue
    again = conllu.parse(conllu.to_text(sentences), format="conllu")
    assert [s for s in again if len(s) or s.comments] == [
        s for s in sentences if len(s) or s.comments
    ]
