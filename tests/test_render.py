import random

import pytest

from headspan import conllu
from headspan.conllu import Sentence
from headspan.render import draw_spans, draw_tree
from headspan.render.widths import columns
from headspan.tree import NotProjective
from trees import random_projective_tree

FIGURE_1 = """\
 An  inventory  of  syntactic  function  is  taken  to  be  primitive
0   1          2   3          4         5   6      7   8   9          10
├────────────────────────────────────────is───────────────────────────┤
├────inventory──────────────────────────┤   ├taken────────────────────┤
├An─┤          ├of──────────────────────┤          ├to────────────────┤
                   ├───────────function─┤              ├be────────────┤
                   ├syntactic─┤                            ├primitive─┤
"""


def test_figure_1_of_the_paper(root) -> None:  # type: ignore[no-untyped-def]
    (sentence,) = conllu.read(root / "examples" / "figure1.conllu")
    (panel,) = draw_spans(sentence)
    assert "\n".join(panel) + "\n" == FIGURE_1


def test_neighbours_share_a_fencepost() -> None:
    sentence = Sentence.from_words(["a", "b", "c"], heads=[0, 1, 1])
    (panel,) = draw_spans(sentence)
    assert panel == [" a  b  c", "0  1  2  3", "├a───────┤", "   ├b─┼c─┤"]


def test_wide_and_combining_characters_keep_their_columns() -> None:
    sentence = Sentence.from_words(["猫が", "e\u0301te\u0301", "x"], heads=[2, 0, 2])
    (panel,) = draw_spans(sentence)
    assert panel[0] == " 猫が  e\u0301te\u0301  x"
    assert panel[2] == "├──────e\u0301te\u0301────┤"
    assert panel[3] == "├猫が─┤    ├x─┤"
    assert len({columns(line) for line in panel[2:]}) == 1


def test_words_without_width_take_no_columns() -> None:
    (panel,) = draw_spans(Sentence.from_words(["\u200b", "c", "d"], heads=[0, 1, 1]))
    assert panel[3] == "  ├c─┼d─┤"


def test_control_characters_do_not_reach_the_terminal_and_keep_their_columns() -> None:
    (panel,) = draw_spans(Sentence.from_words(["\x1b[31m", "b"], heads=[0, 1]))
    assert panel == [" �[31m  b", "0      1  2", "├�[31m────┤", "       ├b─┤"]
    assert not any("\x1b" in line for line in panel)


@pytest.mark.parametrize("width", [20, 40, 80])
def test_a_long_sentence_continues_in_panels(width: int) -> None:
    rng = random.Random(width)
    n = 60
    sentence = Sentence.from_words(
        [rng.choice(["a", "word", "日本"]) for _ in range(n)], heads=random_projective_tree(n, rng)
    )
    panels = draw_spans(sentence, width=width)
    assert len(panels) > 1
    assert " ".join(w for panel in panels for w in panel[0].split()) == " ".join(sentence.forms)
    assert all(columns(line) <= width for panel in panels for line in (panel[0], *panel[2:]))


def test_spans_of_a_non_projective_tree_are_an_error() -> None:
    with pytest.raises(NotProjective):
        draw_spans(Sentence.from_words(list("abcd"), heads=[0, 4, 1, 3]))


def test_a_sentence_without_words_has_no_panels() -> None:
    assert draw_spans(Sentence.from_words([])) == []


def tree_lines(sentence: Sentence) -> str:
    return "\n".join("".join(line).rstrip() for line in draw_tree(sentence))


def test_a_tree_has_one_line_per_word_with_branches() -> None:
    sentence = Sentence.from_words(
        "Time flies like an arrow .".split(),
        heads=[2, 0, 5, 5, 2, 2],
        deprels="nsubj root case det obl punct".split(),
        upos="NOUN VERB ADP DET NOUN PUNCT".split(),
    )
    assert (
        tree_lines(sentence)
        == """\
┌─ Time     NOUN   nsubj
flies       VERB   root
│  ┌─ like  ADP    case
│  ├─ an    DET    det
├─ arrow    NOUN   obl
└─ .        PUNCT  punct"""
    )


def test_a_non_projective_arc_names_its_head() -> None:
    sentence = Sentence.from_words(
        ["日本", "b", "c", "d\n"], heads=[0, 1, 1, 2], deprels=["root", "x", "y", "z"]
    )
    assert (
        tree_lines(sentence)
        == """\
日本      root
├─ b      x
└─ c      y
   └─ d�  z → 2 b"""
    )


def test_every_word_has_a_line_and_hangs_where_its_head_begins() -> None:
    rng = random.Random(3)
    for n in range(1, 40):
        heads = random_projective_tree(n, rng)
        lines = draw_tree(Sentence.from_words(["w"] * n, heads=heads, deprels=["r"] * n))
        starts = [len(line.branches) for line in lines]
        for child, head in enumerate(heads, 1):
            if head:
                assert starts[child - 1] == starts[head - 1] + 3
                step = 1 if child < head else -1
                for between in range(child + step, head, step):
                    assert lines[between - 1].branches[starts[head - 1]] in "│├┌└"
