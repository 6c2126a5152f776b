import dataclasses
import itertools
import random
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from headspan import conllu
from headspan.conllu import Sentence
from headspan.plumbing.errors import HeadspanError
from headspan.text import (
    Segmenter,
    SegmenterSettings,
    raw_text,
    score_segmenter,
    sentences_from_lines,
    train_segmenter,
)

from .made_up import made_up_treebank

NASTY = [
    "", " ", "\n", "\n\n", "\t", "\r\n", "\r", "\x85", "\u2028", "\u2029", "\u00a0", "\u3000",
    "\0", "\x01", "\x1b[0m", "\x1c", "\x7f", "\ufeff", "\u200b", "\u200d", "\u200e", "\ud800",
    "\udfff", "\ufffd", "\uffff", "\U0010ffff",
    "👩\u200d👩\u200d👧\u200d👦", "👍🏽", "🇨🇿", "❤\ufe0f", "e\u0301", "\u0301", "\u0903",
    "שלום עולם.", "مرحبا", "\u202eabc\u202c", "你好。再见！", "日本語", "한국어", "ไทย",
    "İ", "ß", "ŉ", "ǅ", "don’t", "isn't", "DU", "Du", "1 000", "1\n000", "_", "#", "# text = x",
    "1-2", "a.b.", "Ann sees du tree.", "!?", "...", "http://x.y/z?q=1", "x" * 40,
]  # fmt: skip

texts = st.lists(st.sampled_from(NASTY) | st.text(max_size=8), max_size=25).map("".join)
often = hypothesis_settings(max_examples=100)


def ranges(sentence: Sentence) -> list[tuple[int, int]]:
    pairs = []
    for token in sentence.surface_tokens:
        start, end = token.misc.rpartition("TokenRange=")[2].split(":")
        pairs.append((int(start), int(end)))
    return pairs


def check(text: str, sentences: list[Sentence]) -> None:
    """Every visible character is in one token, in order, and a file can hold the sentences."""
    at = 0
    for number, sentence in enumerate(sentences, 1):
        assert sentence.sent_id == str(number)
        assert len(sentence)
        for token, (start, end) in zip(sentence.surface_tokens, ranges(sentence), strict=True):
            assert at <= start < end <= len(text)
            assert not text[at:start].strip()
            assert not text[start].isspace()
            assert not text[end - 1].isspace()
            assert token.space_after == text[end : end + 1].isspace()
            spelled = "".join(text[start:end].split())
            assert len(token.form.replace(" ", "")) == len(spelled)
            for a, b in zip(token.form.replace(" ", ""), spelled, strict=True):
                assert a == b or (a == "\ufffd" and (b == "\0" or "\ud800" <= b <= "\udfff"))
            at = end
        pieces = [t.form + " " * t.space_after for t in sentence.surface_tokens]
        together = "".join(pieces).rstrip(" ")
        assert sentence.comment("text") == together
    assert not text[at:].strip()
    written = conllu.to_text(sentences)
    assert list(conllu.parse(written.encode().decode(), format="conllu")) == sentences


@given(text=texts)
@often
def test_every_character_is_in_one_token(segmenter: Segmenter, text: str) -> None:
    check(text, list(segmenter.segment(text)))


@given(text=texts, seed=st.integers(0, 999))
@often
def test_how_a_stream_is_cut_changes_nothing(segmenter: Segmenter, text: str, seed: int) -> None:
    draw = random.Random(seed)
    cuts = sorted(draw.randint(0, len(text)) for _ in range(draw.randint(0, 12)))
    pieces = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]
    assert list(segmenter.segment_stream(pieces)) == list(segmenter.segment(text))


@given(lines=st.lists(texts.map(lambda text: " ".join(text.splitlines())), max_size=5))
@often
def test_lines_are_sentences(segmenter: Segmenter, lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    for segmented in (segmenter.segment_lines(lines), sentences_from_lines(lines)):
        sentences = list(segmented)
        check(text, sentences)
        assert len(sentences) == sum(1 for line in lines if line.strip())


def test_a_long_text_in_small_pieces_gives_the_same_sentences(segmenter: Segmenter) -> None:
    treebank = made_up_treebank(300, 5)
    text = raw_text(treebank).replace("\n\n", " ") + "\n\n" + raw_text(treebank)
    whole = list(segmenter.segment(text))
    check(text, whole)
    assert list(segmenter.segment_stream(text)) == whole
    assert (
        list(segmenter.segment_stream(text[k : k + 997] for k in range(0, len(text), 997))) == whole
    )


@pytest.mark.parametrize(
    "word", ["x" * 10_000, "1" * 10_000, "." * 10_000, "é́" * 5_000, "语" * 10_000]
)
def test_long_words_lose_no_character(segmenter: Segmenter, word: str) -> None:
    text = f"Ann sees {word} Bob likes tree."
    check(text, list(segmenter.segment(text)))


def test_a_word_without_end_is_cut(segmenter: Segmenter) -> None:
    text = "\u0301" * 150_000 + " " + "1 " * 70_000
    sentences = list(segmenter.segment(text))
    check(text, sentences)
    assert max(len(form) for s in sentences for form in s.forms) < 70_000


def test_a_sentence_without_end_is_cut(segmenter: Segmenter) -> None:
    lines = ["tree " * 2500]
    assert [len(s) for s in segmenter.segment_lines(lines)] == [1000, 1000, 500]


@pytest.mark.parametrize("text", ["", " ", "\n\n \t\n", "\u3000\u2029"])
def test_blank_text_has_no_sentences(segmenter: Segmenter, text: str) -> None:
    assert list(segmenter.segment(text)) == []
    assert list(segmenter.segment_lines([text])) == list(sentences_from_lines([text])) == []


def test_a_small_treebank_is_learned(segmenter: Segmenter) -> None:
    result = score_segmenter(segmenter, made_up_treebank(100, 3))
    assert min(result[metric].f1 for metric in ("tokens", "words", "sentences")) > 95


def test_multiword_tokens_have_their_words_and_ranges(segmenter: Segmenter) -> None:
    (sentence,) = segmenter.segment("Eve doesn't hears du garden, tree.")
    assert sentence.forms == ("Eve", "does", "n't", "hears", "de", "le", "garden", ",", "tree", ".")
    assert [(m.first, m.last, m.form) for m in sentence.multiwords] == [
        (2, 3, "doesn't"), (5, 6, "du"),
    ]  # fmt: skip
    assert sentence.multiwords[0].misc == "TokenRange=4:11"
    assert sentence.misc[1:3] == ("_", "_")
    assert sentence.misc[8] == "SpaceAfter=No|TokenRange=29:33"


def test_a_wrapped_line_ends_in_a_space_and_a_blank_line_ends_a_paragraph(
    segmenter: Segmenter,
) -> None:
    text = "Ann sees au\nriver. Bob likes\n9 \n 000 tree\n \nCarla finds stone\n"
    sentences = list(segmenter.segment(text, wrapped=True))
    assert [s.text for s in sentences] == [
        "Ann sees au river.", "Bob likes 9 000 tree", "Carla finds stone",
    ]  # fmt: skip
    assert ["# newpar" in s.comments for s in sentences] == [True, False, True]
    assert "9 000" in sentences[1].forms
    check(text, sentences)


@given(words=st.lists(st.text("abcXY19'", min_size=1, max_size=6), min_size=2, max_size=6))
@often
def test_a_hyphen_or_slash_is_separated_from_both_sides_or_neither(
    segmenter: Segmenter, words: list[str]
) -> None:
    for joint in "-–/":
        text = f"Ann sees {joint.join(words)} tree."
        ends = {end for sentence in segmenter.segment(text) for _, end in ranges(sentence)}
        for at, character in enumerate(text):
            if character == joint and text[at - 1].isalnum() and text[at + 1].isalnum():
                assert (at in ends) == (at + 1 in ends)


def test_split_text_keeps_its_lines_and_words() -> None:
    first, second, third = sentences_from_lines(["A b\n", "c. d\r\n", " \n", "e"])
    assert (first.forms, second.forms, third.forms) == (("A", "b"), ("c.", "d"), ("e",))
    assert first.comments == ("# newpar", "# sent_id = 1", "# text = A b")
    assert second.comments == ("# sent_id = 2", "# text = c. d")
    assert third.misc == ("TokenRange=12:13",)
    assert third.comments[0] == "# newpar"


def test_the_same_seed_gives_the_same_segmenter(settings: SegmenterSettings) -> None:
    train, dev = made_up_treebank(40, 1), made_up_treebank(10, 2)
    quick = dataclasses.replace(settings, epochs=2)
    seen = []
    one, other = (
        train_segmenter(train, dev, settings=quick, seed=3, watch=seen.append).state()
        for _ in range(2)
    )
    assert one[1] == other[1]
    assert all(np.array_equal(one[0][name], other[0][name]) for name in one[0])
    assert [progress.epoch for progress in seen] == [1, 2, 1, 2]
    assert seen[:2] == seen[2:]


def test_training_without_words_is_refused() -> None:
    with pytest.raises(HeadspanError, match="without words"):
        train_segmenter([], made_up_treebank(2, 1))


def test_sentences_come_out_while_text_goes_in(segmenter: Segmenter) -> None:
    endless = itertools.chain([" " * 5000] * 100, itertools.repeat("Ann sees tree. "))
    sentences = list(itertools.islice(segmenter.segment_stream(endless), 3000))
    assert sentences[0].text == "Ann sees tree."
    assert sentences[0].misc[0] == "TokenRange=500000:500003"
    assert len({sentence.text for sentence in sentences}) == 1


@pytest.mark.parametrize("wrong", [{"epochs": 0}, {"window": 4}, {"batch": 0}])
def test_impossible_settings_are_refused(
    settings: SegmenterSettings, wrong: dict[str, int]
) -> None:
    with pytest.raises(HeadspanError, match=next(iter(wrong))):
        dataclasses.replace(settings, **wrong)


@pytest.mark.parametrize("text", ["." * 30_000, "1." * 15_000, "Ann sees tree. " * 2_000])
def test_a_step_is_bounded_even_where_no_sentence_ends(segmenter: Segmenter, text: str) -> None:
    taken = 0

    def pieces() -> Iterator[str]:
        nonlocal taken
        for k in range(0, len(text), 1000):
            taken += 1000
            yield text[k : k + 1000]

    done = 0
    sentences: list[Sentence] = []
    for step in segmenter.steps(pieces(), ahead=4096):
        sentences += step.sentences
        done += step.characters
        assert taken <= done + 8_000
    assert sentences == list(segmenter.segment(text))
