import random
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import shared
from headspan import HeadspanError, conllu
from headspan.pseudoprojective import Scheme, deprojectivize, projectivize
from headspan.tree import check_tree, is_projective
from trees import all_trees, random_projective_tree, random_tree

SCHEMES: list[Scheme] = ["head", "path", "head+path"]
ORACLE = {
    "nl_alpino-dev": "nl_alpino/nl_alpino-ud-dev",
    "nl_alpino-test": "nl_alpino/nl_alpino-ud-test",
    "de_gsd-dev": "de_gsd/de_gsd-ud-dev",
    "en_ewt-dev": "en_ewt/en_ewt-ud-dev",
}
LABELS = ["acl:relcl", "a|b", "50%", "|", "\\|", "x\\"]


def read_oracle(path: Path) -> list[list[list[str]]]:
    blocks = path.read_text(encoding="utf-8").strip("\n").split("\n\n")
    return [[line.split("\t") for line in block.split("\n")] for block in blocks]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ORACLE)
def test_projectivizing_equals_maltparser_and_restoring_is_at_least_as_good(
    name: str, scheme: Scheme
) -> None:
    oracle = read_oracle(shared(f"oracles/maltparser/{name}.tsv"))
    sentences = list(conllu.read(shared(f"treebanks/ud-2.2/{ORACLE[name]}.conllu")))
    column = 1 + 4 * SCHEMES.index(scheme)
    ours_back = theirs_back = 0
    for sentence, rows in zip(sentences, oracle, strict=True):
        projective = projectivize(sentence.heads, sentence.deprels, scheme=scheme)
        assert is_projective(projective.heads)
        assert projective.heads == [int(row[column]) for row in rows]
        assert projective.deprels == [row[column + 1] for row in rows]
        gold = list(zip(sentence.heads, sentence.deprels, strict=True))
        ours = zip(*deprojectivize(*projective, scheme=scheme), strict=True)
        ours_back += sum(a == b for a, b in zip(gold, ours, strict=True))
        theirs = [(int(row[column + 2]), row[column + 3]) for row in rows]
        theirs_back += sum(a == b for a, b in zip(gold, theirs, strict=True))
    assert ours_back >= theirs_back
    if scheme == "head+path":
        assert ours_back == sum(map(len, sentences))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_relations_that_look_encoded_survive(scheme: Scheme) -> None:
    for heads in ([2, 0, 2], [0, 4, 1, 3]):
        for labels in product(LABELS, repeat=len(heads)):
            restored = deprojectivize(*projectivize(heads, labels, scheme=scheme), scheme=scheme)
            assert restored.deprels == list(labels)
            assert is_projective(heads) is False or restored.heads == heads


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_small_tree_is_restored_if_all_relations_differ(scheme: Scheme) -> None:
    """If each word has its own relation, the head's relation says all; the path alone does not."""
    for heads in all_trees(5):
        labels = [f"r{k}" for k in range(5)]
        projective = projectivize(heads, labels, scheme=scheme)
        assert is_projective(projective.heads)
        restored = deprojectivize(*projective, scheme=scheme)
        assert restored.deprels == labels
        if scheme != "path":
            assert restored.heads == list(heads)


def test_the_example_of_nivre_and_nilsson() -> None:
    """Figure 1 of the paper of 2005: "Only one of them concerns quality." in Czech."""
    heads = [5, 1, 0, 5, 3, 3, 6]  # Z nich je jen jedna na kvalitu
    labels = ["AuxP", "Atr", "Pred", "AuxZ", "Sb", "AuxP", "Adv"]
    projective = projectivize(heads, labels, scheme="head")
    assert projective.heads == [3, 1, 0, 5, 3, 3, 6]
    assert projective.deprels == ["AuxP|Sb", "Atr", "Pred", "AuxZ", "Sb", "AuxP", "Adv"]
    assert deprojectivize(*projective).heads == heads
    assert projectivize(heads, labels, scheme="head+path").deprels[4] == "Sb%"
    assert projectivize(heads, labels, scheme="path").deprels[0] == "AuxP|"


predicted = st.lists(st.sampled_from(["a", "b", "a|b", "b|a", "a|", "a%", "b|a%", "%", "|", "|%|",
                                      "a|b|c", "a%b", "\\", "", "a|zzz"]), min_size=12, max_size=12)  # fmt: skip


@given(st.integers(1, 12), predicted, st.sampled_from(SCHEMES), st.randoms(use_true_random=False))
def test_restoring_gives_a_tree_whatever_the_labels(
    n: int, labels: list[str], scheme: Scheme, rng: random.Random
) -> None:
    heads = random_projective_tree(n, rng)
    restored = deprojectivize(heads, labels[:n], scheme=scheme)
    check_tree(restored.heads)
    assert all(label in ("a", "b", "\\", "_", "") for label in restored.deprels)


@given(st.integers(1, 30), st.sampled_from(SCHEMES), st.randoms(use_true_random=False))
def test_random_trees_become_projective_and_keep_their_relations(
    n: int, scheme: Scheme, rng: random.Random
) -> None:
    heads = random_tree(n, rng)
    labels = [rng.choice(["a", "b", "c"]) for _ in range(n)]
    projective = projectivize(heads, labels, scheme=scheme)
    check_tree(projective.heads)
    assert is_projective(projective.heads)
    restored = deprojectivize(*projective, scheme=scheme)
    check_tree(restored.heads)
    assert restored.deprels == labels
    if is_projective(heads):
        assert projective == (heads, labels) == restored


def test_a_huge_sentence_is_restored_in_bounded_time() -> None:
    n = 3_000
    heads = random_projective_tree(n, random.Random(3))
    labels = ["a|b" if k % 100 == 0 else "b" for k in range(n)]
    restored = deprojectivize(heads, labels)
    check_tree(restored.heads)
    assert set(restored.deprels) == {"a", "b"}
    star = deprojectivize([0] + [1] * 499, ["x|x%"] * 500, scheme="path")
    check_tree(star.heads)


def test_an_unknown_scheme_is_an_error() -> None:
    with pytest.raises(
        HeadspanError, match=r"scheme is 'tail'; expected one of head, path, head\+path"
    ):
        projectivize([0], ["a"], scheme="tail")  # type: ignore[arg-type]
    with pytest.raises(HeadspanError, match="scheme is 'tail'"):
        deprojectivize([0], ["a"], scheme="tail")  # type: ignore[arg-type]


def test_several_roots_and_sentences_without_words_are_allowed() -> None:
    assert projectivize([0, 0, 1], ["a", "b", "c"]).heads == [0, 0, 0]
    assert projectivize([], []) == ([], []) == deprojectivize([], [])
