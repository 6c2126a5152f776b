"""Pointer networks as parsers: trained, saved, asked."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headspan import HeadspanError, conllu
from headspan.annotate.assistant import Assistant
from headspan.config import Config, DataConfig, EmbeddingsConfig, ModelConfig, TrainingConfig
from headspan.conllu import Sentence
from headspan.inference import Constraints, ScoresError
from headspan.model.parser import Parser
from headspan.registries import STRUCTURES
from headspan.runtime.network_graph import reason_for_torch
from headspan.training.loop import Trainer, train
from headspan.tree import check_tree, is_projective

NAMES = [name for name, structure in STRUCTURES.items() if not structure.factored]
both = pytest.mark.parametrize("name", NAMES)


@pytest.fixture
def gold(tmp_path: Path) -> list[Sentence]:
    """Two sentences, one with crossing arcs; also as a treebank."""
    trees = [
        ("a hearing is scheduled on it today", (2, 4, 4, 0, 6, 2, 4)),
        ("the dog sees a cat", (2, 3, 0, 5, 3)),
    ]
    relations = ("det", "nsubj", "root", "aux", "case", "nmod", "advmod")
    sentences = [
        Sentence.from_words(
            words.split(),
            heads=heads,
            deprels=[relations[2] if h == 0 else relations[k % 2] for k, h in enumerate(heads)],
        )
        for words, heads in trees
    ]
    assert [is_projective(s.heads) for s in sentences] == [False, True]
    conllu.write(sentences, tmp_path / "two.conllu")
    return sentences


def settings(folder: Path, name: str, nonprojective: Any = "keep", **model: Any) -> Config:
    file = str(folder / "two.conllu")
    chosen = {"loss": "local", "dropout": 0.0, **model}
    return Config(
        data=DataConfig(train=file, dev=file, nonprojective=nonprojective, punct="keep"),
        model=ModelConfig(
            structure=name, lstm_layers=1, lstm_size=16, score_size=16, label_size=8,
            embeddings=EmbeddingsConfig(words=16, min_count=1), **chosen,
        ),
        training=TrainingConfig(epochs=60, batch_tokens=60, learning_rate=1e-2, warmup_epochs=0.2),
    )  # fmt: skip


@both
@pytest.mark.parametrize("beam", [1, 4])
def test_crossing_arcs_are_learned_by_heart_and_parsed_the_same_after_loading(
    gold: list[Sentence], tmp_path: Path, name: str, beam: int
) -> None:
    parser = train(settings(tmp_path, name, beam=beam), tmp_path / "run")
    words = [Sentence.from_words(s.forms) for s in gold]
    parses = parser.parse(words, confidence=True)
    assert [(p.heads, p.deprels) for p in parses] == [(s.heads, s.deprels) for s in gold]
    assert all(0.5 < c <= 1 for p in parses for c in p.head_confidences)
    assert [parser(s) for s in words] == parser.parse(words), "alone and in a batch"
    parser.save(tmp_path / "again")
    parser.save(tmp_path / "small", small=True)
    again = Parser.load(tmp_path / "again")
    assert again.parse(words, confidence=True) == parses
    assert again.network.structure.beam == beam
    assert [p.heads for p in Parser.load(tmp_path / "small").parse(words)] == [
        s.heads for s in gold
    ]


@both
@pytest.mark.parametrize("nonprojective", ["drop", "head"])
def test_other_treatments_give_projective_trees(
    gold: list[Sentence], tmp_path: Path, name: str, nonprojective: Any
) -> None:
    config = settings(tmp_path, name, nonprojective)
    config = replace(config, training=replace(config.training, epochs=1))
    parser = train(config, tmp_path / "run")
    assert parser.network.structure.projective
    for parse in parser.parse_stream(s.forms * 4 for s in gold):
        check_tree(parse.heads)
        assert nonprojective == "head" or is_projective(parse.heads)


@pytest.fixture
def parser(gold: list[Sentence], tmp_path: Path) -> Parser:
    """One that has learned nothing."""
    return Trainer(settings(tmp_path, "pointer"), tmp_path / "run").parser


def test_what_needs_more_than_one_tree_is_refused(parser: Parser) -> None:
    message = "^a model that builds one tree word by word has no constraints, k best trees or sums"
    words = ["a", "dog", "sees", "it"]
    with pytest.raises(ScoresError, match=message):
        parser.parse_words(words, k=3)
    with pytest.raises(ScoresError, match=message):
        parser.parse([words, words], constraints=[None, Constraints(root=2)])
    with pytest.raises(ScoresError, match=message):
        parser.scored(Sentence.from_words(words))
    with pytest.raises(ScoresError, match=message):
        Assistant(parser)


def test_it_needs_torch(parser: Parser, tmp_path: Path) -> None:
    assert reason_for_torch(parser.config.model, None) == "the structure 'pointer'"
    parser.save(tmp_path / "model")
    with pytest.raises(HeadspanError, match="the structure 'pointer' needs torch"):
        Parser.load(tmp_path / "model", engine="onnx")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"loss": "max-margin"}, "builds trees word by word and learns each word's head; expected local"),
        ({"loss": "crf"}, "model.loss is 'crf', but model.structure is 'pointer', which builds trees"),
        ({"decoder": "minimum-risk"}, "builds trees word by word and has no sums over them; expected best"),
        ({"labels_from": "spans"}, "need not be a span; expected words"),
    ],
)  # fmt: skip
def test_settings_that_do_not_fit_are_refused(
    gold: list[Sentence], tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(HeadspanError, match=message):
        Trainer(settings(tmp_path, "pointer", **changes), tmp_path / "run")


def test_exact_structures_have_no_beam(gold: list[Sentence], tmp_path: Path) -> None:
    message = "model.beam is 4, but model.structure is 'mst', whose best tree is found exactly"
    with pytest.raises(HeadspanError, match=message):
        Trainer(settings(tmp_path, "mst", beam=4), tmp_path / "run")
