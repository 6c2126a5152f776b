"""What a parser gives beside the best tree."""

import math
from copy import copy
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
from headspan.model.numbering import prepare
from headspan.model.parser import Parser
from headspan.nn.network import Network
from headspan.plumbing import limits
from headspan.plumbing.errors import HeadspanError
from headspan.runtime import packing, piece_scores
from headspan.runtime.decoding import Temperatures
from headspan.training.calibration import (
    cross_entropy,
    expected_calibration_error,
    fit_temperatures,
    judged,
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
    assert found.temperatures != Temperatures()  # fitted at the end of training
    found.temperatures = Temperatures()
    return found


@pytest.fixture(scope="module")
def sentences(treebank: Path) -> list[Sentence]:
    return list(conllu.read(treebank / "dev.conllu"))


def scores_of(parser: Parser, sentence: Sentence) -> tuple[Any, list[Any]]:
    """The structure and the scores that it takes, straight from the network."""
    inputs = prepare([sentence], parser.vocabularies, parser.tokenizer)
    with torch.inference_mode():
        scores = parser.network.encode(inputs).scores
        return parser.network.structure, [np.asarray(part[0]) for part in scores.dense()]


def in_torch(parser: Parser) -> Parser:
    """The same parser, computing with torch."""
    return copy(parser).to("cpu")


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
        assert parsed.head_confidences == pytest.approx(expected.tolist(), abs=1e-4)
        both = zip(parsed.head_confidences, parsed.relation_confidences, strict=True)
        assert parsed.confidences == tuple(a * b for a, b in both)
    assert not parser(sentences[0]).confidences


def test_confidences_of_relations_are_those_of_legal_ones(
    parser: Parser, sentences: list[Sentence]
) -> None:
    """By definition: a softmax over the relations that an arc may have."""
    names = parser.vocabularies.labels.names
    parser.temperatures = Temperatures(relations=2.0)
    try:
        parsed = parser.parse(sentences, confidence=True)
    finally:
        parser.temperatures = Temperatures()
    network: Any = in_torch(parser).network
    for parse, gold in zip(parsed, sentences, strict=True):
        with torch.no_grad():
            inputs = prepare([gold], parser.vocabularies, parser.tokenizer)
            context = network.context(inputs)[0]
            for k, head in enumerate(parse.heads):
                at = torch.tensor([0]), torch.tensor([head]), torch.tensor([k + 1])
                scores = network.labels(context[:, :-1], context[:, :-1], *at)[0, 2:] / 2.0
                legal = [name for name in names if (name == "root") == (head == 0)]
                weights = [math.exp(scores[names.index(name)]) for name in legal]
                best = max(range(len(legal)), key=weights.__getitem__)
                assert parse.deprels[k] == legal[best]
                share = weights[best] / sum(weights)
                assert parse.relation_confidences[k] == pytest.approx(share, abs=1e-5)


def test_a_restored_arc_is_right_if_its_label_is(
    parser: Parser, sentences: list[Sentence], monkeypatch: pytest.MonkeyPatch
) -> None:
    def restore(heads: list[int], labels: list[str], **_: Any) -> tuple[list[int], list[str]]:
        at = next(k for k, head in enumerate(heads) if head)
        other = next(k for k in range(1, len(heads) + 1) if k not in (at + 1, heads[at]))
        return [*heads[:at], other, *heads[at + 1 :]], labels

    before = parser(sentences[0], confidence=True)
    monkeypatch.setattr("headspan.model.parser.deprojectivize", restore)
    after = parser(sentences[0], confidence=True)
    moved = [a != b for a, b in zip(before.heads, after.heads, strict=True)]
    assert sum(moved) == 1
    assert after.confidences == pytest.approx(before.confidences)
    for k, was_moved in enumerate(moved):
        if was_moved:
            assert after.head_confidences[k] == pytest.approx(before.confidences[k])
            assert after.relation_confidences[k] == 1.0
        else:
            assert after.head_confidences[k] == before.head_confidences[k]


def test_trees_have_one_root_relation_even_if_the_network_wants_others(
    parser: Parser, sentences: list[Sentence]
) -> None:
    parser = in_torch(parser)
    network: Any = parser.network
    labels, bias = parser.vocabularies.labels, network.labels
    root = labels.number("root")
    kept = {name: p.detach().clone() for name, p in bias.named_parameters()}
    try:
        for sign in (-1, 1):  # never root, always root
            with torch.no_grad():
                for parameter in bias.parameters():
                    if parameter.shape[0] == len(labels):
                        parameter[root] += sign * 100
            for parse in parser.parse(sentences, k=20):
                for tree in (parse, *parse.alternatives):
                    roots = [relation == "root" for relation in tree.deprels]
                    assert roots == [head == 0 for head in tree.heads]
                    assert sum(roots) == 1
    finally:
        bias.load_state_dict(kept)


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_probabilities_of_the_best_trees_are_their_shares_of_all_trees(
    parser: Parser, sentences: list[Sentence], temperature: float
) -> None:
    short = [sentence for sentence in sentences if len(sentence) <= 6]
    parser.temperatures = Temperatures(trees=temperature)
    try:
        parses = parser.parse(short, k=10_000)
        bound = parser(short[0], k=5, constraints=Constraints(root=2))
    finally:
        parser.temperatures = Temperatures()
    for parse in parses:
        shares = [tree.probability for tree in parse.alternatives]
        weights = np.exp([tree.score / temperature for tree in parse.alternatives])
        assert shares == pytest.approx((weights / weights.sum()).tolist(), abs=1e-5)
    free = {tree.heads: tree.probability for tree in parses[0].alternatives}
    for tree in bound.alternatives:
        assert tree.probability == pytest.approx(free[tree.heads], rel=1e-4)


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
    try:
        parser.temperatures = Temperatures(trees=5.0)
        assert mean() < before
        parser.temperatures = Temperatures(relations=5.0)
        assert mean() < before
    finally:
        parser.temperatures = Temperatures()


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
    with pytest.raises(HeadspanError, match="found Constraints; expected a list of them"):
        parser.parse(sentences[:1], constraints=wanted)  # type: ignore[arg-type]
    circle = Constraints(required_arcs=[(1, 2), (2, 1)])
    words = " ".join(sentences[1].forms)[:20]
    with pytest.raises(HeadspanError, match=f"no tree of '{words}.*satisfies its constraints"):
        parser.parse(sentences[:2], constraints=[wanted, circle])


def test_constrained_and_free_sentences_share_a_batch(
    parser: Parser, sentences: list[Sentence], monkeypatch: pytest.MonkeyPatch
) -> None:
    bound = [Constraints(root=1) if number % 2 else None for number in range(len(sentences))]
    pairs = zip(sentences, bound, strict=True)
    alone = [parser.parse([s], constraints=[c])[0] for s, c in pairs]
    sizes = []
    network_parse = parser.network.parse

    def counted(inputs: Any, options: Any) -> Any:
        sizes.append(len(inputs.lengths))
        return network_parse(inputs, options)

    monkeypatch.setattr(parser.network, "parse", counted)
    together = parser.parse(sentences, constraints=bound)
    assert sizes == [len(sentences)]
    assert together == alone
    assert [parse.heads[0] for parse in together][1::2] == [0] * (len(sentences) // 2)


def test_an_old_confidence_does_not_outlive_its_tree(
    parser: Parser, sentences: list[Sentence]
) -> None:
    said = ["HeadConfidence=0.1234|Confidence=0.1234", "A=1|Confidence=0.1234|B=2", "_x", "_"]
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
    monkeypatch.setattr(packing, "_LARGE_MATRIX", 100)
    parser.save(tmp_path / "small", small=True)
    weights = tmp_path / "small" / "model.safetensors"
    (tmp_path / "small" / "checksums.json").unlink()
    tensors = load_file(weights)
    assert tensors["inputs.words.weight"].dtype == torch.int8
    expected, again = parser.network.tensors(), Parser.load(tmp_path / "small")
    for name, tensor in again.network.tensors().items():
        assert tensor.dtype == expected[name].dtype
        room = np.abs(expected[name]).max() / 127 + 1e-3
        assert np.abs(tensor - expected[name]).max() <= room
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
    def loss(kind: str) -> float:
        return cross_entropy(*judged(parser, sentences)[kind])

    before = {kind: loss(kind) for kind in ("heads", "relations")}
    try:
        found = fit_temperatures(parser, sentences)
        assert found == parser.temperatures
        best = {kind: loss(kind) for kind in before}
        assert all(best[kind] <= before[kind] + 1e-6 for kind in before)
        for other in (0.7, 1.4):
            parser.temperatures = replace(found, trees=found.trees * other)
            assert loss("heads") >= best["heads"] - 1e-6
            parser.temperatures = replace(found, relations=found.relations * other)
            assert loss("relations") >= best["relations"] - 1e-6
    finally:
        parser.temperatures = Temperatures()


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
        Network(both, parser.vocabularies.sizes())


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
