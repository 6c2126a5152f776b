"""Tokens: every attribute, on sentences of every kind."""

import copy
import json
import pickle
import time
from collections.abc import Callable
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headspan import HeadspanError, Token, conllu
from headspan.conllu import NO_HEAD, Sentence
from headspan.model.parse_result import Parse
from headspan.tree import Span, subtree_spans
from sentences import sentences
from trees import all_trees

SAW = """\
# text = She saw the man.
1	She	she	PRON	PRP	Case=Nom|Gender=Fem	2	nsubj	_	_
2	saw	see	VERB	VBD	_	0	root	_	_
3	the	the	DET	DT	_	4	det	_	_
4	man	man	NOUN	NN	Number=Sing	2	obj	_	SpaceAfter=No|Odd
5	.	.	PUNCT	.	_	2	punct	_	_

"""
HEARING = "A hearing is scheduled on the issue today .".split()
CROSSING = [2, 4, 4, 0, 7, 7, 2, 4, 4]
DU = """\
# text = Il parle du chat.
1	Il	il	PRON	_	_	2	nsubj	_	_
2	parle	parler	VERB	_	_	0	root	_	_
3-4	du	_	_	_	_	_	_	_	_
3	de	de	ADP	_	_	5	case	_	_
4	le	le	DET	_	_	5	det	_	_
4.1	gros	_	ADJ	_	_	_	_	5:amod	_
5	chat	chat	NOUN	_	_	2	obl	_	SpaceAfter=No
6	.	.	PUNCT	_	_	2	punct	_	_

"""
DONT = """\
# text = I don't.
1	I	_	_	_	_	_	_	_	TokenRange=10:11
2-3	don't	_	_	_	_	_	_	_	SpaceAfter=No|TokenRange=13:18
2	do	_	_	_	_	_	_	_	_
3	n't	_	_	_	_	_	_	_	_
4	.	_	_	_	_	_	_	_	TokenRange=18:19

"""


def one(text: str) -> Sentence:
    (sentence,) = conllu.parse(text)
    return sentence


def texts(tokens: tuple[Token, ...]) -> str:
    return " ".join(token.text for token in tokens)


def positions(sentence: Sentence) -> list[tuple[int | None, int | None]]:
    return [(token.start, token.end) for token in sentence]


def pieces(sentence: Sentence) -> list[str]:
    return [sentence.text[token.start : token.end] for token in sentence]


@pytest.fixture
def saw() -> Sentence:
    return one(SAW)


@pytest.fixture
def crossing() -> Sentence:
    return Sentence.from_words(HEARING, heads=CROSSING)


def test_a_sentence_is_a_sequence_of_tokens(saw: Sentence) -> None:
    assert [token.text for token in saw] == list(saw.forms)
    assert len(saw) == 5
    assert saw[0].text == "She"
    assert saw[-1].text == "."
    assert texts(saw[2:4]) == "the man"
    assert saw[:0] == ()
    assert texts(saw[::-2]) == ". the She"
    assert all(saw[token.index] == token and token in saw for token in saw)
    assert saw[0] not in one(SAW)
    assert "She" not in saw
    assert [token.id for token in reversed(saw)] == [5, 4, 3, 2, 1]
    assert saw.index(saw[3]) == 3
    for outside in (5, -6):
        with pytest.raises(IndexError, match=f"index {outside} in a sentence of 5 words"):
            saw[outside]
    with pytest.raises(TypeError):
        saw["She"]  # type: ignore[call-overload]


def test_columns_of_a_token(saw: Sentence) -> None:
    token = saw[3]
    assert token.sentence is saw
    assert (token.id, token.index) == (4, 3)
    assert (token.text, token.lemma, token.upos, token.xpos) == ("man", "man", "NOUN", "NN")
    assert token.deprel == "obj"
    assert saw[0].feats == {"Case": "Nom", "Gender": "Fem"}
    assert saw[1].feats == {}
    assert token.misc == {"SpaceAfter": "No", "Odd": ""}
    assert saw[0].misc == {}
    assert [token.space_after for token in saw] == [True, True, True, False, True]
    assert token.multiword is None
    assert token.confidence is None


def test_the_tree_around_a_token(saw: Sentence) -> None:
    she, verb, the, man, stop = saw
    assert saw.root == verb
    assert [token.is_root for token in saw] == [False, True, False, False, False]
    assert verb.head is None
    assert the.head == man
    assert verb.children == (she, man, stop)
    assert man.children == (the,)
    assert the.children == ()
    assert man.subtree == (the, man)
    assert verb.subtree == tuple(saw)
    assert the.ancestors == (man, verb)
    assert verb.ancestors == ()
    assert man.span == slice(2, 4)
    assert saw[man.span] == man.subtree


def test_crossing_arcs(crossing: Sentence) -> None:
    hearing = crossing[1]
    assert texts(hearing.subtree) == "A hearing on the issue"
    assert texts(crossing[hearing.span]) == "A hearing is scheduled on the issue"
    assert texts(crossing[6].ancestors) == "hearing scheduled"


@pytest.mark.parametrize("heads", [tree for n in range(1, 5) for tree in all_trees(n)])
def test_spans_and_subtrees_of_all_small_trees(heads: tuple[int, ...]) -> None:
    sentence = Sentence.from_words(map(str, heads), heads=heads)
    for token, (left, right, _) in zip(sentence, subtree_spans(heads), strict=True):
        assert token.span == slice(left, right)
        assert set(token.subtree) == {t for t in sentence if token in (t, *t.ancestors)}
        assert all(child.head == token for child in token.children)
    assert sum(len(token.children) for token in sentence) == len(sentence) - heads.count(0)


def test_a_sentence_without_a_tree() -> None:
    bare = Sentence.from_words(["Hello", "world"])
    assert bare.root is None
    for token in bare:
        assert token.head is None
        assert not token.is_root
        assert token.children == token.ancestors == ()
        assert token.subtree == (token,)
        assert token.span == slice(token.index, token.id)
    assert [repr(token) for token in bare] == ["Token(1, 'Hello')", "Token(2, 'world')"]
    half = Sentence.from_words("a b c".split(), heads=[2, NO_HEAD, 2])
    assert half[1].span == slice(0, 3)
    assert half.root is None


def test_heads_that_are_a_cycle_do_not_hang() -> None:
    odd = Sentence.from_words("a b c d".split(), heads=[2, 1, 3, 1])
    assert texts(odd[0].subtree) == "a b d"
    assert odd[0].span == slice(0, 4)
    assert odd[2].span == slice(2, 3)
    assert texts(odd[3].ancestors) == "a b"
    assert texts(odd[2].ancestors) == "c"
    outside = replace(odd, heads=(9, -5, 0, 1))  # no file has these
    assert outside[0].head is None
    assert outside[0].span == slice(0, 4)


def test_an_empty_sentence_has_no_tokens() -> None:
    empty = one("# just a comment\n\n")
    assert list(empty) == []
    assert empty.root is None
    assert empty[:] == ()
    assert empty.to_dicts() == []
    assert repr(empty) == "Sentence('', 0 words)"
    with pytest.raises(IndexError):
        empty[0]


def test_parts_of_a_multiword_token() -> None:
    il, _, de, le, chat, _ = du = one(DU)
    assert de.multiword == le.multiword == du.multiwords[0]
    assert il.multiword is None
    assert [token.space_after for token in du] == [True, True, False, True, False, True]
    assert pieces(du) == ["Il", "parle", "du", "du", "chat", "."]
    assert chat.id == 5  # empty nodes are no words
    assert texts(chat.subtree) == "de le chat"
    dont = one(DONT)
    assert positions(dont) == [(10, 11), (13, 15), (15, 18), (18, 19)]
    assert positions(one(DONT.replace("TokenRange", "Other"))) == [(0, 1), (2, 4), (4, 7), (7, 8)]
    shouted = replace(
        dont, multiwords=(dont.multiwords[0]._replace(columns=("DON'T", *"_______", "_")),)
    )
    assert shouted[1].start is None  # others have TokenRange, it does not


@pytest.mark.parametrize(
    ("text", "forms", "expected"),
    [
        (None, "a b", ["a", "b"]),
        ("a  b", "a b", ["a", "b"]),
        ("a\u00a0b", "a b", ["a", "b"]),
        ("ab", "a b", ["a", "b"]),
        ("one teh three", "one the three", ["one", "teh", "three"]),
        ("teh three", "the three", ["teh", "three"]),
        ("one teh", "one the", ["one", "teh"]),
        ("one x y four", "one two three four", ["one", None, None, "four"]),
        ("one four", "one two four", ["one", None, "four"]),
        ("a b c", "a b", [None, None]),
        ("", "a b", [None, None]),
    ],
)
def test_positions_come_from_the_text(
    text: str | None, forms: str, expected: list[str | None]
) -> None:
    comments = [] if text is None else [f"# text = {text}"]
    sentence = Sentence.from_words(forms.split(), comments=comments)
    found = [
        None if token.start is None else sentence.text[token.start : token.end]
        for token in sentence
    ]
    assert found == expected


@pytest.mark.parametrize("misc", ["TokenRange=", "TokenRange=1:x", f"TokenRange=0:{'9' * 9999}"])
def test_a_range_that_is_none_is_ignored(misc: str) -> None:
    sentence = replace(Sentence.from_words(["a", "b"]), misc=("_", misc))
    assert positions(sentence) == [(0, 1), (2, 3)]


def test_white_space_inside_a_token_may_differ() -> None:
    sentence = Sentence.from_words(["1 000", "x"], comments=["# text = 1\u00a0 000x"])
    assert positions(sentence) == [(0, 6), (6, 7)]


@given(sentences)
def test_every_token_of_every_sentence_has_all_attributes(sentence: Sentence) -> None:
    names = [n for n, value in vars(Token).items() if isinstance(value, property)]
    assert len(names) > 15
    for token in sentence:
        for name in names:
            getattr(token, name)
        assert repr(token).startswith(f"Token({token.id}, ")
        if token.start is not None:
            assert token.end is not None
            assert 0 <= token.start <= token.end
    assert json.loads(json.dumps(sentence.to_dicts())) == sentence.to_dicts()
    assert json.loads(sentence.to_json())["words"] == list(sentence.forms)


@given(st.lists(st.sampled_from(["a", "bc", "don't", "é", "1 000", "…"]), max_size=8), st.data())
def test_positions_without_a_text_are_those_of_the_joined_tokens(
    forms: list[str], data: st.DataObject
) -> None:
    misc = [data.draw(st.sampled_from(["_", "SpaceAfter=No", "X=1|SpaceAfter=No"])) for _ in forms]
    sentence = replace(Sentence.from_words(forms), misc=tuple(misc))
    assert pieces(sentence) == forms


def test_tokens_are_equal_if_they_are_the_same_word(saw: Sentence) -> None:
    twin = one(SAW)
    assert twin == saw
    assert saw[1] == saw[1]
    assert saw[1] != saw[2]
    assert saw[1] != twin[1]
    assert saw[1] != "saw"
    assert len({*saw, *saw, *twin}) == 10


def test_text_and_representation(saw: Sentence) -> None:
    assert str(saw) == f"{saw}" == "She saw the man."
    assert repr(saw) == "Sentence('She saw the man.', 5 words)"
    assert repr(Parse.of(saw)) == "Parse('She saw the man.', 5 words)"
    assert repr(Sentence.from_words(["x" * 99])) == f"Sentence('{'x' * 60}…', 1 word)"
    assert str(saw[3]) == "man"
    assert repr(saw[3]) == "Token(4, 'man', NOUN, obj of 2 saw)"
    assert repr(saw[1]) == "Token(2, 'saw', VERB, root)"
    assert repr(Sentence.from_words(["a", "b"], heads=[2, 0])[0]) == "Token(1, 'a', under 2 b)"


def use(sentence: Sentence) -> None:
    """Fill everything that a sentence remembers."""
    for token in sentence:
        token.as_dict()
        assert token.span.start <= token.index < token.span.stop
        assert len(token.children) < len(sentence)


def test_what_a_sentence_remembers_is_no_part_of_it(saw: Sentence) -> None:
    bare = Sentence.from_words("a b".split(), heads=[2, 0])
    before = hash(bare), pickle.dumps(bare)
    use(bare)
    assert (hash(bare), pickle.dumps(bare)) == before
    assert bare[1].children == (bare[0],)
    other = bare.with_parse([0, 1], ["root", "dep"])
    assert other[1].children == ()
    assert other[0].children == (other[1],)
    moved = replace(bare, comments=("# text =  a b",))
    assert positions(moved) == positions(bare)
    for again in (pickle.loads(pickle.dumps(bare)), copy.copy(bare), copy.deepcopy(bare)):
        assert again == bare
        assert again[1].children == (again[0],)
    assert not hasattr(saw, "__dict__")
    assert not hasattr(saw[0], "__dict__")
    assert "_results" not in {field.name for field in fields(Sentence)}


def test_what_a_parse_remembers_is_no_part_of_it(saw: Sentence) -> None:
    use(saw)
    parse = Parse.of(saw, spans=(Span(0, 1, 1),), head_confidences=(0.5,) * 5)
    assert parse[3].confidence == 0.5
    use(parse)
    assert parse.plain() == saw
    assert parse.plain()[3].confidence is None
    assert replace(parse, head_confidences=())[3].confidence is None
    again = pickle.loads(pickle.dumps(parse))
    assert again == parse
    assert again.confidences == parse.confidences
    assert again[3].children == (again[2],)
    assert parse.with_confidences()[3].confidence == 0.5  # from MISC
    token = pickle.loads(pickle.dumps(parse[3]))
    assert (token.text, token.head.text) == ("man", "saw")


def test_a_sentence_as_other_things(saw: Sentence) -> None:
    assert saw.to_conllu() == SAW
    assert json.loads(saw.to_json()) == {
        "id": None, "text": "She saw the man.", "words": list(saw.forms),
        "lemmas": list(saw.lemmas), "upos": list(saw.upos), "xpos": list(saw.xpos),
        "feats": list(saw.feats), "heads": [2, 0, 4, 2, 2], "relations": list(saw.deprels),
        "starts": [0, 4, 8, 12, 15], "ends": [3, 7, 11, 15, 16],
    }  # fmt: skip
    assert json.loads(Sentence.from_words(["x"]).to_json())["heads"] == [None]
    assert saw.to_dicts()[3] == {
        "id": 4, "text": "man", "lemma": "man", "upos": "NOUN", "xpos": "NN",
        "feats": {"Number": "Sing"}, "head": 2, "deprel": "obj",
        "misc": {"SpaceAfter": "No", "Odd": ""}, "start": 12, "end": 15, "space_after": False,
    }  # fmt: skip
    assert Sentence.from_words(["x"]).to_dicts()[0]["head"] is None
    parse = Parse.of(saw, head_confidences=(0.5,) * 5, relation_confidences=(0.5,) * 5)
    written = "SpaceAfter=No|Odd|Confidence=0.2500|HeadConfidence=0.5000|RelationConfidence=0.5000"
    assert written in parse.to_conllu()
    again = next(conllu.parse(parse.to_conllu()))
    assert (again[0].confidence, again[0].head_confidence) == (0.25, 0.5)
    assert again[0].relation_confidence == parse[0].relation_confidence == 0.5
    assert json.loads(parse.to_json()) == json.loads(json.dumps(parse.as_json()))
    values = parse.to_dicts()[0]
    assert values["confidence"] == values["head_confidence"] * values["relation_confidence"] == 0.25


def test_a_sentence_as_a_data_frame(saw: Sentence) -> None:
    pytest.importorskip("pandas")
    frame = saw.to_dataframe()
    assert frame["form"].tolist() == list(saw.forms)
    assert frame["head"].tolist() == list(saw.heads)


def test_a_data_frame_needs_pandas(saw: Sentence, uninstall: Callable[[str], None]) -> None:
    uninstall("pandas")
    with pytest.raises(HeadspanError, match=r"pip install 'headspan\[interchange\]'"):
        saw.to_dataframe()


def test_walking_a_long_chain_takes_linear_time() -> None:
    n = 20_000
    chain = Sentence.from_words(["x"] * n, heads=range(n))
    start = time.perf_counter()
    assert sum(len(token.children) for token in chain) == n - 1
    assert all(token.span.stop == n and token.start == 2 * token.index for token in chain)
    assert time.perf_counter() - start < 5  # milliseconds, but for a busy machine
    assert len(chain[0].subtree) == len(chain[-1].ancestors) + 1 == n


def test_a_token_cannot_be_changed(saw: Sentence) -> None:
    token = saw[3]
    for name in ("upos", "index", "anything"):
        with pytest.raises(AttributeError, match=f"{name} of a Token cannot be set: Sentence.with"):
            setattr(token, name, "X")
    with pytest.raises(AttributeError, match="index of a Token cannot be deleted"):
        del token.index
    feats = token.feats
    feats["Number"] = "Plur"
    assert token.feats == {"Number": "Sing"}
    assert json.dumps(token.feats) == '{"Number": "Sing"}'
