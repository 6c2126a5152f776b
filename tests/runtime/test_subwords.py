import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from headspan.runtime.subwords import SubwordTokenizer, _windows


@given(st.lists(st.integers(1, 10), min_size=1, max_size=60), st.integers(12, 40))
def test_windows_take_every_word_whole_and_once(sizes: list[int], window: int) -> None:
    found = _windows(sizes, window)
    owned = []
    for first, last, own_first, own_last in found:
        assert sum(sizes[first:last]) <= window - 2
        assert first <= own_first < own_last <= last
        owned += range(own_first, own_last)
    assert owned == list(range(len(sizes)))
    if sum(sizes) <= window - 2:
        assert len(found) == 1


def letters(window: int) -> SubwordTokenizer:
    """A tokenizer that knows the letters a to e."""
    vocabulary = {"[UNK]": 0, "a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
    tokenizer = Tokenizer(
        models.WordPiece(vocabulary, unk_token="[UNK]", continuing_subword_prefix="")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return SubwordTokenizer(tokenizer, start=10, end=11, unknown=0, mask=13, pad=12, window=window)


def test_where_the_subwords_of_words_are() -> None:
    subwords = letters(16).encode([["ab", "c"], ["e"]], width=4)
    assert subwords.ids.tolist() == [[10, 1, 2, 3, 11], [10, 5, 11, 12, 12]]
    assert subwords.lengths.tolist() == [5, 3]
    places = list(zip(subwords.pieces.tolist(), subwords.owners.tolist(), strict=True))
    assert places == [(0, 0), (1, 1), (2, 1), (3, 2), (4, 3), (5, 4), (6, 5), (7, 6)]


def test_masked_words_keep_their_number_of_subwords() -> None:
    masked = torch.tensor([[True, True, False, True], [True, False, True, True]])
    subwords = letters(16).encode([["ab", "c"], ["e"]], width=4, masked=masked)
    assert subwords.ids.tolist() == [[10, 13, 13, 3, 11], [10, 5, 11, 12, 12]]


def test_a_word_of_nothing_and_a_word_of_too_much() -> None:
    tokenizer = letters(8)
    assert tokenizer.word("") == [0]
    assert tokenizer.word(" ") == [0]
    assert tokenizer.word("abcde" * 10) == [1, 2, 3, 4, 5, 1]


def test_a_long_sentence_goes_into_overlapping_windows() -> None:
    words = ["ab", "c", "de", "a", "b", "c", "d", "eeeee"]
    subwords = letters(8).encode([words], width=10)
    assert (subwords.lengths <= 8).all()
    by_word: dict[int, str] = {}
    flat = subwords.ids.flatten().tolist()
    for piece, owner in zip(subwords.pieces.tolist(), subwords.owners.tolist(), strict=True):
        by_word[owner] = by_word.get(owner, "") + " abcde    <>"[flat[piece]]
    assert by_word == {0: "<", 9: ">", **dict(enumerate(words, 1))}


def test_saved_and_loaded() -> None:
    text, special = letters(8).to_json()
    again = SubwordTokenizer.from_json(text, special)
    assert again.word("abc") == [1, 2, 3]
    assert again.window == 8


def test_only_short_words_are_remembered() -> None:
    tokenizer = letters(16)
    assert tokenizer.word("ab" * 10_000) == [0]  # WordPiece knows no word of so many letters
    assert tokenizer.word("abc") == [1, 2, 3]
    assert list(tokenizer._known) == ["abc"]
