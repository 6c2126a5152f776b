"""The embedded model on hard cases, with those that it gets wrong marked in the file."""

import pytest

import headspan
from headspan.text import Segmenter

from . import hard_cases
from .hard_cases import HardCase

CASES = list(hard_cases.read())


@pytest.fixture(scope="module")
def segmenter() -> Segmenter:
    found = headspan.load("en").segmenter
    assert found is not None
    return found


def test_there_are_many_cases() -> None:
    assert len(CASES) >= 150
    assert len({case.text for case in CASES}) == len(CASES)
    for case in CASES:
        together = "".join("".join(words) for words in case.sentences)
        assert together == "".join(case.text.split()), case.text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text[:40])
def test_a_case_is_right_unless_it_is_marked(segmenter: Segmenter, case: HardCase) -> None:
    right = hard_cases.found(segmenter, case) == case.sentences
    assert right != case.missed, "take the ~ away" if right else "wrong, and not marked with ~"
