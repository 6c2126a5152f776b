from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import conllu as conllu_library
import networkx
import pandas
import pytest
import stanza
from hypothesis import given
from hypothesis import strategies as st
from nltk.parse.dependencygraph import DependencyGraph
from nltk.tree import Tree

from conftest import ROOT, shared
from headspan import HeadspanError, Parse, conllu, interchange
from headspan.conllu import NO_HEAD, Sentence
from sentences import sentences, tidy_sentences

EXAMPLES = [s for path in sorted(ROOT.glob("examples/*.conllu")) for s in conllu.read(path)]
DU = """\
# sent_id = s1
# text = Il parle du chat
1\tIl\til\tPRON\t_\tNumber=Sing|Person=3\t2\tnsubj\t2:nsubj\t_
2\tparle\tparler\tVERB\tV\t_\t0\troot\t0:root\tLang=fr
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\tLang=fr
3\tde\tde\tADP\t_\t_\t5\tcase\t5:case\t_
4\tle\tle\tDET\t_\t_\t5\tdet\t5:det\t_
4.1\tgros\t_\tADJ\t_\t_\t_\t_\t5:amod\t_
5\tchat\tchat\tNOUN\t_\t_\t2\tobl\t2:obl|4.1:x\t_

"""
(FRENCH,) = conllu.parse(DU)
CROSSING = Sentence.from_words(
    "A hearing is scheduled on the issue".split(),
    heads=[2, 4, 4, 0, 7, 7, 2],
    deprels="det nsubj aux root case det nmod".split(),
    upos="DET NOUN AUX VERB ADP DET NOUN".split(),
)


def tree(sentence: Sentence) -> tuple[Any, ...]:
    return sentence.forms, sentence.upos, sentence.heads, sentence.deprels


def round_trip(to: str, sentence: Sentence) -> Sentence:
    to_library = getattr(interchange, f"to_{to}")
    from_library = getattr(interchange, f"from_{to}")
    if to in ("pandas", "stanza"):
        (result,) = from_library(to_library([sentence]))
    else:
        result = from_library(to_library(sentence))
    assert isinstance(result, Sentence)
    return result


@pytest.mark.parametrize("to", ["conllu", "networkx", "pandas", "stanza"])
def test_everything_in_a_sentence_survives_a_round_trip(to: str) -> None:
    for sentence in [FRENCH, *EXAMPLES]:
        named = sentence if sentence.sent_id else replace(sentence, comments=("# sent_id = 1",))
        assert round_trip(to, named) == named


@pytest.mark.parametrize("to", ["conllu", "displacy", "networkx", "nltk", "pandas", "stanza"])
def test_trees_survive_a_round_trip_and_a_parse_is_treated_as_a_sentence(to: str) -> None:
    for sentence in [FRENCH, CROSSING, *EXAMPLES]:
        assert tree(round_trip(to, Parse.of(sentence))) == tree(sentence)


@pytest.mark.parametrize("to", ["conllu", "networkx", "pandas", "stanza"])
def test_a_treebank_survives_a_round_trip(to: str) -> None:
    path = shared("treebanks/ud-2.2/fr_sequoia/fr_sequoia-ud-dev.conllu")
    for sentence in list(conllu.read(path))[:50]:
        assert round_trip(to, sentence) == sentence


@given(tidy_sentences)
def test_conllu_and_stanza_hold_any_tidy_sentence(sentence: Sentence) -> None:
    assert round_trip("conllu", sentence) == sentence
    assert round_trip("stanza", sentence) == sentence


@given(sentences)
def test_networkx_loses_only_relations_of_words_without_a_head(sentence: Sentence) -> None:
    deprels = [
        relation if head != NO_HEAD else "_"
        for head, relation in zip(sentence.heads, sentence.deprels, strict=True)
    ]
    expected = sentence.with_parse(sentence.heads, deprels)
    assert round_trip("networkx", sentence) == expected


@given(st.lists(sentences, max_size=3))
def test_pandas_loses_only_sentences_without_words(several: list[Sentence]) -> None:
    expected = [
        replace(
            sentence,
            multiwords=[m._replace(columns=headless(m.columns)) for m in sentence.multiwords],
            empty_nodes=[e._replace(columns=headless(e.columns)) for e in sentence.empty_nodes],
        )
        for sentence in several
        if len(sentence)
    ]
    assert interchange.from_pandas(interchange.to_pandas(several)) == expected


def headless(columns: tuple[str, ...]) -> tuple[str, ...]:
    return (*columns[:5], "_", *columns[6:])


@given(sentences)
def test_nltk_and_displacy_keep_the_tree(sentence: Sentence) -> None:
    restored = round_trip("nltk", sentence)
    assert tree(restored) == tree(sentence)
    assert (restored.lemmas, restored.xpos, restored.feats) == (
        sentence.lemmas, sentence.xpos, sentence.feats
    )  # fmt: skip
    drawn = round_trip("displacy", sentence)
    assert (drawn.forms, drawn.upos) == (sentence.forms, sentence.upos)
    assert drawn.heads == tuple(max(head, 0) for head in sentence.heads)


def test_sentences_without_words() -> None:
    empty = Sentence.from_words([])
    for to in ("conllu", "displacy", "networkx", "nltk"):
        assert round_trip(to, empty) == empty
    for to in ("pandas", "stanza"):
        converted: Any = getattr(interchange, f"to_{to}")([empty])
        assert getattr(interchange, f"from_{to}")(converted) == []


def test_a_token_list_equals_that_of_the_conllu_library() -> None:
    tokens = interchange.to_conllu(FRENCH)
    assert isinstance(tokens, conllu_library.TokenList)
    assert tokens == conllu_library.parse(DU)[0]
    assert tokens.filter(upos="NOUN")[0]["head"] == 2


def test_a_stanza_document_has_tokens_and_dependencies() -> None:
    document = interchange.to_stanza([FRENCH, CROSSING])
    assert isinstance(document, stanza.Document)
    first, second = document.sentences
    assert [token.text for token in first.tokens] == ["Il", "parle", "du", "chat"]
    assert [(head.text, relation, word.text) for head, relation, word in second.dependencies][6] == (
        "hearing", "nmod", "issue"
    )  # fmt: skip


def test_stanza_words_that_were_not_parsed_have_no_heads() -> None:
    document = stanza.Document([[{"id": 1, "text": "Time"}, {"id": 2, "text": "flies"}]])
    (sentence,) = interchange.from_stanza(document)
    assert sentence.forms == ("Time", "flies")
    assert sentence.heads == (NO_HEAD, NO_HEAD)


def test_an_nltk_graph_equals_that_of_nltk() -> None:
    graph = interchange.to_nltk(CROSSING)
    assert isinstance(graph, DependencyGraph)
    assert graph.root["word"] == "scheduled"
    assert graph.tree() == Tree.fromstring("(scheduled (hearing A (issue on the)) is)")
    assert (("hearing", "NOUN"), "nmod", ("issue", "NOUN")) in list(graph.triples())
    text = "1\tJohn\tJohn\tPROPN\tNNP\t_\t2\tnsubj\t_\t_\n2\tsleeps\tsleep\tVERB\tVBZ\t_\t0\troot\t_\t_\n"
    original = DependencyGraph(text, top_relation_label="root")
    again = interchange.to_nltk(interchange.from_nltk(original))
    assert (again.nodes, again.root) == (original.nodes, original.root)
    assert again.to_conll(10) == text


def test_a_networkx_graph_is_a_tree_with_forms_and_relations() -> None:
    graph = interchange.to_networkx(CROSSING)
    assert networkx.is_arborescence(graph)
    assert graph.edges[2, 7] == {"deprel": "nmod"}
    assert [graph.nodes[k]["form"] for k in networkx.descendants(graph, 7)] == ["on", "the"]
    small = networkx.DiGraph([(2, 1), (0, 2)])
    networkx.set_node_attributes(small, {1: "Time", 2: "flies"}, "form")
    assert interchange.from_networkx(small) == Sentence.from_words(["Time", "flies"], heads=[2, 0])


def test_a_data_frame_has_one_row_per_line(tmp_path: Path) -> None:
    frame = interchange.to_pandas([FRENCH, CROSSING])
    words = frame[frame["head"].notna()]
    assert words.groupby("sentence").size().tolist() == [5, 7]
    assert frame["id"].tolist()[:7] == ["1", "2", "3-4", "3", "4", "4.1", "5"]
    assert words["head"].tolist()[:5] == [2, 0, 5, 5, 2]
    frame.to_pickle(tmp_path / "frame")
    assert interchange.from_pandas(pandas.read_pickle(tmp_path / "frame")) == [FRENCH, CROSSING]
    few = frame[frame["sentence"] == 2][["sentence", "id", "form", "head"]]
    assert interchange.from_pandas(few) == [
        Sentence.from_words(CROSSING.forms, heads=CROSSING.heads)
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: interchange.from_pandas(pandas.DataFrame({"id": ["1"]})), "no column 'sentence'"),
        (
            lambda: interchange.from_pandas(interchange.to_pandas([CROSSING])[1:]),
            "sentence 1 of the DataFrame: .* found the ID '2'; expected the ID 1",
        ),
        (
            lambda: interchange.from_networkx(networkx.DiGraph([(0, 1), (0, 3)])),
            "no word 2",
        ),
        (lambda: interchange.from_networkx(networkx.DiGraph([(0, "a")])), "no word 1"),
        (
            lambda: interchange.from_networkx(networkx.DiGraph([(0, 1), (2, 1), (1, 2)])),
            "node 1 has the head 2; expected one",
        ),
        (
            lambda: interchange.from_networkx(networkx.DiGraph([(1, 0)])),
            "node 0 has the head 1; expected none",
        ),
        (lambda: interchange.to_pandas([Sentence.from_words(["a\tb"])]), "has a tab"),
    ],
)
def test_an_object_that_is_not_a_sentence_is_an_error(
    call: Callable[[], Any], message: str
) -> None:
    with pytest.raises(HeadspanError, match=message):
        call()


@pytest.mark.parametrize("name", ["conllu", "networkx", "nltk", "pandas", "stanza"])
def test_the_error_for_a_missing_library_says_how_to_install_it(
    name: str, uninstall: Callable[[str], None]
) -> None:
    uninstall(name)
    argument = [CROSSING] if name in ("pandas", "stanza") else CROSSING
    with pytest.raises(HeadspanError, match=rf"{name}, which is not .*'headspan\[interchange\]'"):
        getattr(interchange, f"to_{name}")(argument)
