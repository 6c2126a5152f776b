"""A better model from confirmed sentences, in the background."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import headspan
from headspan import conllu
from headspan.annotate import ConfirmSentence, Session, SetRelation, fine_tuning
from headspan.annotate.fine_tuning import fine_tune, improve
from headspan.annotate.retraining import Retraining
from headspan.conllu import Sentence
from headspan.model.folder import find_model
from headspan.model.parse_result import Parse
from headspan.model.parser import Parser
from headspan.plumbing.errors import HeadspanError
from headspan.render.curve import curve_svg
from headspan.scoring import Evaluation, score

WORDS = "Dogs bark at cats .".split()
ODD = Sentence.from_words(
    WORDS, heads=[2, 0, 2, 3, 2], deprels=["nsubj", "root", "obl", "obj", "punct"]
)


def test_a_parser_learns_what_is_confirmed_and_only_what_it_can() -> None:
    parser = headspan.load("en-fast")
    assert parser.parse_words(WORDS).heads != ODD.heads
    foreign = ODD.with_parse(ODD.heads, ["mine", "root", "obl", "obj", "punct"])
    with pytest.raises(HeadspanError, match="no confirmed sentence has only relations"):
        fine_tune(parser, [foreign])
    assert improve(parser, [ODD, foreign] * 10)
    assert parser.parse_words(WORDS).heads == ODD.heads
    assert not improve(parser, [ODD] * 5)  # it cannot become better


@pytest.mark.parametrize("count", [1, 2, 4, 5, 6, 11])
def test_no_sentence_is_both_trained_on_and_held_out(
    count: int, fast: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = [replace(ODD, comments=(f"# sent_id = {k}",)) for k in range(count)]
    trained, held_out = list[Sentence](), set[str | None]()

    def scored(gold: Sequence[Sentence], system: Sequence[Parse]) -> Evaluation:
        held_out.update(sentence.sent_id for sentence in gold)
        return score(gold, system)

    monkeypatch.setattr(fine_tuning, "score", scored)
    monkeypatch.setattr(fine_tuning, "fine_tune", lambda _, own: trained.extend(own))
    assert not improve(fast, sentences)
    own = {sentence.sent_id for sentence in trained}
    assert not own & held_out
    assert len(own) + len(held_out) == (count if count > 1 else 0)
    assert bool(own) == bool(held_out) == (count > 1)


def test_a_session_goes_on_with_the_better_model(session: Callable[..., Session]) -> None:
    work = session(conllu.to_text([ODD] * 12), name="odd.conllu")
    before = work.assistant.parser
    retraining = Retraining(work, find_model("en-fast"), every=10)
    never = threading.Event()
    assert not retraining.step(never)  # nothing is confirmed
    for number in range(1, 11):
        work.do(ConfirmSentence(number))
    assert retraining.step(never)
    assert work.assistant.parser is not before
    assert retraining.message == "The model has learned from 10 sentences."
    assert not retraining.step(never)  # nothing new
    assert work.assistant.parser.parse_words(WORDS).heads == ODD.heads


def test_a_training_that_fails_says_so_and_the_old_model_stays(
    session: Callable[..., Session], tmp_path: Path
) -> None:
    work = session()
    before = work.assistant.parser
    retraining = Retraining(work, tmp_path / "no model", every=1)
    work.do(SetRelation(1, word=1, relation="nsubj"))
    work.do(ConfirmSentence(1))
    assert not retraining.step(threading.Event())
    assert "Training failed" in retraining.message
    assert work.assistant.parser is before
    assert conllu.to_text(work.sentences).count("# confirmed_by = anna") == 1


def test_without_torch_retraining_names_its_extra(
    session: Callable[..., Session], uninstall: Callable[[str], None]
) -> None:
    work = session()
    uninstall("torch")
    with pytest.raises(
        HeadspanError, match=r"--retrain needs torch, which is not installed.*headspan\[train\]"
    ):
        Retraining(work, "en-fast", every=2)


def test_the_curve_is_a_drawing() -> None:
    svg = ElementTree.fromstring(curve_svg([4, 2, 0], title="Corrections", window=2))
    (line,) = svg.iter("{http://www.w3.org/2000/svg}polyline")
    heights = [float(point.split(",")[1]) for point in line.attrib["points"].split()]
    assert heights == sorted(heights)  # 4, then 3, then 1: lower is further down
    assert curve_svg([1], title="One", window=10).startswith("<svg")
