"""A session over a file: saving, crashes, undoing, order, filters, agreement, validation."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pytest

from headspan import conllu
from headspan.annotate import (
    ConfirmArc,
    ConfirmSentence,
    JoinSentences,
    Session,
    SetColumn,
    SetHead,
    SetRelation,
    SplitSentence,
    SplitWord,
    journal,
    validation,
)
from headspan.annotate.agreement import OtherAnnotator, agreement, cohens_kappa
from headspan.annotate.annotation import StaleError
from headspan.annotate.journal import Journal
from headspan.annotate.validation import Lists, official, problems
from headspan.annotate.work_order import Filters
from headspan.conllu import Sentence
from headspan.model.parser import Parser
from headspan.plumbing.errors import HeadspanError

from .conftest import TELESCOPE
from .test_operations import RICH

Opened = Callable[..., Session]
ODD = "\ufeff\n" + RICH.replace("\n", "\r\n") + "# only a comment\r\n\r\n\r\n" + RICH.rstrip("\n")
"""Mixed line ends, a byte-order mark, a block without words, no line end at the end."""


def test_what_was_not_touched_is_written_byte_for_byte(session: Opened, tmp_path: Path) -> None:
    work = session(ODD, name="odd.conllu")
    assert (tmp_path / "odd.annotated.conllu").read_bytes() == ODD.encode()
    work.do(SetHead(1, word=10, head=3))
    work.do(SetRelation(1, word=10, relation="obl"))
    work.close()
    written = (tmp_path / "odd.annotated.conllu").read_bytes().decode()
    assert (tmp_path / "odd.conllu").read_bytes() == ODD.encode()  # the input is as it was
    changed = [
        (old, new)
        for old, new in zip(ODD.split("\n"), written.split("\n"), strict=True)
        if old != new
    ]
    assert changed == [
        (
            "10\tjour\tjour\tNOUN\tNN\t_\t7\tobj\t6.1:dep|7:obj\tSpaceAfter=No\r",
            "10\tjour\tjour\tNOUN\tNN\t_\t3\tobl\t6.1:dep|7:obj\t"
            "SpaceAfter=No|HeadBy=anna|RelationBy=anna\r",
        )
    ]


def test_undo_and_redo_have_no_end(session: Opened) -> None:
    work = session(RICH + RICH.replace("= x", "= y"), name="two.conllu")
    states = [conllu.to_text(work.sentences)]
    for operation in (
        SetHead(1, word=10, head=3),
        SetColumn(2, word=1, column="upos", value="X"),
        SplitWord(1, word=2, forms=("can", "not")),
        SplitSentence(1, word=5),
        ConfirmSentence(2),
        JoinSentences(2),
        ConfirmArc(2, word=3),
    ):
        work.do(operation)
        states.append(conllu.to_text(work.sentences))
    assert len(set(states)) == len(states)
    for _ in range(2):
        for state in reversed(states[:-1]):
            work.undo()
            assert conllu.to_text(work.sentences) == state
        with pytest.raises(HeadspanError, match="nothing to undo"):
            work.undo()
        for state in states[1:]:
            work.redo()
            assert conllu.to_text(work.sentences) == state
        with pytest.raises(HeadspanError, match="nothing to redo"):
            work.redo()
    work.undo()
    work.do(ConfirmArc(1, word=1))
    assert not work.can_redo


def test_a_session_is_resumed_where_it_was_left(session: Opened, tmp_path: Path) -> None:
    work = session()
    work.do(SetHead(1, word=7, head=2))
    work.do(ConfirmSentence(2))
    work.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.annotated.conllu", "in.txt"]
    again = session()
    assert again.view(1).sentence.heads[6] == 2
    assert again.view(1).parses_along
    assert again.view(1).confirmed.heads == {7: 2}
    assert again.progress().confirmed == 1
    assert not again.can_undo


def test_a_crash_loses_nothing_and_keeps_the_history(session: Opened, tmp_path: Path) -> None:
    output = tmp_path / "in.annotated.conllu"
    work = session()
    start = output.read_bytes()
    work.do(SetHead(1, word=7, head=2))
    work.save()
    saved = output.read_bytes()
    work.do(ConfirmSentence(2))
    work.undo()
    work.do(ConfirmSentence(3))
    expected = conllu.to_text(work.sentences)
    work.abandon()  # as after kill -9: the journal is there, and the output is older
    assert output.read_bytes() == saved != start
    again = session()
    assert conllu.to_text(again.sentences) == expected
    assert again.unsaved
    again.undo()
    again.undo()
    assert conllu.to_text(again.sentences).encode() == start
    again.redo()
    assert conllu.to_text(again.sentences).encode() == saved
    again.close()
    assert output.read_bytes() == saved


@pytest.mark.parametrize("cut", [1, 20, 70])
def test_half_a_line_at_the_end_of_the_journal_was_never_shown_as_saved(
    session: Opened, tmp_path: Path, cut: int
) -> None:
    work = session()
    work.do(SetHead(1, word=7, head=2))
    expected = conllu.to_text(work.sentences)
    journal = tmp_path / "in.annotated.conllu.journal"
    kept = journal.read_bytes()
    work.do(ConfirmSentence(2))
    work.abandon()
    added = journal.read_bytes()[len(kept) :]
    journal.write_bytes(kept + added[:-cut])
    assert conllu.to_text(session().sentences) == expected


def test_an_output_between_two_states_belongs_to_its_journal(
    session: Opened, tmp_path: Path
) -> None:
    """A crash may come after the output was announced, and before or after it was written."""
    output = tmp_path / "in.annotated.conllu"
    start = session().output.read_bytes()
    (tmp_path / "in.annotated.conllu.journal").unlink()
    output.unlink()
    work = session()
    work.do(ConfirmSentence(2))
    expected = conllu.to_text(work.sentences)
    work.save()
    work.abandon()
    written = output.read_bytes()
    output.write_bytes(start)  # announced, but not written
    again = session()
    assert conllu.to_text(again.sentences) == expected
    again.abandon()
    output.write_bytes(written)
    assert conllu.to_text(session().sentences) == expected


def test_other_programs_are_noticed(session: Opened, tmp_path: Path) -> None:
    output = tmp_path / "in.annotated.conllu"
    work = session()
    with pytest.raises(HeadspanError, match="another `headspan annotate` is working on it"):
        session()
    work.do(ConfirmSentence(2))
    output.write_bytes(output.read_bytes() + b"# mine\n\n")
    with pytest.raises(HeadspanError, match="was changed by another program; your work is in"):
        work.save()
    assert output.read_bytes().endswith(b"# mine\n\n")
    work.abandon()
    with pytest.raises(HeadspanError, match=r"is not the file that .* belongs to"):
        session()
    assert (tmp_path / "in.annotated.conllu.journal").exists()


def test_a_link_to_an_output_does_not_admit_a_second_writer(
    session: Opened, tmp_path: Path
) -> None:
    (tmp_path / "link.conllu").symlink_to("real.conllu")
    work = session(output=tmp_path / "real.conllu")
    with pytest.raises(HeadspanError, match=r"link\.conllu: another `headspan annotate`"):
        session(output=tmp_path / "link.conllu")
    work.close()
    session(output=tmp_path / "link.conllu").close()
    assert (tmp_path / "link.conllu").is_symlink()
    assert not list(tmp_path.glob("*.journal"))


def test_a_journal_that_was_removed_before_it_was_locked_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out.conllu"
    output.write_text(RICH)
    last = Journal(output)
    lock = journal.fcntl.flock

    def late(file: BinaryIO, how: int) -> None:
        monkeypatch.setattr(journal.fcntl, "flock", lock)
        last.remove()
        lock(file, how)

    monkeypatch.setattr(journal.fcntl, "flock", late)
    mine = Journal(output)
    with pytest.raises(HeadspanError, match="another `headspan annotate`"):
        Journal(output)
    mine.remove()


def test_a_change_for_an_older_state_is_refused(session: Opened) -> None:
    work = session()
    seen = work.revision
    work.do(ConfirmSentence(2), revision=seen)
    for action in (
        lambda: work.do(ConfirmSentence(1), revision=seen),
        lambda: work.undo(revision=seen),
    ):
        with pytest.raises(StaleError, match="another window has changed the file"):
            action()
    assert work.progress().confirmed == 1


def test_only_files_that_were_named_are_written(session: Opened, tmp_path: Path) -> None:
    session(RICH, name="a.conllu", output=tmp_path / "other.conllu").close()
    assert not (tmp_path / "a.annotated.conllu").exists()
    (tmp_path / "b.conllu").write_text(RICH)
    work = session(RICH, name="b.conllu", output=tmp_path / "b.conllu")  # told so
    work.do(ConfirmSentence(1))
    work.close()
    assert "# confirmed_by = anna" in (tmp_path / "b.conllu").read_text()
    (tmp_path / "c.txt").write_text("Hello.")
    with pytest.raises(HeadspanError, match="is text; expected another file"):
        session(name="c.txt", output=tmp_path / "c.txt")
    with pytest.raises(HeadspanError, match="its text is not that of"):
        session("Quite another text.", name="d.txt", output=tmp_path / "b.conllu")
    with pytest.raises(HeadspanError, match="has no sentences"):
        session("# nothing\n\n", name="e.conllu")
    with pytest.raises(HeadspanError, match="cannot be read"):
        Session.open(tmp_path / "none.conllu", work.assistant.parser, annotator="anna")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    with pytest.raises(HeadspanError, match=r"latin\.txt: is not UTF-8: the byte 0xe9 is invalid"):
        Session.open(tmp_path / "latin.txt", work.assistant.parser, annotator="anna")
    with pytest.raises(HeadspanError, match="is a folder"):
        session("Hi.", name="f.txt", output=tmp_path)
    with pytest.raises(HeadspanError, match="is compressed"):
        session("Hi.", name="f.txt", output=tmp_path / "f.gz")
    with pytest.raises(HeadspanError, match="the annotator is 'a b'"):
        session("Hi.", name="g.txt", annotator="a b")
    assert {path.name for path in tmp_path.iterdir()} == {
        "a.conllu", "other.conllu", "b.conllu", "c.txt", "d.txt", "e.conllu", "f.txt", "g.txt",
        "latin.txt",
    }  # fmt: skip
    assert not any(path.name.startswith(".headspan") for path in tmp_path.iterdir())


KILLED = """
import sys, headspan
from headspan.annotate import ConfirmSentence, Session, SetHead
session = Session.open(sys.argv[1], headspan.load("en-fast"), annotator="anna")
for number, (word, head) in enumerate([(7, 2), (4, 7), (1, 3), (5, 6)] * 50, 1):
    session.do(SetHead(1, word=word, head=head))
    if number % 3 == 0:
        session.save()
    print(number, flush=True)
"""


def test_kill_9_loses_nothing_that_was_shown_as_saved(tmp_path: Path, fast: Parser) -> None:
    path = tmp_path / "text.txt"
    path.write_text(TELESCOPE)
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    shown = 0
    for line in process.stdout:
        shown = int(line)
        if shown == 17:
            os.kill(process.pid, signal.SIGKILL)
            break
    shown = max([shown, *map(int, process.stdout.read().split())])  # what was on its way
    process.stdout.close()
    process.wait()
    session = Session.open(path, fast, annotator="anna")
    done = 0
    while session.can_undo:
        session.undo()
        done += 1
    assert shown <= done <= shown + 1
    session.abandon()


def test_the_least_certain_come_first(session: Opened) -> None:
    text = "Dogs bark. She saw the man with the telescope. It rains."
    work = session(text, name="order.txt")
    assert work.numbers() == [1, 2, 3]
    assert work.progress().looked_at == 0
    while work.look_at_next():
        pass
    assert work.progress().looked_at == 3
    assert work.numbers("confidence")[0] == 2
    assert work.numbers("entropy")[0] == 2
    entry = work.entry(2)
    assert entry.weakest == 7
    for k in range(1, 9):
        work.do(ConfirmArc(2, word=k))
    while work.look_at_next():
        pass
    assert work.entry(2).lowest == 1
    assert work.numbers("confidence")[-1] == 2


def test_filters_choose_sentences(session: Opened) -> None:
    work = session()
    while work.look_at_next():
        pass
    assert work.numbers(filters=Filters(relation="obj")) == [1]
    assert work.numbers(filters=Filters(relation="nsubj:pass")) == []
    assert work.numbers(filters=Filters(tag="AUX")) == [2]
    assert work.numbers(filters=Filters(tag="NN"))[0] == 1
    assert work.numbers(filters=Filters(word="TIME")) == [3]
    assert work.numbers(filters=Filters(word="see")) == [1]  # the lemma
    work.do(ConfirmSentence(2))
    assert work.numbers(filters=Filters(unconfirmed=True)) == [1, 3]
    assert work.numbers(filters=Filters(unconfirmed=True, word="arrow")) == [3]


def test_corrections_are_counted_against_the_first_proposal(session: Opened) -> None:
    work = session()
    work.view(1)
    work.do(SetHead(1, word=7, head=2))
    work.do(ConfirmSentence(1))
    work.view(2)
    work.do(ConfirmSentence(2))
    assert work.progress().corrections == [1, 0]


def test_agreement_with_a_second_annotator(session: Opened, tmp_path: Path) -> None:
    other = RICH.replace(
        "10\tjour\tjour\tNOUN\tNN\t_\t7\tobj", "10\tjour\tjour\tNOUN\tNN\t_\t3\tobj"
    )
    other = other.replace(
        "1\tSue\tSue\tPROPN\tNNP\t_\t3\tnsubj", "1\tSue\tSue\tPROPN\tNNP\t_\t3\tcsubj"
    )
    (tmp_path / "other.conllu").write_text(other)
    work = session(RICH, name="mine.conllu", against=tmp_path / "other.conllu")
    found = work.agreement()
    assert found is not None
    assert (found.sentences, found.words, found.differing) == (1, 11, 0)
    assert found.uas == pytest.approx(10 / 11)
    assert found.las == pytest.approx(9 / 11)
    relations = {"nsubj": (2, 1), "csubj": (0, 1), "punct": (2, 2)}
    chance = (sum(a * b for a, b in relations.values()) + 7) / 121  # seven others, once each
    assert found.kappa == pytest.approx((10 / 11 - chance) / (1 - chance))
    theirs = work.view(1).other
    assert theirs is not None
    assert theirs.heads[9] == 3
    assert work.agreement() is found  # it is computed once per revision
    work.do(SetHead(1, word=10, head=3))
    again = work.agreement()
    assert again is not None
    assert again.uas == 1


def test_kappa_is_that_of_the_definition() -> None:
    assert cohens_kappa([("a", "a"), ("b", "b")]) == 1
    assert cohens_kappa([("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")]) == 0
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert cohens_kappa(pairs) == pytest.approx(0.4)  # a textbook example
    assert str(cohens_kappa([("a", "a")])) == str(cohens_kappa([])) == "nan"


def test_other_words_are_not_compared() -> None:
    mine = next(iter(conllu.parse(RICH)))
    theirs = replace(mine, forms=("Su", *mine.forms[1:]))
    found = agreement([mine], OtherAnnotator([theirs], "theirs"))
    assert (found.sentences, found.differing) == (0, 1)
    bare = Sentence.from_words(["a"], heads=[0], deprels=["root"])
    assert agreement([bare], OtherAnnotator([bare], "theirs")).uas == 1
    assert agreement([bare], OtherAnnotator([bare, bare], "theirs")).sentences == 0  # which one?


def test_problems_are_found(fast: Parser) -> None:
    good = next(iter(conllu.parse(RICH)))
    lists = Lists([good])
    assert problems(good, lists) == []

    def found(**columns: object) -> list[tuple[int, str]]:
        return [(p.word, p.message) for p in problems(replace(good, **columns), lists)]

    def other(name: str, word: int, value: object) -> dict[str, tuple[object, ...]]:
        old = getattr(good, name)
        return {name: (*old[: word - 1], value, *old[word:])}

    assert found(**other("heads", 1, 0)) == [(0, "there is more than one root: words 1 and 3")]
    assert found(**other("heads", 3, 7)) == [
        (0, "there is a cycle: word 3 under word 7 under word 3")
    ]
    assert found(**other("heads", 5, -1)) == [(5, "has no head")]
    assert found(**other("deprels", 3, "dep"))[0] == (3, "is the root, and its relation is dep")
    assert found(**other("deprels", 1, "root")) == [
        (1, "is not the root, and its relation is root")
    ]
    assert found(**other("deprels", 1, "flat")) == [
        (1, "flat leads from left to right, but its head is word 3"),
        (1, "the treebank has no relation flat"),
    ]
    assert found(**other("upos", 1, "NAME")) == [(1, "NAME is not a universal tag")]
    assert found(**other("upos", 9, "NOUN")) == [(9, "is det, and its tag is NOUN")]
    assert found(**other("deprels", 11, "conj")) == [(11, "is PUNCT, and its relation is conj")]
    assert found(**other("heads", 1, 4)) == [(1, "depends as nsubj on a word that is punct")]
    assert found(**other("feats", 1, "B=1|A=1")) == [
        (1, "its features are not in order, or one is there twice")
    ]
    assert found(**other("forms", 1, "Su")) == [
        (0, "the words do not spell the text of the sentence")
    ]
    featured = Lists([replace(good, **other("feats", 1, "A=1"))])  # type: ignore[arg-type]
    (problem,) = problems(replace(good, **other("feats", 1, "A=2")), featured)  # type: ignore[arg-type]
    assert (problem.word, problem.message) == (1, "the treebank has no feature A=2")
    assert not problem.certain


def test_lists_offer_what_was_used_but_do_not_know_it() -> None:
    good = next(iter(conllu.parse(RICH)))
    lists = Lists([good])
    assert lists.values("deprels")[:2] == ["nsubj", "punct"]
    lists.use(replace(good, deprels=("mine",) * 11))
    assert lists.values("deprels")[0] == "mine"
    assert not lists.knows("deprels", "mine")
    lists.offer("deprels", ["mine"])
    assert lists.knows("deprels", "mine")


def test_the_official_validator_runs_as_a_program() -> None:
    pytest.importorskip("udtools")
    good = next(iter(conllu.parse(RICH)))
    lines = official([replace(good, upos=("NAME", *good.upos[1:]))], "ud")
    assert any("NAME" in line for line in lines)


def test_the_official_validator_reads_utf_8_in_any_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("udtools")
    for name, value in (("LC_ALL", "C"), ("PYTHONUTF8", "0"), ("PYTHONCOERCECLOCALE", "0")):
        monkeypatch.setenv(name, value)
    good = next(iter(conllu.parse(RICH)))
    lines = official([replace(good, upos=("NÄME", *good.upos[1:]))], "ud")
    assert any("NÄME" in line for line in lines)


def test_an_official_validator_that_takes_too_long_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("udtools")
    monkeypatch.setattr(validation, "_SECONDS", 0.01)
    with pytest.raises(HeadspanError, match=r"udtools has not finished within 0\.01 seconds"):
        official(list(conllu.parse(RICH)), "ud")


def test_a_sentence_that_is_too_long_can_be_read_and_divided(session: Opened) -> None:
    words = ["word"] * 401
    work = session(conllu.to_text([Sentence.from_words(words)]), name="long.conllu")
    assert work.view(1).opinion is None
    assert not work.alternatives(1)
    with pytest.raises(HeadspanError, match="401 words"):
        work.do(SetHead(1, word=1, head=2))
    work.do(SplitSentence(1, word=200))
    assert [len(sentence) for sentence in work.sentences] == [200, 201]
    assert work.view(1).opinion is not None


def test_certainty_is_found_out_again_with_another_parser(session: Opened, fast: Parser) -> None:
    work = session()
    work.do(ConfirmSentence(2))
    while work.look_at_next():
        pass
    work.learn(fast)
    assert work.entry(1).lowest is None
    assert work.entry(2).lowest == 1
    assert work.view(1).opinion is not None
