import random
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headspan.tree import (
    NotProjective,
    Span,
    TreeError,
    check_tree,
    depths,
    headed_spans,
    heads_of_spans,
    is_projective,
    nonprojective_arcs,
    subtree_spans,
)
from trees import (
    all_trees,
    ancestors,
    nonprojective_by_definition,
    projective_trees,
    random_projective_tree,
    random_tree,
)

FIGURE_1 = [2, 6, 2, 5, 3, 0, 6, 7, 8, 9]


def test_figure_1_of_the_paper() -> None:
    spans = headed_spans(FIGURE_1)
    assert spans[1] == Span(0, 5, 2)  # (0, 5, inventory)
    assert spans == [
        (0, 1, 1), (0, 5, 2), (2, 5, 3), (3, 4, 4), (3, 5, 5),
        (0, 10, 6), (6, 10, 7), (7, 10, 8), (8, 10, 9), (9, 10, 10),
    ]  # fmt: skip
    assert heads_of_spans(spans) == FIGURE_1
    assert depths(FIGURE_1) == [2, 1, 2, 4, 3, 0, 1, 2, 3, 4]


@pytest.mark.parametrize("n", range(1, 8))
def test_every_small_projective_tree_survives_a_round_trip_through_spans(n: int) -> None:
    count = 0
    for heads in projective_trees(n):
        count += 1
        assert heads_of_spans(headed_spans(heads)) == list(heads)
    assert count == comb(3 * n - 2, n - 1) // n


@pytest.mark.parametrize("n", range(1, 6))
def test_projectivity_agrees_with_its_definition_on_every_small_tree(n: int) -> None:
    projective = set(projective_trees(n))
    for heads in all_trees(n):
        arcs = nonprojective_by_definition(heads)
        assert nonprojective_arcs(heads) == arcs
        assert is_projective(heads) == (not arcs) == (heads in projective)


@given(st.integers(1, 40), st.randoms(use_true_random=False))
def test_random_trees_agree_with_the_definition(n: int, rng: random.Random) -> None:
    heads = random_tree(n, rng)
    assert nonprojective_arcs(heads) == nonprojective_by_definition(heads)
    for span in subtree_spans(heads):
        below = [k for k in range(1, n + 1) if span.head in ancestors(heads, k)]
        assert (span.left + 1, span.right) == (min(below), max(below))
    for k, depth in enumerate(depths(heads), 1):
        assert len(ancestors(heads, k)) == depth + 2


@given(st.integers(1, 300), st.randoms(use_true_random=False))
def test_random_large_projective_trees_survive_a_round_trip_through_spans(
    n: int, rng: random.Random
) -> None:
    heads = random_projective_tree(n, rng)
    spans = headed_spans(heads)
    rng.shuffle(spans)
    assert heads_of_spans(spans) == heads


@given(st.lists(st.tuples(*[st.integers(-1, 5)] * 3), max_size=5))
def test_spans_are_accepted_only_if_they_form_a_tree(
    spans: list[tuple[int, int, int]],
) -> None:
    trees = {tuple(headed_spans(t)): t for t in projective_trees(len(spans))} if spans else {(): ()}
    in_word_order = tuple(sorted(spans, key=lambda span: span[2]))
    if in_word_order in trees:
        assert heads_of_spans(spans) == list(trees[in_word_order])
    else:
        with pytest.raises(TreeError):
            heads_of_spans(spans)


@pytest.mark.parametrize(
    "heads",
    [
        list(range(100_000)),  # a chain to the right
        [*range(2, 100_001), 0],  # a chain to the left
        [0] + [1] * 99_999,  # a star
        [50_000] * 49_999 + [0] + [50_000] * 50_000,
    ],
    ids=["chain right", "chain left", "star", "star in the middle"],
)
def test_trees_of_a_hundred_thousand_words_need_no_recursion(heads: list[int]) -> None:
    assert heads_of_spans(headed_spans(heads)) == heads
    assert is_projective(heads)
    assert nonprojective_arcs(heads) == []
    assert max(depths(heads)) in (1, 99_999)


def test_crossings_of_a_large_tree_are_found_quickly() -> None:
    heads = random_tree(20_000, random.Random(1))
    assert nonprojective_arcs(heads)


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([0, 0], "more than one root: words 1 and 2"),
        ([2, 1], "cycle: word 1 under word 2 under word 1"),
        ([1, 0], "cycle: word 1 under word 1"),
        ([3, 0], "word 1 has head 3 in a sentence of 2 words"),
        ([-1], "word 1 has no head"),
    ],
)
def test_an_error_says_why_heads_are_not_a_tree(heads: list[int], message: str) -> None:
    with pytest.raises(TreeError, match=message):
        check_tree(heads)
    with pytest.raises(TreeError, match=message):
        headed_spans(heads)


def test_several_roots_can_be_allowed() -> None:
    check_tree([0, 0], single_root=False)
    assert is_projective([0, 0])


def test_the_error_for_a_non_projective_tree_names_the_arc() -> None:
    with pytest.raises(NotProjective, match="from word 4 to word 2") as caught:
        headed_spans([0, 4, 1, 3])
    assert caught.value.arc == (4, 2)


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([(0, 2, 1), (0, 2, 2)], r"the span \(0, 2\) of word 2 contains word 1"),
        ([(0, 1, 1), (1, 2, 2)], "no span covers the sentence"),
        ([(0, 2, 1), (1, 3, 2), (0, 3, 3)], "cross"),
        ([(0, 1, 1), (0, 1, 1)], "word 1 has two spans"),
        ([(1, 2, 1)], "does not contain its word"),
        ([(0, 1, 2)], "names no word"),
    ],
)
def test_an_error_says_why_spans_are_not_those_of_a_tree(
    spans: list[tuple[int, int, int]], message: str
) -> None:
    with pytest.raises(TreeError, match=message):
        heads_of_spans(spans)


def test_a_sentence_without_words() -> None:
    assert headed_spans([]) == heads_of_spans([]) == depths([]) == nonprojective_arcs([]) == []
