import os
import pickle
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import torch
from hypothesis import given
from hypothesis import strategies as st
from spacy import displacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from headspan import HeadspanError, Sentence, conllu
from headspan.config import DataConfig, EmbeddingsConfig, TaggerConfig
from headspan.integrations.spacy import HeadspanParser
from headspan.integrations.spacy_docs import words_of_sentences, write_trees
from headspan.model.parse_result import Parse
from headspan.model.parser import Parser
from headspan.training.loop import Trainer
from trees import random_tree

TEXT = "Ann sees the dog. Bob likes a cat under the tree!\n\nThe arrow flies."
WHITE = [
    "",
    " ",
    "\n\n",
    "dog",
    " dog",
    "dog \n",
    "\n\n The dog  sees .\n\n\n A cat . \n ",
    "\t\n \u3000",
]

Pipeline = Callable[..., Language]


@pytest.fixture(scope="session")
def pipeline(model: Path) -> Pipeline:
    """Makes a blank English pipeline with headspan in it, or returns the one made before."""

    @cache
    def make(*before: str, **config: Any) -> Language:
        nlp = spacy.blank("en")
        for name in before:
            nlp.add_pipe(name)
        nlp.add_pipe("headspan", config={"model": str(model), **config})
        return nlp

    return make


def heads(doc: Doc) -> list[int]:
    return [token.head.i for token in doc]


def everything(doc: Doc) -> list[tuple[Any, ...]]:
    return [(t.text, t.head.i, t.dep_, t.is_sent_start, t.pos_, t.tag_) for t in doc]


def check(doc: Doc) -> None:
    """Check everything that holds for any parsed document."""
    assert doc.has_annotation("DEP", require_complete=True)
    assert doc.has_annotation("SENT_START", require_complete=True)
    assert sum(len(sentence) for sentence in doc.sents) == len(doc)
    for sentence in doc.sents:
        roots = [token for token in sentence if token.head == token]
        assert roots == [sentence.root]
        assert all(token.head in sentence for token in sentence)
        if not all(token.is_space for token in sentence):
            assert not any(child.is_space and list(child.children) for child in sentence[1:])


def test_making_pipelines_imports_no_parser() -> None:
    code = (
        "import spacy, sys; spacy.blank('en').add_pipe('headspan'); "
        "print(*{'headspan.integrations.spacy', 'headspan.model.parser', 'numba'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "headspan.integrations.spacy"


def test_documents_get_the_trees_and_sentences_of_the_parser(
    pipeline: Pipeline, parser: Parser
) -> None:
    doc = pipeline()(TEXT)
    check(doc)
    sentences = list(doc.sents)
    assert [s.text.strip() for s in sentences] == [s.text for s in parser.sentences([TEXT])]
    for sentence in sentences:
        words = [token for token in sentence if not token.is_space]
        parse = parser.parse_words([token.text for token in words])
        assert [words.index(t.head) + 1 if t.head != t else 0 for t in words] == list(parse.heads)
        assert [t.dep_.replace("ROOT", "root") for t in words] == list(parse.deprels)
    assert not doc.has_annotation("POS")
    assert not doc.has_annotation("TAG")


def test_labels_are_relations_in_the_spelling_of_spacy(pipeline: Pipeline) -> None:
    component = pipeline().get_pipe("headspan")
    assert {"ROOT", "nsubj", "det"} <= set(component.labels)
    assert not any("|" in label for label in component.labels)


@pytest.mark.parametrize("text", WHITE)
def test_white_space_is_not_a_word(pipeline: Pipeline, text: str) -> None:
    doc = pipeline(tags=True)(text)
    check(doc)
    assert doc.text == text
    for token in doc:
        assert (token.pos_ == "SPACE") == token.is_space == (token.tag_ == "_SP")
        assert not token.is_space or token.dep_ in ("dep", "ROOT")


@given(text=st.text(alphabet=st.sampled_from("the dog.\n \t\u3000ü!")))
def test_any_text_is_parsed_completely(pipeline: Pipeline, text: str) -> None:
    nlp = pipeline("sentencizer") if text.count(" ") % 2 else pipeline()
    check(nlp(text))


def test_existing_sentence_boundaries_stay(pipeline: Pipeline) -> None:
    text = "Ann sees the dog. Bob likes a cat. "
    with_dots = pipeline("sentencizer")(text)
    assert [s.text for s in with_dots.sents] == [
        s.text for s in spacy.blank("en").add_pipe("sentencizer")(spacy.blank("en")(text)).sents
    ]
    one = pipeline(sentences=False)(text)
    check(one)
    assert len(list(one.sents)) == 1
    words = text.replace(".", " .").split()
    given = Doc(one.vocab, words, sent_starts=[True, False, True, *[False] * (len(words) - 3)])
    assert [len(s) for s in pipeline()(given).sents] == [2, len(words) - 2]


def test_decided_boundaries_stay_and_the_segmenter_decides_the_rest(pipeline: Pipeline) -> None:
    nlp = pipeline()
    doc = nlp.make_doc("Ann sees the dog. Bob likes a cat. Eve knows Dan.")
    doc[2].is_sent_start = True  # the
    doc[5].is_sent_start = False  # Bob
    doc = nlp.get_pipe("headspan")(doc)
    check(doc)
    assert [s.text for s in doc.sents] == [
        "Ann sees",
        "the dog. Bob likes a cat.",
        "Eve knows Dan.",
    ]


def test_a_sentence_that_begins_inside_a_token_begins_with_the_next(
    pipeline: Pipeline, parser: Parser
) -> None:
    text = "Ann likes du house.Eve finds cloud. Dan sees tree."
    assert [s.text for s in parser.sentences([text])] == [
        "Ann likes du house.", "Eve finds cloud.", "Dan sees tree."
    ]  # fmt: skip
    nlp = pipeline()
    doc = nlp(Doc(nlp.vocab, text.split()))
    assert [[token.text for token in sentence] for sentence in doc.sents] == [
        ["Ann", "likes", "du", "house.Eve"], ["finds", "cloud."], ["Dan", "sees", "tree."]
    ]  # fmt: skip


def test_a_model_without_a_segmenter_says_what_to_do(
    parser: Parser, tmp_path: Path, pipeline: Pipeline
) -> None:
    bare = copy(parser)
    bare.segmenter = None
    bare.save(tmp_path / "bare")
    make = partial(pipeline, model=str(tmp_path / "bare"))
    with pytest.raises(HeadspanError, match="add spaCy's sentencizer before it, or set sentences"):
        make()(TEXT)
    check(make("sentencizer")(TEXT))
    check(make(sentences=False)(TEXT))
    check(make()("dog"))


def test_predicted_tags_are_set_on_request(pipeline: Pipeline, parser: Parser) -> None:
    doc = pipeline(tags=True)("the dog sees a cat .")
    parse = parser.parse_words(["the", "dog", "sees", "a", "cat", "."])
    assert [token.pos_ for token in doc] == list(parse.upos)
    assert [token.tag_ for token in doc] == list(parse.xpos)
    assert not doc.has_annotation("LEMMA")


def test_predicted_lemmas_are_set_with_the_tags(
    treebank: Path, parser: Parser, tmp_path: Path, pipeline: Pipeline
) -> None:
    sentences = [
        s.with_tags(lemmas=[form.lower() + "x" for form in s.forms])
        for s in conllu.read(treebank / "train.conllu")
    ]
    conllu.write(sentences, tmp_path / "lemmas.conllu")
    data = DataConfig(train=str(tmp_path / "lemmas.conllu"), dev=str(treebank / "dev.conllu"))
    network = replace(parser.config.model, tagger=TaggerConfig(columns=("lemmas", "upos")))
    made = Trainer(replace(parser.config, data=data, model=network), tmp_path / "run").parser
    made.save(tmp_path / "model")
    nlp = pipeline(model=str(tmp_path / "model"), sentences=False, tags=True)
    doc = nlp("the  dog sees\n")
    assert [t.lemma_ for t in doc] == [t.text if t.is_space else f"{t.text}x" for t in doc]


def test_a_model_that_reads_tags_gets_those_of_the_document(
    treebank: Path, parser: Parser, tmp_path: Path, pipeline: Pipeline
) -> None:
    network = replace(
        parser.config.model,
        embeddings=EmbeddingsConfig(words=8, tags=8, columns=("upos", "xpos"), min_count=1),
        tagger=TaggerConfig(),
    )
    data = DataConfig(train=str(treebank / "train.conllu"), dev=str(treebank / "dev.conllu"))
    reader = Trainer(replace(parser.config, data=data, model=network), tmp_path / "run").parser
    torch.manual_seed(0)
    for parameter in reader.network.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    reader.save(tmp_path / "model")
    nlp = pipeline(model=str(tmp_path / "model"), sentences=False, confidence=True)
    words, upos, xpos = ["dog", "sees", "cat"], ["NOUN", "VERB", "NOUN"], ["NO", "VE", "NO"]
    doc = nlp(Doc(nlp.vocab, words, pos=upos, tags=xpos))
    expected = reader(Sentence.from_words(words, upos=upos, xpos=xpos), confidence=True)
    assert [token._.head_confidence for token in doc] == pytest.approx(expected.head_confidences)
    without = nlp(Doc(nlp.vocab, words))
    assert [token._.head_confidence for token in without] != pytest.approx(
        expected.head_confidences
    )
    with pytest.raises(HeadspanError, match="tags is true, but the model does not predict tags"):
        pipeline(model=str(tmp_path / "model"), tags=True)("dog")


def test_confidences_are_set_on_request(pipeline: Pipeline, parser: Parser) -> None:
    doc = pipeline(confidence=True)("the dog sees a cat .")
    expected = parser.parse_words([token.text for token in doc], confidence=True)
    assert [t._.head_confidence for t in doc] == pytest.approx(expected.head_confidences)
    assert [t._.relation_confidence for t in doc] == pytest.approx(expected.relation_confidences)
    long = pipeline(confidence=True, sentences=False)("dog " * 450)
    check(long)
    assert long[0]._.head_confidence is None


def test_a_stream_of_documents_is_parsed_like_each_of_them(pipeline: Pipeline) -> None:
    nlp = pipeline(tags=True)
    texts = [TEXT, "", " ", "dog", TEXT[::-1], "the dog sees .", TEXT * 30] * 3
    alone = [everything(nlp(text)) for text in texts]
    for batch_size in (1, 4, 1000):
        assert [everything(doc) for doc in nlp.pipe(iter(texts), batch_size=batch_size)] == alone
    pairs = nlp.pipe([(text, k) for k, text in enumerate(texts)], as_tuples=True)
    assert [k for _, k in pairs] == list(range(len(texts)))


SEVERAL = """
import sys

import spacy
import torch

if __name__ == "__main__":
    torch.set_num_threads(2)
    torch.ones(1000, 1000).mm(torch.ones(1000, 1000))  # starts the threads before the fork
    nlp = spacy.blank("en")
    nlp.add_pipe("headspan", config={"model": sys.argv[1]})
    texts = [sys.argv[2] * 20] * 6
    alone = [token.head.i for token in nlp(texts[0])]
    for doc in nlp.pipe(texts, n_process=2, batch_size=2):
        assert [token.head.i for token in doc] == alone
"""


def test_several_processes_give_the_same_trees(model: Path, tmp_path: Path) -> None:
    """A fork does not copy threads, and waiting for them would take for ever."""
    (tmp_path / "several.py").write_text(SEVERAL, encoding="utf-8")
    command = [sys.executable, str(tmp_path / "several.py"), str(model), TEXT]
    started = subprocess.Popen(command, start_new_session=True)
    try:
        assert started.wait(timeout=300) == 0
    finally:
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)


def test_errors_go_to_the_handler(pipeline: Pipeline) -> None:
    nlp = pipeline(model="no/such/model")
    with pytest.raises(HeadspanError, match="no/such/model: there is no such model folder"):
        nlp("dog")
    with pytest.raises(HeadspanError):
        list(nlp.pipe(["dog"]))
    seen: list[str] = []
    nlp.set_error_handler(lambda name, component, docs, error: seen.append(f"{name}: {error}"))
    assert list(nlp.pipe(["dog", "cat"])) == []
    assert len(seen) == 1
    assert seen[0].startswith("headspan: no/such/model")


def test_a_saved_pipeline_is_complete(pipeline: Pipeline, model: Path, tmp_path: Path) -> None:
    shutil.copytree(model, tmp_path / "model")
    nlp = pipeline(model=str(tmp_path / "model"), tags=True)
    expected = everything(nlp(TEXT))
    nlp.to_disk(tmp_path / "pipeline")
    packed = nlp.to_bytes()
    shutil.rmtree(tmp_path / "model")
    assert everything(spacy.load(tmp_path / "pipeline")(TEXT)) == expected
    again = spacy.blank("en")
    again.add_pipe("headspan", config={"model": "gone", "tags": True})
    assert everything(again.from_bytes(packed)(TEXT)) == expected
    assert everything(pickle.loads(pickle.dumps(nlp))(TEXT)) == expected


def test_bytes_that_are_not_a_model_are_refused() -> None:
    import srsly

    for data in ({"../evil": b"x"}, {"config.json": b"{}"}, ["config.json"]):
        with pytest.raises(HeadspanError):
            HeadspanParser().from_bytes(srsly.msgpack_dumps(data))


@pytest.mark.parametrize("seed", range(30))
def test_non_projective_trees_survive(seed: int) -> None:
    rng = random.Random(seed)
    lengths = [rng.randint(1, 25) for _ in range(4)]
    nlp = spacy.blank("en")
    doc = Doc(nlp.vocab, [f"w{k}" for k in range(sum(lengths))])
    starts = np.zeros(len(doc), dtype=bool)
    starts[np.cumsum([0, *lengths[:-1]])] = True
    trees = [random_tree(n, rng) for n in lengths]
    parses = [
        Parse.of(
            Sentence.from_words(["w"] * len(tree), heads=tree, deprels=[f"r{h}" for h in tree])
        )
        for tree in trees
    ]
    write_trees(doc, starts, list(zip(words_of_sentences(doc, starts), parses, strict=True)))
    check(doc)
    assert [s.start for s in doc.sents] == np.flatnonzero(starts).tolist()
    for sentence, tree in zip(doc.sents, trees, strict=True):
        assert [0 if t.head == t else t.head.i - sentence.start + 1 for t in sentence] == tree
        assert [token.dep_ for token in sentence] == [f"r{head}" for head in tree]
    (copy,) = DocBin(docs=[doc]).get_docs(nlp.vocab)
    assert heads(copy) == heads(doc)


def test_displacy_draws_the_trees(pipeline: Pipeline) -> None:
    doc = pipeline()("the dog sees a cat on the time .")
    drawn = displacy.render(doc, style="dep", jupyter=False, options={"collapse_punct": False})
    assert drawn.count('class="displacy-arrow"') == len(doc) - 1
    crossing = Sentence.from_words(
        "A hearing is scheduled on the issue".split(),
        heads=[2, 4, 4, 0, 7, 7, 2], deprels="det nsubj aux root case det nmod".split(),
    )  # fmt: skip
    doc = Doc(doc.vocab, crossing.forms)
    write_trees(doc, np.arange(7) == 0, [(list(range(7)), Parse.of(crossing))])
    drawn = displacy.render(doc, style="dep", jupyter=False)
    assert sorted(re.findall(r">(\w+)</textPath>", drawn)) == sorted(
        "det nsubj aux case det nmod".split()
    )


def test_nlp_evaluate_scores_the_trees(pipeline: Pipeline) -> None:
    nlp = pipeline()
    gold = [nlp(TEXT.replace("\n\n", " ")), nlp("the dog sees a cat .")]
    scores = nlp.evaluate([Example(nlp.make_doc(doc.text), doc) for doc in gold])
    assert scores["dep_uas"] == scores["dep_las"] == scores["sents_f"] == 1.0


def test_a_long_document_is_parsed_completely(pipeline: Pipeline) -> None:
    doc = pipeline()(TEXT * 200)
    check(doc)
    assert len(list(doc.sents)) > 400
