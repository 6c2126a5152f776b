import random
import subprocess
import sys

import pytest

from headspan import conllu
from headspan.text import Noise, raw_text
from headspan.text.raw import passages, spaces_after

from .made_up import made_up_treebank

TREEBANK = """\
# newdoc id = a
# newpar
# text = Don't go.
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\t_\t_\t_\t_\t_\t_\t_\t_
2\tn't\t_\t_\t_\t_\t_\t_\t_\t_
3\tgo\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
4\t.\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No

1\tSo\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\t!\t_\t_\t_\t_\t_\t_\t_\t_

# newpar id = b
# text = 1 000, "a".
1\t1 000\t_\t_\t_\t_\t_\t_\t_\t_
2\t,\t_\t_\t_\t_\t_\t_\t_\t_
3\t"\t_\t_\t_\t_\t_\t_\t_\t_
4\ta\t_\t_\t_\t_\t_\t_\t_\t_
5\t"\t_\t_\t_\t_\t_\t_\t_\t_
6\t.\t_\t_\t_\t_\t_\t_\t_\t_

"""

TYPESET = Noise(
    joined=0, lower_case=0, upper_case=0, unpunctuated=0, typeset=1,
    wrapped=0, lines=0, paragraph_lines=0,
)  # fmt: skip


def test_raw_text_follows_spaces_and_paragraphs() -> None:
    sentences = list(conllu.parse(TREEBANK))
    assert raw_text(sentences) == 'Don\'t go.So!\n\n1 000, "a".\n'
    first, second = passages(sentences)
    assert first.ends == [4, 7, 8, 10, 11]
    assert first.multiword == [True, False, False, False, False]
    assert first.sentence_ends == [8, 11]
    assert second.ends == [4, 5, 7, 8, 9, 10]


def test_spaces_come_from_the_text_where_it_has_the_tokens() -> None:
    third = list(conllu.parse(TREEBANK))[2]
    assert spaces_after(third) == [False, True, False, False, False, True]
    (other,) = conllu.parse(TREEBANK.split("\n\n")[2].replace('"a"', "'a'") + "\n\n")
    assert spaces_after(other) == [True] * 6


@pytest.mark.parametrize("noise", [Noise(1, 1, 0, 1, 1), Noise(0.3, 0.3, 0.3, 0.3, 0.3)])
def test_noise_keeps_ends_where_they_belong(noise: Noise) -> None:
    noisy = list(passages(made_up_treebank(200, 4), noise=noise, draw=random.Random(1)))
    for passage in noisy:
        assert passage.text.replace("\n", " ") == " ".join(passage.text.split())
        assert set(passage.sentence_ends) <= set(passage.ends)
        assert passage.ends[-1] == passage.sentence_ends[-1] == len(passage.text) - 1
        assert len(passage.multiword) == len(passage.ends)
        assert not any(passage.text[end].isspace() for end in passage.ends)
    assert any("’" in passage.text for passage in noisy)


def test_typesetting_changes_quotes_dashes_and_ellipses() -> None:
    text = '1\t"\t{0}\tSpaceAfter=No\n2\tno\t{0}\tSpaceAfter=No\n3\t"\t{0}\t_\n4\t--\t{0}\t_\n5\tso\t{0}\t_\n6\t...\t{0}\t_\n'
    sentences = list(conllu.parse(text.format("_\t_\t_\t_\t_\t_\t_") + "\n"))
    texts = {
        passage.text
        for seed in range(20)
        for passage in passages(sentences, noise=TYPESET, draw=random.Random(seed))
    }
    assert texts == {"“no” — so …", "“no”—so …", "‘no’ — so …", "‘no’—so …"}


def test_typesetting_changes_hyphens_between_numbers() -> None:
    line = "{}\t{}" + "\t_" * 7 + "\tSpaceAfter=No\n"
    words = ["1990", "-", "95", "well", "-", "known"]
    (sentence,) = conllu.parse("".join(line.format(k, w) for k, w in enumerate(words, 1)) + "\n")
    texts = {
        passage.text
        for seed in range(20)
        for passage in passages([sentence], noise=TYPESET, draw=random.Random(seed))
    }
    assert texts == {"1990-95well-known", "1990–95well-known"}


def test_split_input_needs_no_torch() -> None:
    code = (
        "import sys, headspan.text; headspan.text.sentences_from_lines(['a b']);"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
