"""Scripts without spaces, from right to left, with many multiword tokens: segmented and drawn."""

from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from headspan import conllu
from headspan.render import arcs_svg, draw_spans, draw_tree, spans_svg, stylesheet
from headspan.render.widths import columns
from headspan.text import Segmenter, raw_text, score_segmenter, train_segmenter

from .conftest import SETTINGS
from .scripts import SCRIPTS, treebank_in

TEXT = "{http://www.w3.org/2000/svg}text"


@pytest.fixture(scope="module", params=SCRIPTS)
def learned(request: pytest.FixtureRequest) -> tuple[str, Segmenter]:
    train, dev = treebank_in(request.param, 200, 1), treebank_in(request.param, 20, 2)
    return request.param, train_segmenter(train, dev, settings=replace(SETTINGS, epochs=24))


def test_words_and_sentences_are_found(learned: tuple[str, Segmenter]) -> None:
    script, segmenter = learned
    gold = treebank_in(script, 40, 3)
    scores = score_segmenter(segmenter, gold)
    assert min(scores[metric].f1 for metric in ("tokens", "words", "sentences")) > 97
    if script in ("zh", "ja", "th"):
        assert " ".join(gold[0].forms) not in raw_text(gold)  # spaces do not help
    else:
        assert any(sentence.multiwords for sentence in gold)


def test_every_character_of_a_text_is_in_a_token(learned: tuple[str, Segmenter]) -> None:
    script, segmenter = learned
    text = raw_text(treebank_in(script, 10, 4))
    tokens = [token for s in segmenter.segment(text) for token in s.surface_tokens]
    assert "".join(token.form for token in tokens).split() == ["".join(text.split())]
    pieces = [text[k : k + 3] for k in range(0, len(text), 3)]
    streamed = list(segmenter.segment_stream(pieces))
    assert streamed == list(segmenter.segment(text))
    assert list(conllu.parse(conllu.to_text(streamed))) == streamed


@pytest.mark.parametrize("script", SCRIPTS)
def test_drawings_have_every_word_once(script: str) -> None:
    for sentence in treebank_in(script, 5, 5):
        lines = draw_tree(sentence)
        assert [line.form for line in lines] == list(sentence.forms)
        starts = {columns(line.branches + line.form + line.blanks) for line in lines}
        assert len(starts) == 1  # tags stand in one column, however wide the characters are
        assert draw_spans(sentence)
        tokens = [token.form for token in sentence.multiwords]
        for svg, shown in (
            (arcs_svg(sentence, width=300), [*sentence.forms, *tokens]),
            (spans_svg(sentence), sentence.forms),
        ):
            texts = Counter(text.text for text in ElementTree.fromstring(svg).iter(TEXT))
            assert Counter(shown) <= texts


def test_the_text_of_a_drawing_has_its_own_direction() -> None:
    """Words, tags and tokens are laid out one by one, each from its own first letter."""
    assert "text{unicode-bidi:plaintext}" in stylesheet()
