"""What a parser gives beside the best tree."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from headspan import conllu
from headspan.config import (
    Config,
    DataConfig,
    EmbeddingsConfig,
    ModelConfig,
    TaggerConfig,
    TrainingConfig,
)
from headspan.conllu import Sentence
from headspan.inference import Constraints
from headspan.model import saving
from headspan.model.numbering import prepare
from headspan.model.parser import Parser
from headspan.nn import piece_scores
from headspan.plumbing import limits
from headspan.plumbing.errors import HeadspanError
from headspan.training.calibration import (
    confidences,
    cross_entropy,
    expected_calibration_error,
    fit_temperature,
    reliability,
)
from headspan.training.loop import train
from headspan.tree import headed_spans


def trained(
    treebank: Path, folder: Path, *, structure: Any = "span", tagger: bool = False
) -> Parser:
    columns: Any = ("upos", "xpos")
    model = ModelConfig(
        structure=structure, lstm_layers=1, lstm_size=16, score_size=16, label_size=8, dropout=0.1,
        embeddings=EmbeddingsConfig(
            words=16, characters=0, tags=8, columns=() if tagger else columns, min_count=1
        ),
        tagger=TaggerConfig(columns=columns if tagger else (), size=16),
    )  # fmt: skip
    data = DataConfig(train=str(treebank / "train.conllu"), dev=str(treebank / "dev.conllu"))
    training = TrainingConfig(
        epochs=20 if tagger else 8, batch_tokens=100, learning_rate=1e-2, warmup_epochs=0.5
    )
    return train(Config(data, model, training), folder)


@pytest.fixture(scope="module", params=["span", "arc", "joint"])
def parser(request: Any, treebank: Path, tmp_path_factory: pytest.TempPathFactory) -> Parser:
    found = trained(treebank, tmp_path_factory.mktemp(request.param), structure=request.param)
    assert found.temperature != 1.0  # fitted at the end of training
    found.temperature = 1.0
    return found


@pytest.fixture(scope="module")
def sentences(treebank: Path) -> list[Sentence]:
    return list(conllu.read(treebank / "dev.conllu"))


def scores_of(parser: Parser, sentence: Sentence) -> tuple[Any, list[Any]]:
    """The structure and the scores that it takes, straight from the network."""
    network = parser.network.eval()
    with torch.inference_mode():
        context, _ = network.context(prepare([sentence], parser.vocabularies, parser.tokenizer))
        scores = network.tree_scores(context, torch.tensor([len(sentence)]))
        return network.structure, [part[0].numpy() for part in scores.dense()]


def test_spans_scores_and_confidences_are_those_of_exact_inference(
    parser: Parser, sentences: list[Sentence]
) -> None:
    for parsed, gold in zip(parser.parse(sentences, confidence=True), sentences, strict=True):
        algorithms, scores = scores_of(parser, gold)
        best = algorithms.best_tree(*scores)
        assert parsed.spans == tuple(headed_spans(best.heads.tolist()))
        assert parsed.score == pytest.approx(float(best.scores), rel=1e-4)
        chances = algorithms.marginals(*scores).arcs
        expected = chances[best.heads, np.arange(1, len(gold) + 1)]
        assert parsed.confidences == pytest.approx(expected.tolist(), abs=1e-4)
    assert not parser(sentences[0]).confidences


def test_the_decoder_can_minimise_risk(
    parser: Parser, sentences: list[Sentence], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = replace(parser.config.model, decoder="minimum-risk")
    monkeypatch.setattr(parser.network, "model", model)
    monkeypatch.setattr(parser, "config", replace(parser.config, model=model))
    for most_dense in (piece_scores.MOST_DENSE, 10):
        monkeypatch.setattr(piece_scores, "MOST_DENSE", most_dense)
        for parsed, gold in zip(parser.parse(sentences), sentences, strict=True):
            structure, scores = scores_of(parser, gold)
            safest = structure.minimum_risk_tree(*scores)
            assert parsed.spans == tuple(headed_spans(safest.heads.tolist()))
            own = structure.tree_score(*scores, safest.heads)
            assert parsed.score == pytest.approx(float(own), rel=1e-4)
    (bound,) = parser.parse(sentences[:1], constraints=[Constraints(root=1)])
    assert bound.heads[0] == 0


def test_confidences_do_not_depend_on_the_batch(
    parser: Parser, sentences: list[Sentence], monkeypatch: pytest.MonkeyPatch
) -> None:
    together = parser.parse(sentences, confidence=True)
    monkeypatch.setattr(piece_scores, "MOST_DENSE", 10)
    alone = parser.parse(sentences, confidence=True)
    for one, other in zip(together, alone, strict=True):
        assert one.confidences == pytest.approx(other.confidences, abs=1e-5)
    if parser.config.model.structure == "span":  # `joint` needs all scores also for its best tree
        monkeypatch.setattr(limits, "LONGEST_DENSE", 7)
        for parsed in parser.parse(sentences, confidence=True):
            assert bool(parsed.confidences) == (len(parsed) <= 7)


def test_a_higher_temperature_lowers_confidences(parser: Parser, sentences: list[Sentence]) -> None:
    def mean() -> float:
        parsed = parser.parse(sentences, confidence=True)
        return float(np.mean([c for s in parsed for c in s.confidences]))

    before = mean()
    parser.temperature = 5.0
    try:
        assert mean() < before
    finally:
        parser.temperature = 1.0


def test_the_k_best_trees_are_in_order_and_begin_with_the_best(
    parser: Parser, sentences: list[Sentence]
) -> None:
    for parsed in parser.parse(sentences, k=5):
        best, *others = parsed.alternatives
        assert len(others) == 4
        assert (best.heads, best.deprels) == (parsed.heads, parsed.deprels)
        assert best.score == pytest.approx(parsed.score, rel=1e-4)
        found = [tree.score for tree in parsed.alternatives]
        assert found == sorted(found, reverse=True)
    assert len(parser.parse_words(["dog"], k=5).alternatives) == 1
    assert len(parser.parse_words(["the", "dog"], k=5).alternatives) == 2


def test_constraints_hold_in_the_best_trees(parser: Parser, sentences: list[Sentence]) -> None:
    free = parser(sentences[0])
    wrong = 1 if free.heads[0] != 0 else 2
    wanted = Constraints(root=wrong, forbidden_arcs=[(wrong, 3)])
    first, second = parser.parse(sentences[:2], constraints=[wanted, None])
    assert first.heads[wrong - 1] == 0
    assert first.heads[2] != wrong
    assert first.score < free.score
    assert not any("|" in relation for relation in first.deprels)
    assert second.heads == parser(sentences[1]).heads
    (several,) = parser.parse(sentences[:1], constraints=[wanted], k=4)
    assert (several.heads, several.deprels) == (first.heads, first.deprels)
    best, *others = several.alternatives
    assert (best.heads, best.deprels) == (first.heads, first.deprels)
    assert len(others) == 3
    for tree in others:
        assert tree.heads[wrong - 1] == 0
        assert tree.heads[2] != wrong
        assert tree.score <= best.score
    free = parser.parse(sentences)
    assert [s.heads for s in parser.parse(sentences, constraints=[None] * len(sentences))] == [
        s.heads for s in free
    ]
    with pytest.raises(HeadspanError, match="1 constraints for 2 sentences"):
        parser.parse(sentences[:2], constraints=[None])


def test_constrained_and_free_sentences_share_a_batch(
    parser: Parser, sentences: list[Sentence], monkeypatch: pytest.MonkeyPatch
) -> None:
    bound = [Constraints(root=1) if number % 2 else None for number in range(len(sentences))]
    pairs = zip(sentences, bound, strict=True)
    alone = [parser.parse([s], constraints=[c])[0] for s, c in pairs]
    sizes = []
    network_parse = parser.network.parse

    def counted(inputs: Any, **options: Any) -> Any:
        sizes.append(len(inputs.lengths))
        return network_parse(inputs, **options)

    monkeypatch.setattr(parser.network, "parse", counted)
    together = parser.parse(sentences, constraints=bound)
    assert sizes == [len(sentences)]
    assert together == alone
    assert [parse.heads[0] for parse in together][1::2] == [0] * (len(sentences) // 2)


def test_an_old_confidence_does_not_outlive_its_tree(
    parser: Parser, sentences: list[Sentence]
) -> None:
    said = ["Confidence=0.1234", "A=1|Confidence=0.1234|B=2", "_x", "_"]
    misc = tuple(said[k % 4] for k in range(len(sentences[0])))
    stale = replace(sentences[0], misc=misc)
    assert parser(stale).misc[:4] == ("_", "A=1|B=2", "_x", "_")
    fresh = parser(stale, confidence=True).with_confidences()
    assert fresh.misc[1].startswith("A=1|B=2|Confidence=")
    assert fresh.misc[2].startswith("_x|Confidence=")
    assert not any("0.1234" in kept for kept in fresh.misc)
    assert parser(fresh).misc == parser(stale).misc


def test_tags_are_learned_and_filled_in(treebank: Path, tmp_path: Path) -> None:
    parser = trained(treebank, tmp_path / "run", tagger=True)
    gold = list(conllu.read(treebank / "dev.conllu"))
    bare = [Sentence.from_words(s.forms) for s in gold]
    for found, expected in zip(parser.parse(bare), gold, strict=True):
        assert (found.upos, found.xpos) == (expected.upos, expected.xpos)
        assert found.feats == expected.feats
    own = gold[0].with_tags(upos=["X"] * len(gold[0]))
    assert parser(own).upos == own.upos
    assert parser(own).heads == parser(bare[0]).heads
    assert parser(own, retag=True).upos == gold[0].upos
    parser.save(tmp_path / "again", small=True)
    again = Parser.load(tmp_path / "again")
    assert again.parse(bare) == parser.parse(bare)
    size, whole = (
        (tmp_path / folder / "model.safetensors").stat().st_size
        for folder in ("again", "run/model")
    )
    assert size < 0.6 * whole


def test_large_tables_are_kept_as_int8(
    treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors.torch import load_file, save_file

    parser = trained(treebank, tmp_path / "run")
    monkeypatch.setattr(saving, "_LARGE_TABLE", 100)
    parser.save(tmp_path / "small", small=True)
    weights = tmp_path / "small" / "model.safetensors"
    tensors = load_file(weights)
    assert tensors["inputs.words.weight"].dtype == torch.int8
    expected, again = parser.network.state_dict(), Parser.load(tmp_path / "small")
    for name, tensor in again.network.state_dict().items():
        assert tensor.dtype == expected[name].dtype
        room = expected[name].abs().max() / 127 + 1e-3
        assert (tensor - expected[name]).abs().max() <= room
    save_file({**tensors, "inputs.words.weight.scale": torch.ones(1, 1)}, weights)
    with pytest.raises(HeadspanError, match=r"weight does not fit its scale"):
        Parser.load(tmp_path / "small")
    for wrong in (torch.int8, torch.int32):
        save_file({**tensors, "inputs.words.weight.scale": torch.ones(1),
                   "inputs.ends": torch.zeros(2, 32, dtype=wrong)}, weights)  # fmt: skip
        with pytest.raises(HeadspanError):
            Parser.load(tmp_path / "small")


def test_the_fitted_temperature_has_the_least_cross_entropy(
    parser: Parser, sentences: list[Sentence]
) -> None:
    before = cross_entropy(*confidences(parser, sentences))
    try:
        found = fit_temperature(parser, sentences)
        assert found == parser.temperature
        best = cross_entropy(*confidences(parser, sentences))
        assert best <= before + 1e-6
        for other in (0.7, 1.4):
            parser.temperature = found * other
            assert cross_entropy(*confidences(parser, sentences)) >= best - 1e-6
    finally:
        parser.temperature = 1.0


def test_reliability_counts_arcs_per_bin() -> None:
    chances = np.array([0.05, 0.95, 0.95, 1.0])
    right = np.array([False, True, True, False])
    assert reliability(chances, right) == [
        (1, 0.05, 0.0), (3, pytest.approx(2.9 / 3), pytest.approx(2 / 3))
    ]  # fmt: skip
    expected = (0.05 + 3 * abs(2.9 / 3 - 2 / 3)) / 4
    assert expected_calibration_error(chances, right) == pytest.approx(expected)


def test_a_column_cannot_be_both_read_and_predicted(treebank: Path, tmp_path: Path) -> None:
    parser = trained(treebank, tmp_path, tagger=True)
    model = parser.config.model
    both = replace(model, embeddings=replace(model.embeddings, columns=("upos",)))
    with pytest.raises(HeadspanError, match="upos is either read or predicted"):
        type(parser.network)(both, parser.vocabularies.sizes())


def test_models_are_fetched_from_and_pushed_to_the_hub(
    treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    parser = trained(treebank, tmp_path / "run")
    parser.save_pretrained(tmp_path / "model")
    words = ["the", "dog", "sees"]
    assert Parser.from_pretrained(tmp_path / "model").parse_words(words) == parser.parse_words(
        words
    )

    asked: list[Any] = []

    def download(name: str, *, allow_patterns: list[str]) -> str:
        asked.append((name, allow_patterns))
        return str(tmp_path / "model")

    class Api:
        def create_repo(self, name: str, **options: Any) -> str:
            asked.append((name, options))
            return f"hub/{name}"

        def upload_folder(self, *, repo_id: str, folder_path: Path) -> None:
            asked.append((repo_id, sorted(p.name for p in folder_path.iterdir())))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    assert Parser.from_pretrained("someone/parser").parse_words(words) == parser.parse_words(words)
    assert asked[0][0] == "someone/parser"
    assert "model.safetensors" in asked[0][1]
    assert parser.push_to_hub("me/parser", private=True) == "hub/me/parser"
    assert asked[1] == ("me/parser", {"private": True, "exist_ok": True})
    assert "config.json" in asked[2][1]
    with pytest.raises(HeadspanError, match="there is no such model folder"):
        Parser.from_pretrained("nothing")

    def offline(name: str, **options: Any) -> str:
        raise OSError("no network\nand more")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    with pytest.raises(
        HeadspanError, match="someone/else: cannot be fetched from the hub: no network"
    ):
        Parser.from_pretrained("someone/else")


def test_calling_a_parser_takes_the_options_of_parse(
    parser: Parser, sentences: list[Sentence]
) -> None:
    wrong = 1 if parser(sentences[0]).heads[0] != 0 else 2
    constraints = Constraints(root=wrong)
    found = parser(sentences[0], constraints=constraints, confidence=True, k=2)
    (expected,) = parser.parse(sentences[:1], constraints=[constraints], confidence=True, k=2)
    assert found == expected
    assert found.heads[wrong - 1] == 0
    assert found.confidences == expected.confidences
    assert found.alternatives == expected.alternatives
    words = sentences[0].forms
    assert parser.parse_words(words, constraints=constraints).heads[wrong - 1] == 0
