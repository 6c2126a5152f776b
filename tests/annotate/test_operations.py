"""Corrections, confirmations, and other words and sentences."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from headspan import conllu
from headspan.annotate import (
    ChooseTree,
    ConfirmArc,
    ConfirmSentence,
    ConfirmSpan,
    JoinSentences,
    JoinToken,
    JoinWords,
    Reparse,
    Session,
    SetColumn,
    SetHead,
    SetRelation,
    SplitSentence,
    SplitToken,
    SplitWord,
)
from headspan.annotate.confirmations import confirmed, mark
from headspan.annotate.constraining import arcs_across, contradicts, crosses, set_aside
from headspan.annotate.operations import read_operation
from headspan.annotate.sentence_edits import join_sentences
from headspan.annotate.token_edits import join_words
from headspan.conllu import Sentence
from headspan.inference import Constraints
from headspan.model.parser import Parser
from headspan.plumbing.errors import HeadspanError
from headspan.tree import TreeError, check_tree, headed_spans, is_projective

from .conftest import TELESCOPE

Opened = Callable[..., Session]
RICH = """\
# newdoc id = d
# sent_id = x
# text = Sue cannot sing, and Ann dance du jour.
1\tSue\tSue\tPROPN\tNNP\t_\t3\tnsubj\t3:nsubj\t_
2\tcannot\tcannot\tAUX\tMD\t_\t3\taux\t3:aux\tEntity=(1|SpaceAfter=Yes
3\tsing\tsing\tVERB\tVB\t_\t0\troot\t0:root\tSpaceAfter=No
4\t,\t,\tPUNCT\t,\t_\t7\tpunct\t7:punct\t_
5\tand\tand\tCCONJ\tCC\t_\t7\tcc\t7:cc\t_
6\tAnn\tAnn\tPROPN\tNNP\t_\t7\tnsubj\t6.1:nsubj|7:nsubj\t_
6.1\tcan\tcan\tAUX\tMD\t_\t_\t_\t7:aux\t_
7\tdance\tdance\tVERB\tVB\t_\t3\tconj\t3:conj\t_
8-9\tdu\t_\t_\t_\t_\t_\t_\t_\t_
8\tde\tde\tADP\tIN\t_\t10\tcase\t10:case\t_
9\tle\tle\tDET\tDT\t_\t10\tdet\t10:det\t_
10\tjour\tjour\tNOUN\tNN\t_\t7\tobj\t6.1:dep|7:obj\tSpaceAfter=No
11\t.\t.\tPUNCT\t.\t_\t3\tpunct\t3:punct\t_

"""


def heads(session: Session, number: int = 1) -> tuple[int, ...]:
    return session.view(number).sentence.heads


def rows(sentence: Sentence) -> list[str]:
    return [line for line in conllu.to_text([sentence]).splitlines() if line[:1].isdigit()]


def test_a_correction_is_kept_and_the_rest_is_the_best_tree_with_it(
    session: Opened, fast: Parser
) -> None:
    work = session()
    assert heads(work)[6] == 4
    work.do(SetHead(1, word=7, head=2))
    first = work.view(1)
    assert first.sentence.heads[6] == 2
    assert first.sentence.deprels[6] == "obl"  # the relation follows the arc
    work.do(SetHead(1, word=4, head=7))
    second = work.view(1)
    expected = fast.parse_words(
        second.sentence.forms, constraints=Constraints(required_arcs=[(2, 7), (7, 4)])
    )
    assert second.sentence.heads == expected.heads
    assert second.opinion is not None
    assert second.opinion.head_confidences[3] == second.opinion.head_confidences[6] == 1
    assert mark(second.sentence, 7, "HeadBy") == "anna"
    assert mark(second.sentence, 7, "RelationBy") is None
    assert all(is_projective(tree.heads) for tree in work.alternatives(1))
    assert all(tree.heads[6] == 2 and tree.heads[3] == 7 for tree in work.alternatives(1))


def test_confidences_are_those_among_the_trees_with_what_is_confirmed(session: Opened) -> None:
    work = session()
    before = work.view(1)
    assert before.opinion is not None
    assert before.opinion.head_confidences[6] < 0.95
    work.do(ConfirmArc(1, word=5))  # "with" is below "telescope"
    work.do(SetRelation(1, word=7, relation="nmod"))
    after = work.view(1)
    assert after.opinion is not None
    assert after.opinion.confidences[6] == 1
    assert after.sentence.heads == before.sentence.heads
    work.do(ConfirmArc(1, word=7))  # takes it back
    again = work.view(1)
    assert again.opinion is not None
    assert again.opinion.confidences[6] < 1


def test_the_newest_decision_wins_over_those_that_it_contradicts(session: Opened) -> None:
    work = session()
    work.do(SetHead(1, word=7, head=4))
    work.do(SetHead(1, word=4, head=7))  # a cycle with the one before
    assert heads(work)[3] == 7
    assert mark(work.view(1).sentence, 7, "HeadBy") is None
    work.do(SetHead(1, word=4, head=0))
    work.do(SetHead(1, word=7, head=0))  # a second root
    assert heads(work)[6] == 0
    assert heads(work).count(0) == 1
    check_tree(heads(work))
    work.do(ConfirmSpan(1, word=7))
    everything = work.view(1)
    assert everything.confirmed.spans == {7: (0, 8)}


def test_a_confirmed_span_holds_until_an_arc_contradicts_it(session: Opened) -> None:
    work = session()
    work.do(ConfirmSpan(1, word=4))
    assert work.view(1).confirmed.spans == {4: (2, 7)}
    work.do(SetHead(1, word=4, head=8))
    assert work.view(1).confirmed.spans == {4: (2, 7)}
    assert headed_spans(heads(work))[3][:2] == (2, 7)
    assert all(headed_spans(tree.heads)[3][:2] == (2, 7) for tree in work.alternatives(1))
    work.do(SetHead(1, word=7, head=2))
    assert work.view(1).confirmed.spans == {}
    work.do(ConfirmSpan(1, word=7))
    work.do(ConfirmSpan(1, word=7))
    assert work.view(1).confirmed.spans == {}


def test_arcs_that_cross_are_kept_and_the_rest_is_parsed_around_them(session: Opened) -> None:
    work = session()
    work.do(SetHead(1, word=3, head=7))
    work.do(SetHead(1, word=4, head=8))
    made = heads(work)
    assert (made[2], made[3]) == (7, 8)
    assert not is_projective(made)
    check_tree(made)
    work.do(SetHead(1, word=6, head=2))  # passes over nothing that is confirmed but crosses 3 → 7
    made = heads(work)
    assert (made[2], made[3], made[5]) == (7, 8, 2)
    check_tree(made)
    work.do(ConfirmSentence(1))
    assert heads(work) == made
    with pytest.raises(HeadspanError, match="have gaps between them"):
        work.do(ConfirmSpan(1, word=next(k for k in (7, 8) if _gaps(made, k))))


def _gaps(tree: tuple[int, ...], word: int) -> bool:
    from headspan.annotate.confirmations import span_of

    return span_of(tree, word) is None


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("keeps", [False, True], ids=["parsed along", "tree of the file"])
def test_whatever_is_corrected_stays_a_tree_with_the_last_decisions(
    session: Opened, fast: Parser, seed: int, keeps: bool
) -> None:
    rng = random.Random(seed)
    words = "Ann 's brother , who never sang before , sang loudly in the rain .".split()
    sentence = fast.parse_words(words).plain() if keeps else Sentence.from_words(words)
    work = session(conllu.to_text([sentence]), name=f"{seed}{keeps}.conllu")
    for _ in range(15):
        word = rng.randint(1, len(words))
        kind = rng.choice("hhhhasc")
        old = work.view(1)
        if kind == "h":
            head = rng.choice([h for h in range(len(words) + 1) if h != word])
            work.do(SetHead(1, word=word, head=head))
            new = work.view(1)
            assert new.sentence.heads[word - 1] == head
            assert mark(new.sentence, word, "HeadBy") == "anna"
        elif kind == "a":
            work.do(ConfirmArc(1, word=word))
            new = work.view(1)
        else:
            try:  # there may be no such tree, or gaps in the span
                work.do(ChooseTree(1, rank=1) if kind == "c" else ConfirmSpan(1, word=word))
            except HeadspanError:
                continue
            new = work.view(1)
        check_tree(new.sentence.heads)
        for k, head in new.confirmed.heads.items():
            assert new.sentence.heads[k - 1] == head
        lost = old.confirmed.heads.keys() - new.confirmed.heads.keys()
        assert len(lost) <= 1  # no more than the one that is contradicted
        if not keeps:
            assert new.parses_along


def test_the_tree_of_a_file_is_kept_but_for_what_is_corrected(
    session: Opened, fast: Parser
) -> None:
    words = "She saw the man with the telescope .".split()
    odd = [2, 0, 2, 2, 2, 2, 2, 2]  # not what the parser would say
    text = conllu.to_text([Sentence.from_words(words, heads=odd, deprels=["dep"] * 8)])
    work = session(text.replace("0\tdep", "0\troot"), name="file.conllu")
    assert not work.view(1).parses_along
    work.do(SetHead(1, word=3, head=4))
    assert heads(work) == (2, 0, 4, 2, 2, 2, 2, 2)
    assert work.view(1).sentence.deprels[2] == "det"
    work.do(SetHead(1, word=2, head=4))  # its own dependent: they change places
    assert heads(work) == (2, 4, 4, 0, 2, 2, 2, 2)
    work.do(SetHead(1, word=7, head=0))
    assert heads(work) == (2, 4, 4, 7, 2, 2, 0, 2)
    work.do(Reparse(1))
    view = work.view(1)
    assert view.parses_along
    assert (view.sentence.heads[2], view.sentence.heads[1], view.sentence.heads[6]) == (4, 4, 0)
    assert view.sentence.heads[5] == 7  # no longer odd


def test_a_whole_sentence_is_confirmed_and_taken_back(session: Opened) -> None:
    work = session()
    work.do(ConfirmSentence(1))
    sentence = work.sentences[0]
    assert sentence.comment("confirmed_by") == "anna"
    assert sentence.comment("parsed_by") is None
    assert set(confirmed(sentence).heads) == set(range(1, 9))
    before = sentence.heads
    work.do(SetHead(1, word=7, head=2))
    after = work.sentences[0]
    assert after.comment("confirmed_by") is None
    assert [k for k in range(8) if before[k] != after.heads[k]] == [6]  # nothing else is parsed
    work.do(ConfirmSentence(1))
    work.do(ConfirmSentence(1))
    assert work.sentences[0].comment("confirmed_by") is None


def test_one_of_the_best_trees_is_chosen(session: Opened) -> None:
    work = session()
    view = work.view(1)
    rank, tree = next(
        (k, t) for k, t in enumerate(work.alternatives(1), 1) if t.heads != view.sentence.heads
    )
    work.do(ChooseTree(1, rank=rank))
    after = work.view(1)
    assert after.sentence.heads == tree.heads
    changed = {k for k in range(1, 9) if view.sentence.heads[k - 1] != tree.heads[k - 1]}
    assert set(after.confirmed.heads) == changed
    with pytest.raises(HeadspanError, match="there is no tree 9"):
        work.do(ChooseTree(1, rank=9))


def test_columns_are_set(session: Opened) -> None:
    work = session()
    work.do(SetColumn(1, word=4, column="upos", value="PROPN"))
    work.do(SetColumn(1, word=4, column="feats", value="Number=Sing|Case=Nom"))
    work.do(SetColumn(1, word=4, column="lemmas", value="Man"))
    work.do(SetColumn(1, word=4, column="xpos", value=""))
    sentence = work.sentences[0]
    assert rows(sentence)[3].split("\t")[2:6] == ["Man", "PROPN", "_", "Case=Nom|Number=Sing"]
    names = [part.partition("=")[0] for part in sentence.misc[3].split("|")]
    assert names[-4:] == ["UposBy", "FeatsBy", "LemmaBy", "XposBy"]
    assert len(set(sentence.upos)) > 3  # those of the other words are the model's
    for value, message in (("Number", "expected Name=Value"), ("A=1|A=2", "each name once")):
        with pytest.raises(HeadspanError, match=message):
            work.do(SetColumn(1, word=4, column="feats", value=value))
    with pytest.raises(HeadspanError, match="expected one of lemmas, upos, xpos, feats"):
        work.do(SetColumn(1, word=4, column="heads", value="3"))
    with pytest.raises(HeadspanError, match="printable"):
        work.do(SetColumn(1, word=4, column="lemmas", value="a\tb"))
    for relation in ("n subj", "nsubj|obj"):
        with pytest.raises(HeadspanError, match=r"without spaces or \|"):
            work.do(SetRelation(1, word=4, relation=relation))
    for column in ("upos", "xpos"):
        with pytest.raises(HeadspanError, match="the tag is 'NO UN'; expected one without spaces"):
            work.do(SetColumn(1, word=4, column=column, value="NO UN"))
    work.do(SetColumn(1, word=4, column="lemmas", value="old man"))


def test_words_are_split_and_all_numbers_follow(session: Opened) -> None:
    work = session(RICH, name="rich.conllu")
    work.do(SplitWord(1, word=2, forms=("can", "not")))
    lines = [row.split("\t") for row in rows(work.sentences[0])]
    assert [line[0] for line in lines] == "1 2 3 4 5 6 7 7.1 8 9-10 9 10 11 12".split()
    by_id = {line[0]: line for line in lines}
    assert by_id["2"][1] == "can"
    assert (
        by_id["2"][9] == "Entity=(1|SpaceAfter=Yes|SpaceAfter=No"
        or "SpaceAfter=No" in by_id["2"][9]
    )
    assert by_id["3"][1:4] == ["not", "not", "PART"]
    assert by_id["3"][6] == "2"  # on the first part, in a tree that is kept
    assert by_id["4"][6:9] == ["0", "root", "0:root"]
    assert by_id["7"][8] == "7.1:nsubj|8:nsubj"
    assert by_id["7.1"][8] == "8:aux"
    assert by_id["11"][8] == "7.1:dep|8:obj"
    work.do(JoinWords(1, word=2))
    joined = [row.split("\t") for row in rows(work.sentences[0])]
    assert [line[0] for line in joined] == "1 2 3 4 5 6 6.1 7 8-9 8 9 10 11".split()
    original = [row.split("\t") for row in RICH.splitlines() if row[:1].isdigit()]
    for line, old in zip(joined, original, strict=True):
        assert line[:2] == old[:2]
        assert line[6:9] == old[6:9]
    with pytest.raises(HeadspanError, match="does not spell"):
        work.do(SplitWord(1, word=1, forms=("S", "you")))
    with pytest.raises(HeadspanError, match="at least two words"):
        work.do(SplitWord(1, word=1, forms=("Sue",)))


def test_multiword_tokens_are_made_and_removed(session: Opened) -> None:
    work = session(RICH, name="rich.conllu")
    work.do(JoinToken(1, word=9))
    sentence = work.sentences[0]
    assert not sentence.multiwords
    assert sentence.forms[7] == "du"
    assert sentence.heads[7] == 9
    assert rows(sentence)[9].split("\t")[8] == "6.1:dep|7:obj"
    work.do(SplitToken(1, word=8, forms=("de", "le")))
    again = work.sentences[0]
    assert [(t.first, t.last, t.form) for t in again.multiwords] == [(8, 9, "du")]
    assert again.text == "Sue cannot sing, and Ann dance du jour."
    work.do(SplitToken(1, word=2, forms=("can", "not")))
    both = work.sentences[0]
    assert [(t.first, t.last, t.form) for t in both.multiwords] == [(2, 3, "cannot"), (9, 10, "du")]
    assert work.view(1).problems == [] or all(
        "spell" not in p.message for p in work.view(1).problems
    )
    with pytest.raises(HeadspanError, match="belong to different tokens"):
        work.do(JoinWords(1, word=1))
    work.do(JoinWords(1, word=2))
    assert [t.form for t in work.sentences[0].multiwords] == ["du"]
    with pytest.raises(HeadspanError, match="is not part of a multiword token"):
        work.do(JoinToken(1, word=1))


def test_sentences_are_split_and_joined(session: Opened) -> None:
    work = session(RICH, name="rich.conllu")
    work.do(SplitSentence(1, word=4))
    one, two = work.sentences
    assert (one.sent_id, two.sent_id) == ("x", "x-2")
    assert (one.text, two.text) == ("Sue cannot sing,", "and Ann dance du jour.")
    assert one.heads == (3, 3, 0, 3)
    assert one.deps[3] == "_"  # its head is in the other half
    assert two.heads == (3, 3, 0, 6, 6, 3, 3)
    assert two.deps[1] == "2.1:nsubj|3:nsubj"
    assert one.comment("newdoc id") == "d"
    assert two.comment("newdoc id") is None
    assert [(t.first, t.last) for t in two.multiwords] == [(4, 5)]
    for half in (one, two):
        check_tree(half.heads)
    work.do(JoinSentences(1))
    (whole,) = work.sentences
    assert whole.text == "Sue cannot sing, and Ann dance du jour."
    assert whole.sent_id == "x"
    assert whole.forms == next(iter(conllu.parse(RICH))).forms
    assert whole.heads[6] == 3
    assert whole.deprels[6] == "parataxis"
    assert whole.deps[9] == "6.1:dep|7:obj"
    check_tree(whole.heads)
    with pytest.raises(HeadspanError, match="there is no sentence 2"):
        work.do(JoinSentences(1))
    with pytest.raises(HeadspanError, match="on both sides of the boundary"):
        work.do(SplitSentence(1, word=8))
    with pytest.raises(HeadspanError, match="cannot be divided after word 11"):
        work.do(SplitSentence(1, word=11))


def test_sentences_of_a_text_are_parsed_again_when_they_are_split(session: Opened) -> None:
    work = session()
    work.do(SetHead(1, word=7, head=2))
    work.do(SplitSentence(1, word=4))
    assert len(work.sentences) == 4
    assert heads(work, 1) == (2, 0, 4, 2)
    assert heads(work, 2) == (3, 3, 0, 3)
    assert mark(work.sentences[1], 3, "HeadBy") is None  # its head is gone
    work.do(JoinSentences(1))
    assert work.view(1).sentence.text == TELESCOPE[:35]
    check_tree(heads(work))


def test_what_cannot_be_is_refused_and_changes_nothing(session: Opened) -> None:
    work = session()
    before = work.sentences
    for operation, message in (
        (SetHead(1, word=9, head=2), "there is no word 9"),
        (SetHead(1, word=2, head=2), "cannot be its own head"),
        (SetHead(1, word=0, head=2), "there is no word 0"),
        (SetHead(4, word=1, head=2), "there is no sentence 4"),
        (SetHead(0, word=1, head=2), "there is no sentence 0"),
        (ConfirmArc(1, word=-1), "there is no word -1"),
    ):
        with pytest.raises(HeadspanError, match=message):
            work.do(operation)
    assert work.sentences == before
    assert work.revision == 0
    assert not work.can_undo


def test_a_block_of_comments_cannot_be_changed(session: Opened) -> None:
    work = session(RICH + "# only a comment\n\n", name="rich.conllu")
    for operation in (ConfirmSentence(2), Reparse(2), JoinSentences(1)):
        with pytest.raises(HeadspanError, match="sentence 2 is a block of comments"):
            work.do(operation)
    assert work.revision == 0


def plain(heads: tuple[int, ...], **columns: list[str]) -> Sentence:
    """A sentence of letters with a tree."""
    deprels = ["dep" if head else "root" for head in heads]
    words = Sentence.from_words(list("abcdefgh"[: len(heads)]), heads=heads, deprels=deprels)
    return replace(words, **{name: tuple(values) for name, values in columns.items()})


def test_joined_sentences_keep_their_enhanced_dependencies() -> None:
    first = plain((0, 1), deps=["0:root", "1:dep"])
    second = plain((0, 1, 1, 1), deps=["3:dep|3:obj", "4:dep", "1:obj", "2:obj"])
    joined = join_sentences(first, second)
    assert joined.deps == ("0:root", "1:dep", "5:dep|5:obj", "6:dep", "3:obj", "4:obj")


def test_joined_words_have_no_edge_to_themselves_and_no_cycle() -> None:
    joined = join_words(plain((3, 0, 2), deps=["2:a|3:b", "0:root|1:c", "1:d|2:d"]), 1)
    assert joined.heads == (0, 1)  # word 1 was below word 2, by way of word 3
    assert joined.deps == ("2:b|0:root", "1:d")


def test_a_correction_keeps_the_other_arcs_that_are_confirmed(session: Opened) -> None:
    work = session(conllu.to_text([plain((0, 1, 2, 1))]), name="tree.conllu")
    work.do(ConfirmArc(1, word=2))
    work.do(SetHead(1, word=1, head=3))
    assert heads(work) == (3, 1, 0, 1)
    marks = [mark(work.view(1).sentence, k, "HeadBy") for k in range(1, 5)]
    assert marks == ["anna", "anna", None, None]


def test_a_head_that_has_changed_is_no_longer_confirmed(session: Opened) -> None:
    work = session(conllu.to_text([plain((0, 1, 2))]), name="tree.conllu")
    for k in (2, 3):
        work.do(ConfirmArc(1, word=k))
    work.do(SetHead(1, word=1, head=3))
    assert heads(work) == (3, 0, 2)
    marks = [mark(work.view(1).sentence, k, "HeadBy") for k in range(1, 4)]
    assert marks == ["anna", None, "anna"]


def test_a_sentence_that_is_no_tree_cannot_be_confirmed(session: Opened) -> None:
    text = conllu.to_text(
        [Sentence.from_words(["a", "b", "c"], heads=[2, 1, 0], deprels=["dep", "dep", "root"])]
    )
    work = session(text, name="cycle.conllu")
    assert "there is a cycle" in work.view(1).problems[0].message
    with pytest.raises(TreeError, match="there is a cycle"):
        work.do(ConfirmSentence(1))
    work.do(Reparse(1))
    work.do(ConfirmSentence(1))


def test_a_sentence_with_some_heads_gets_the_others(session: Opened) -> None:
    sentence = Sentence.from_words("She saw the man with the telescope .".split())
    text = conllu.to_text(
        [sentence.with_parse([-1, -1, -1, -1, -1, -1, 2, -1], ["_"] * 6 + ["obl:x", "_"])]
    )
    work = session(text, name="half.conllu")
    view = work.view(1)
    assert view.sentence.heads == (2, 0, 4, 2, 7, 7, 2, 2)
    assert view.sentence.deprels[6] == "obl:x"
    assert work.sentences[0].heads.count(-1) == 7  # the file is as it was


def test_operations_are_read_from_plain_values() -> None:
    assert read_operation({"do": "head", "sentence": 1, "word": 2, "head": 0}) == SetHead(1, 2, 0)
    split = {"do": "split-word", "sentence": 1, "word": 2, "forms": ["a", "b"]}
    assert read_operation(split) == SplitWord(1, 2, ("a", "b"))
    for table, message in (
        ({"do": "fly"}, "the operation is 'fly'"),
        ({}, "the operation is None"),
        ({"do": ["head"]}, "the operation is"),
        ({"do": "head", "sentence": 1, "word": 2}, "the field head is missing"),
        ({"do": "head", "sentence": True, "word": 2, "head": 1}, "expected a whole number"),
        ({"do": "relation", "sentence": 1, "word": 2, "relation": 3}, "expected a string"),
        ({"do": "relation", "sentence": 1, "word": 2, "relation": None}, "expected a string"),
        ({**split, "forms": ["a", 1]}, "expected a list of words"),
        ({**split, "more": 1}, "unknown field 'more'"),
    ):
        with pytest.raises(HeadspanError, match=message):
            read_operation(table)


def test_spans_and_arcs_that_contradict_each_other() -> None:
    """Brute force: a span and an arc contradict each other if no projective tree has both."""
    from inference.brute_force import all_trees, spans_of

    n = 4
    trees = all_trees(n)
    for left in range(n):
        for right in range(left + 1, n + 1):
            for word in range(left + 1, right + 1):
                having = [t for t in trees if spans_of(t)[word - 1] == (left, right)]
                across = arcs_across(word, left, right, n)
                for tree in trees:
                    arcs = {(h, d) for d, h in enumerate(tree, 1)}
                    assert (tree in having) == arcs.isdisjoint(across)
                for h in range(n + 1):
                    for d in range(1, n + 1):
                        if h != d and (h or (left, right) == (0, n) or not left < d <= right):
                            together = any(tree[d - 1] == h for tree in having)
                            if contradicts((left, right, word), (h, d)):
                                assert not together


def test_arcs_are_set_aside_until_none_cross() -> None:
    assert crosses((1, 3), (2, 4))
    assert crosses((4, 2), (3, 1))
    assert crosses((0, 2), (1, 3))
    assert not crosses((0, 2), (2, 3))
    assert not crosses((1, 4), (2, 3))
    assert not crosses((1, 3), (3, 5))
    assert set_aside({3: 1, 4: 2}) in ({3: 1}, {4: 2})
    assert set_aside({2: 0, 3: 1}) == {3: 1}
    assert set_aside({2: 0, 3: 1, 4: 1}) == {3: 1, 4: 1}  # never the root
    assert set_aside({2: 1, 3: 2, 1: 0}) == {}
