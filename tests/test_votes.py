"""Parsers that vote on the trees of a text, for self-training."""

import sys
import tomllib

import pytest

from conftest import ROOT
from headspan.conllu import Sentence
from headspan.model.folder import FURTHER
from headspan.model.parse_result import Parse
from headspan.render import confidences

sys.path.insert(0, str(ROOT / "tools"))
try:
    from vote import elected
finally:
    sys.path.pop(0)


def parsed(heads: list[int], relations: list[str], upos: list[str], sure: float) -> Parse:
    words = Sentence.from_words(["a", "b", "c"], heads=heads, deprels=relations, upos=upos)
    return Parse.of(words, head_confidences=(sure,) * 3, relation_confidences=(1.0,) * 3)


def test_the_tree_with_the_most_votes_is_elected() -> None:
    one = parsed([2, 0, 2], ["x", "root", "y"], ["A", "B", "C"], 0.9)
    two = parsed([2, 0, 2], ["x", "root", "z"], ["A", "B", "D"], 0.8)
    three = parsed([0, 1, 2], ["root", "x", "z"], ["E", "B", "D"], 0.7)
    sentence = elected([one, two, three])
    assert sentence.heads == (2, 0, 2)
    assert sentence.deprels == ("x", "root", "z")  # 0.8 + 0.7 are more than 0.9
    assert sentence.upos == ("A", "B", "D")
    assert confidences(sentence) == pytest.approx([1.7 / 3, 1.7 / 3, 1.5 / 3], abs=1e-3)


def test_votes_for_different_parts_still_make_one_tree() -> None:
    """Every parser has another root; the best tree has one."""
    trees = ([0, 1, 2], [2, 0, 2], [2, 3, 0])
    parses = [
        parsed(heads, ["r", "r", "r"], ["A"] * 3, 0.9 - k / 10) for k, heads in enumerate(trees)
    ]
    assert sorted(elected(parses).heads).count(0) == 1


def test_every_further_model_has_its_treebanks() -> None:
    table = tomllib.loads((ROOT / "models" / "models.toml").read_text(encoding="utf-8"))
    assert tuple(table) == FURTHER
    assert all(about["treebanks"] and about["licence"] for about in table.values())
