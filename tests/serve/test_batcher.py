"""Requests share rounds, take turns, and do not spoil each other."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any

import pytest

from headspan import HeadspanError
from headspan.conllu import Sentence
from headspan.inference import Constraints
from headspan.model.parse_options import ParseOptions
from headspan.model.parse_result import Parse
from headspan.serve.batcher import BATCH, ROUND, TURN, Batcher, ParseJob, QueueFullError
from headspan.serve.work import Portion

from .serving import wait_until


class Recorder:
    """A stand-in for a parser: records its calls, and can be held up."""

    def __init__(self) -> None:
        self.calls: list[tuple[list[str], dict[str, Any]]] = []
        self.go = threading.Event()
        self.go.set()
        self.step = threading.Event()
        """Cleared to hold up the fourth call."""
        self.step.set()

    def parse(self, sentences: Sequence[Sentence], **options: Any) -> list[Parse]:
        self.calls.append(([s.forms[0] for s in sentences], options))
        assert self.go.wait(60)
        assert len(self.calls) != 4 or self.step.wait(60)
        if any("bad" in s.forms for s in sentences):
            raise HeadspanError("a bad word")
        if any("bug" in s.forms for s in sentences):
            raise ZeroDivisionError
        return [Parse.of(s.with_parse([0] * len(s), s.forms)) for s in sentences]


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def batcher(recorder: Recorder) -> Iterator[Batcher]:
    batcher = Batcher(recorder, limit=10_000)  # type: ignore[arg-type]
    yield batcher
    recorder.go.set()
    batcher.stop()


def job(name: str, sentences: int = 1, words: int = 8, **options: Any) -> ParseJob:
    drawn = [Sentence.from_words([f"{name}{k}", *["w"] * (words - 1)]) for k in range(sentences)]
    return ParseJob(portions(drawn), sentences * words, **options)


def portions(sentences: Iterable[Sentence]) -> Iterator[Portion]:
    return (Portion([(sentence, len(sentence))]) for sentence in sentences)


def held_up(batcher: Batcher, recorder: Recorder) -> None:
    """Keep the batcher busy with one sentence until `go` is set."""
    recorder.go.clear()
    batcher.submit(job("first"))
    wait_until(lambda: recorder.calls)


def test_parses_come_back_in_order(batcher: Batcher) -> None:
    parses = batcher.submit(job("a", 200)).result(60)
    assert [parse.forms[0] for parse in parses] == [f"a{k}" for k in range(200)]
    assert batcher.submit(ParseJob([], 0)).result(60) == []
    wait_until(lambda: batcher.waiting == 0)


def test_clients_share_a_round(batcher: Batcher, recorder: Recorder) -> None:
    held_up(batcher, recorder)
    jobs = [batcher.submit(job(name)) for name in "abcdefgh"]
    recorder.go.set()
    assert [j.result(60)[0].forms[0] for j in jobs] == [f"{name}0" for name in "abcdefgh"]
    assert len(recorder.calls) == 2


def test_a_huge_request_does_not_starve_a_small_one(batcher: Batcher, recorder: Recorder) -> None:
    held_up(batcher, recorder)
    huge = batcher.submit(job("huge", 800))
    small = batcher.submit(job("small"))
    recorder.go.set()
    small.result(60)
    huge.result(60)
    (turn,) = [k for k, (names, _) in enumerate(recorder.calls) if "small0" in names]
    assert turn == 1
    assert len(recorder.calls) >= 800 * 8 / (ROUND + TURN)
    assert all(len(names) * 8 <= ROUND + TURN for names, _ in recorder.calls)


def test_long_sentences_count_by_their_words(batcher: Batcher, recorder: Recorder) -> None:
    held_up(batcher, recorder)
    long = batcher.submit(job("long", 20, words=190))
    short = batcher.submit(job("short", 20, words=10))
    recorder.go.set()
    short.result(60)
    long.result(60)
    rounds = [names for names, _ in recorder.calls]
    (last,) = [k for k, names in enumerate(rounds) if "short19" in names]
    before = sum(name.startswith("long") for names in rounds[: last + 1] for name in names)
    assert before <= 4  # 200 short words have waited for about as many long ones, and a round


def test_turns_count_the_work_of_sentences(batcher: Batcher, recorder: Recorder) -> None:
    """20 costly words weigh as much as 2,000 ordinary ones."""
    held_up(batcher, recorder)
    costly = [(Sentence.from_words([f"costly{k}"]), 100) for k in range(20)]
    large = batcher.submit(ParseJob([Portion([one]) for one in costly], 2000))
    small = batcher.submit(job("small", 20, words=10))
    recorder.go.set()
    small.result(60)
    large.result(60)
    calls = [names for names, _ in recorder.calls]
    assert all(sum(name.startswith("costly") for name in names) <= BATCH // 100 for names in calls)
    (last,) = [k for k, names in enumerate(calls) if "small19" in names]
    before = sum(name.startswith("costly") for names in calls[: last + 1] for name in names)
    assert before <= 5


def test_finding_sentences_takes_turns(batcher: Batcher, recorder: Recorder) -> None:
    """A text in which no sentence ends does not keep others waiting."""
    found = 0

    def endless() -> Iterator[Portion]:
        nonlocal found
        while found < 100_000:
            found += 1
            yield Portion([], 16)

    held_up(batcher, recorder)
    text = batcher.submit(ParseJob(endless(), 1000))
    small = batcher.submit(job("small", 4, words=60))
    meanwhile: list[int] = []
    small.add_done_callback(lambda _: meanwhile.append(found))
    recorder.go.set()
    small.result(60)
    assert meanwhile[0] <= 4 * (ROUND + TURN) // 16
    assert text.cancel()
    wait_until(lambda: batcher.waiting == 0)
    assert found < 100_000


def test_a_newcomer_waits_for_a_batch_not_for_a_round(recorder: Recorder) -> None:
    batcher = Batcher(recorder, limit=10_000)  # type: ignore[arg-type]
    held_up(batcher, recorder)
    large = [batcher.submit(job(name, 20, words=60)) for name in "abcdefgh"]
    recorder.step.clear()
    recorder.go.set()
    wait_until(lambda: len(recorder.calls) == 4)  # the others have had their first turns
    small = batcher.submit(job("small"))
    recorder.step.set()
    small.result(60)
    (turn,) = [k for k, (names, _) in enumerate(recorder.calls) if "small0" in names]
    assert turn == 4
    for one in large:
        one.result(60)
    batcher.stop()


def test_a_bad_sentence_among_many_is_found_in_few_calls(
    batcher: Batcher, recorder: Recorder
) -> None:
    held_up(batcher, recorder)
    words = [["x"]] * 60 + [["bad"]]
    wrong = batcher.submit(ParseJob(portions(map(Sentence.from_words, words)), 61))
    recorder.go.set()
    with pytest.raises(HeadspanError, match="sentence 61: a bad word"):
        wrong.result(60)
    assert len(recorder.calls) <= 2 + 2 * 6


def test_options_and_constraints_divide_a_round(batcher: Batcher, recorder: Recorder) -> None:
    held_up(batcher, recorder)
    bound = {2: Constraints(required_arcs=[(1, 2)]), 3: Constraints(required_arcs=[(2, 1)])}
    jobs = [
        batcher.submit(job("a")),
        batcher.submit(job("b", options=ParseOptions(k=3))),
        batcher.submit(job("c", options=ParseOptions(k=3))),
        batcher.submit(job("d", 3, constraints=bound)),
    ]
    recorder.go.set()
    for submitted in jobs:
        submitted.result(60)
    plain = {"confidence": False, "k": 1, "constraints": None, "retag": False}
    assert recorder.calls[1:] == [
        (["a0", "d0"], plain),
        (["b0", "c0"], plain | {"k": 3}),
        (["d1", "d2"], plain | {"constraints": [bound[2], bound[3]]}),
    ]


@pytest.mark.parametrize(("word", "error"), [("bad", "sentence 2: a bad word"), ("bug", "^$")])
def test_only_the_request_with_the_bad_sentence_fails(
    batcher: Batcher, recorder: Recorder, word: str, error: str
) -> None:
    held_up(batcher, recorder)
    good = batcher.submit(job("good"))
    culprit = ParseJob(portions([Sentence.from_words(["x"]), Sentence.from_words([word])]), 2)
    wrong = batcher.submit(culprit)
    recorder.go.set()
    assert good.result(60)
    with pytest.raises((HeadspanError, ZeroDivisionError), match=error):
        wrong.result(60)
    assert batcher.submit(job("next")).result(60)


def test_an_error_while_sentences_are_drawn_fails_the_request(batcher: Batcher) -> None:
    def failing() -> Iterator[Sentence]:
        yield Sentence.from_words(["a"])
        raise HeadspanError("no more")

    with pytest.raises(HeadspanError, match="no more"):
        batcher.submit(ParseJob(portions(failing()), 5)).result(60)
    wait_until(lambda: batcher.waiting == 0)


def test_a_full_queue_refuses_until_there_is_room(batcher: Batcher, recorder: Recorder) -> None:
    held_up(batcher, recorder)
    first = batcher.submit(job("a", 1000))
    with pytest.raises(QueueFullError) as full:
        batcher.submit(job("b", 1000))
    assert full.value.seconds >= 1
    assert first.cancel()
    again = batcher.submit(job("b", 1000))
    recorder.go.set()
    assert len(again.result(60)) == 1000
    assert all(not name.startswith("a") for names, _ in recorder.calls for name in names)


def test_stopping_cancels_waiting_requests(recorder: Recorder) -> None:
    batcher = Batcher(recorder, limit=10_000)  # type: ignore[arg-type]
    held_up(batcher, recorder)
    waiting = batcher.submit(job("a"))
    threading.Timer(0.1, recorder.go.set).start()
    batcher.stop()
    with pytest.raises(CancelledError):
        waiting.result(60)
    with pytest.raises(QueueFullError):
        batcher.submit(job("b"))
