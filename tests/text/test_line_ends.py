"""Line ends: which of them can be seen, and what training makes of them."""

import random
import re
from collections.abc import Iterator

import pytest

from headspan.conllu import Sentence
from headspan.text.raw import Noise, Passage, passages
from headspan.text.stream import LINE_END, WRAPPED, mark_line_ends, windows

QUIET = {"joined": 0, "lower_case": 0, "upper_case": 0, "unpunctuated": 0, "typeset": 0}
NONE = {"wrapped": 0, "lines": 0, "listed": 0, "paragraph_lines": 0}


def test_a_line_end_is_wrapped_where_the_next_word_would_not_have_fitted() -> None:
    assert mark_line_ends("no line end") == "no line end"
    long = "a much longer line is here, and it goes on"
    assert (
        mark_line_ends(f"a short one\n{long}\nword") == f"a short one{LINE_END}{long}{WRAPPED}word"
    )
    prose = "The quick brown fox jumps over the lazy\ndog, who sleeps in the sun all day long,\nand so on."
    assert mark_line_ends(prose).count(WRAPPED) == 2
    assert WRAPPED not in mark_line_ends("Just landed\nSo cold here\nGood night")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", " \n  ", "\u2028"])
def test_line_ends_are_seen_if_the_segmenter_knows_them(end: str) -> None:
    text = f"one two{end}three\n\nfour"
    seen = [window.text for window in windows([text], line_ends=True)]
    assert [part.replace(WRAPPED, LINE_END) for part in seen] == ["one two\nthree", "four"]
    assert [window.text for window in windows([text], line_ends=False)] == ["one two three", "four"]


def test_a_core_ends_at_white_space_so_that_addresses_stay_whole() -> None:
    address = "https://example.com/" + "x" * 200
    text = "word " * 145 + address + " word" * 400
    for step in (1, 7, len(text)):
        pieces = [text[k : k + step] for k in range(0, len(text), step)]
        cores = [w.text[w.start : w.stop] for w in windows(pieces, line_ends=True)]
        assert "".join(cores) == text
        assert any(address in core for core in cores)


def treebank() -> Iterator[Sentence]:
    for number in range(40):
        comments = ["# newpar"] if number % 2 == 0 else []
        words = ["This", "is", "sentence", "number", str(number), "of", "the", "treebank", "."]
        yield Sentence.from_words(words, comments=comments)


def laid_out(**noise: float) -> list[Passage]:
    return list(
        passages(treebank(), noise=Noise(**{**QUIET, **NONE, **noise}), draw=random.Random(1))
    )


def check(found: list[Passage]) -> None:
    for passage in found:
        assert len(passage.ends) == len(passage.multiword)
        assert not any(passage.text[end].isspace() for end in passage.ends)
        assert set(passage.sentence_ends) <= set(passage.ends)


def test_wrapped_paragraphs_have_lines_of_at_most_ninety_characters() -> None:
    found = laid_out(wrapped=1)
    check(found)
    lines = [line for passage in found for line in passage.text.split("\n")]
    assert max(map(len, lines)) <= 90
    assert any("\n" in passage.text for passage in found)


def test_every_sentence_can_have_a_line_of_its_own() -> None:
    found = laid_out(lines=1)
    check(found)
    for passage in found:
        starts = [0, *(end + 2 for end in passage.sentence_ends[:-1])]
        ends = [end + 1 for end in passage.sentence_ends]
        expected = [passage.text[a:b] for a, b in zip(starts, ends, strict=True)]
        assert passage.text.split("\n") == expected


def test_lists_have_bullets_and_mostly_no_full_stop() -> None:
    found = laid_out(lines=1, listed=1)
    check(found)
    lines = [line for passage in found for line in passage.text.split("\n")]
    assert all(re.match(r"([-*•–o·]|\d+[.)]) This", line) for line in lines)
    assert 0.1 < sum(line.endswith(".") for line in lines) / len(lines) < 0.6


def test_every_paragraph_can_be_a_line() -> None:
    found = laid_out(paragraph_lines=1)
    check(found)
    for passage in found:
        assert all(line.count("This") == 2 for line in passage.text.split("\n"))
