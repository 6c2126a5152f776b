"""Networks without torch compute what networks of torch compute."""

from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
import torch

from headspan.config import EmbeddingsConfig, EncoderConfig, ModelConfig, TaggerConfig
from headspan.inference import Constraints
from headspan.nn.network import Network
from headspan.nn.pretrained import empty_encoder
from headspan.plumbing.errors import HeadspanError
from headspan.runtime.bert import BertSizes, is_plain_bert
from headspan.runtime.decoding import DecodingOptions
from headspan.runtime.graph_network import GraphNetwork
from headspan.runtime.inputs import Inputs, Subwords, VocabularySizes
from headspan.runtime.network_graph import network_graph, reason_for_torch
from headspan.runtime.packing import packed

LENGTHS = np.array([4, 1, 7])
BERT: dict[str, Any] = {
    "model_type": "bert", "vocab_size": 40, "hidden_size": 24, "num_hidden_layers": 3,
    "num_attention_heads": 4, "intermediate_size": 40, "max_position_embeddings": 32,
}  # fmt: skip
MPNET = {**BERT, "model_type": "mpnet", "max_position_embeddings": 34, "pad_token_id": 1}
SMALL: dict[str, Any] = {"lstm_layers": 1, "lstm_size": 6, "score_size": 5, "label_size": 4}
WORDS = EmbeddingsConfig(words=5)
CASES: dict[str, ModelConfig] = {
    "words": ModelConfig(structure="split", embeddings=WORDS, **SMALL),
    "everything": ModelConfig(
        structure="split", encoder=EncoderConfig(name="x", layers="mix"),
        embeddings=EmbeddingsConfig(words=5, characters=6, tags=3, columns=("xpos",)),
        tagger=TaggerConfig(columns=("upos", "feats"), size=7, as_input=True), **SMALL,
    ),
    "an encoder alone": ModelConfig(
        structure="arc", encoder=EncoderConfig(name="x", layers="last"), **{**SMALL, "lstm_layers": 0}
    ),
    "MPNet": ModelConfig(structure="split", encoder=EncoderConfig(name="x", layers="mix"), **SMALL),
    "tags that the parser does not see": ModelConfig(
        structure="split", embeddings=WORDS, tagger=TaggerConfig(columns=("upos",), size=7), **SMALL
    ),
    "tags from inside the BiLSTM": ModelConfig(
        structure="split", embeddings=WORDS, **{**SMALL, "lstm_layers": 2},
        tagger=TaggerConfig(columns=("upos", "feats"), size=7, layer=1, as_input=False),
    ),
    "tags from the last layer": ModelConfig(
        structure="split", embeddings=WORDS, **SMALL,
        tagger=TaggerConfig(columns=("upos",), size=7, layer=1, as_input=False),
    ),
    "crossing arcs": ModelConfig(structure="mst", embeddings=WORDS, **{**SMALL, "lstm_layers": 2}),
    "minimum risk": ModelConfig(structure="split", decoder="minimum-risk", embeddings=WORDS, **SMALL),
}  # fmt: skip


def encoder_of(name: str) -> dict[str, Any] | None:
    """The configuration of a case's encoder."""
    if not CASES[name].encoder.name:
        return None
    return MPNET if name == "MPNet" else BERT


def sizes_of(model: ModelConfig) -> VocabularySizes:
    columns = (8,) * len(model.embeddings.columns)
    return VocabularySizes(9, 12, 11, columns, (6, 7)[: len(model.tagger.columns)], 2, (3,))


def inputs(rng: np.random.Generator, model: ModelConfig) -> Inputs:
    width = int(LENGTHS.max()) + 2
    inside = (np.arange(width) >= 1) & (np.arange(width) <= LENGTHS[:, None])
    grid = np.where(inside, rng.integers(2, 8, inside.shape), 0)
    characters = rng.integers(1, 11, (8, 5)) * (np.arange(5) < rng.integers(1, 6, (8, 1)))
    subwords = None
    if model.encoder.name:
        owners, pieces, rows = [], [], []
        for b, n in enumerate(LENGTHS):
            row = []
            for place in range(n + 2):
                for _ in range(1 if place in (0, n + 1) else rng.integers(1, 4)):
                    owners.append(b * width + place)
                    pieces.append((b, len(row)))
                    number = int(rng.integers(40))
                    row.append(2 if number == 1 else number)  # 1 is the padding of MPNet
            rows.append(row)
        longest = max(map(len, rows))
        ids = np.array([row + [0] * (longest - len(row)) for row in rows])
        flat = np.array([b * longest + k for b, k in pieces])
        subwords = Subwords(ids, np.array([len(row) for row in rows]), flat, np.array(owners))
    e = model.embeddings
    return Inputs(
        LENGTHS,
        subwords,
        grid if e.words else None,
        characters if e.characters else None,
        grid if e.characters else None,
        grid[None] if e.columns else None,
    )


def both(name: str, *, small: bool = False) -> tuple[Network, GraphNetwork, Inputs]:
    model = CASES[name]
    torch.manual_seed(5)
    config = encoder_of(name)
    encoder = empty_encoder(config) if config else None
    network = Network(model, sizes_of(model), encoder).eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    stored = packed(network.tensors()) if small else network.tensors()
    bert = BertSizes.of(config) if config else None
    graph = GraphNetwork(model, sizes_of(model), bert, stored)
    return network, graph, inputs(np.random.default_rng(3), model)


@pytest.mark.parametrize("name", CASES)
def test_scores_tags_and_relations_are_those_of_torch(name: str) -> None:
    network, graph, batch = both(name)
    with torch.inference_mode():
        expected = network.encode(batch)
        scores = [np.asarray(part) for part in expected.scores.dense()]
    found = graph.encode(batch)
    for piece, ours, theirs in zip(
        network.structure.pieces, found.scores.dense(), scores, strict=True
    ):
        for b, n in enumerate(LENGTHS):
            for cell in np.ndindex(*[n + 1] * piece.axes):
                if piece.legal(n, *cell):
                    assert ours[(b, *cell)] == pytest.approx(theirs[(b, *cell)], abs=2e-4)
    for ours, theirs in zip(found.tags, expected.tags, strict=True):
        for b, n in enumerate(LENGTHS):
            assert ours[b, :n].tolist() == theirs[b, :n].tolist()
    trees = found.scores.best()
    rows = range(len(LENGTHS))
    theirs = expected.relations(rows, trees)
    assert np.allclose(found.relations(rows, trees), theirs, atol=2e-4)


@pytest.mark.parametrize("name", CASES)
def test_output_is_that_of_torch(name: str) -> None:
    network, graph, batch = both(name)
    limits = [None, None, Constraints(root=2)]
    options = DecodingOptions(constraints=limits, confidence=True, k=3)
    expected, found = network.parse(batch, options), graph.parse(batch, options)
    assert found.best.heads.tolist() == expected.best.heads.tolist()
    assert found.best.labels.tolist() == expected.best.labels.tolist()
    assert found.confidences is not None
    assert expected.confidences is not None
    for part in ("heads", "relations"):
        ours, theirs = getattr(found.confidences, part), getattr(expected.confidences, part)
        present = found.best.heads >= 0
        assert np.allclose(ours[present], theirs[present], atol=1e-3)
    for b in range(len(LENGTHS)):
        assert found.alternatives is not None
        assert expected.alternatives is not None
        assert found.alternatives[b].heads.tolist() == expected.alternatives[b].heads.tolist()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("int8", [False, True])
def test_graphs_are_valid_onnx_without_external_data(name: str, int8: bool) -> None:
    model = CASES[name]
    network, _, _ = both(name)
    config = encoder_of(name)
    bert = BertSizes.of(config) if config else None
    graph = network_graph(model, sizes_of(model), bert, network.tensors(), int8=int8)
    parsed = onnx.load_model_from_string(graph.to_bytes())
    onnx.checker.check_model(parsed, full_check=True)
    assert {node.domain for node in parsed.graph.node} == {""}
    assert all(not tensor.external_data for tensor in parsed.graph.initializer)
    assert [value.name for value in parsed.graph.output] == [v.name for v in graph.outputs]
    assert ("MatMulInteger" in {node.op_type for node in parsed.graph.node}) == int8


def test_packed_weights_give_what_they_are_unpacked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headspan.runtime.packing._LARGE_MATRIX", 30)
    network, graph, batch = both("everything", small=True)
    plain = GraphNetwork(graph.model, graph.sizes, BertSizes.of(BERT), graph.tensors())
    ours, theirs = (g.encode(batch).scores.dense() for g in (graph, plain))
    for one, other in zip(ours, theirs, strict=True):
        assert np.allclose(one, other, atol=1e-4)
    assert graph.parameters_count == network.parameters_count


def test_in_int8_a_sentence_does_not_depend_on_its_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headspan.runtime.int8.is_available", lambda: True)
    _, graph, batch = both("an encoder alone")
    exact = graph.encode(batch).scores.dense()[0]
    graph.compute_in_int8(True)
    together = graph.encode(batch).scores.dense()[0]
    assert not np.array_equal(together, exact)
    subwords = batch.subwords
    assert subwords is not None
    length = int(subwords.lengths[0])
    width = int(LENGTHS[0]) + 2
    own = subwords.owners < width
    alone = Inputs(
        LENGTHS[:1],
        Subwords(subwords.ids[:1, :length], subwords.lengths[:1], subwords.pieces[own], subwords.owners[own]),
        None, None, None, None,
    )  # fmt: skip
    assert np.allclose(graph.encode(alone).scores.dense()[0][0], together[0, :5, :5], atol=1e-5)
    graph.compute_in_int8(False)
    assert np.array_equal(graph.encode(batch).scores.dense()[0], exact)


def test_weights_must_fit() -> None:
    _, graph, _ = both("words")
    model, sizes, good = graph.model, graph.sizes, graph.tensors()
    for change, message in (
        ({"arcs.weight": None}, r"the tensor arcs\.weight is missing"),
        ({"arcs.more": np.zeros(3, np.float32)}, r"arcs\.more does not belong to the model"),
        ({"arcs.weight": np.zeros((2, 2), np.float32)}, r"\(2, 2\); expected \(6, 6\)"),
        ({"arcs.weight": np.zeros((6, 6))}, "type float64; expected float32"),
        ({"arcs.weight.scale": np.ones((6, 1), np.float32)}, r"scale does not belong to the model"),
    ):
        tensors = {k: v for k, v in {**good, **change}.items() if v is not None}
        with pytest.raises(HeadspanError, match=message):
            GraphNetwork(model, sizes, None, tensors)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ModelConfig(structure="split", **SMALL), "has no inputs"),
        (
            ModelConfig(structure="split", embeddings=EmbeddingsConfig(words=3)),
            "vocabulary is empty",
        ),
        (replace(CASES["words"], lstm_layers=10**6), "lstm_layers is 1000000"),
        (
            replace(CASES["everything"], tagger=TaggerConfig(columns=("xpos",))),
            "xpos is either read or predicted",
        ),
        (
            replace(
                CASES["words"], tagger=TaggerConfig(columns=("upos",), layer=2, as_input=False)
            ),
            "tagger.layer is 2; expected 0 to 1",
        ),
        (
            replace(CASES["words"], tagger=TaggerConfig(columns=("upos",), layer=1)),
            "predicted tags only if model.tagger.layer is 0",
        ),
    ],
)
def test_both_engines_refuse_networks_that_contradict_themselves(
    model: ModelConfig, message: str
) -> None:
    empty = message == "vocabulary is empty"
    sizes = replace(sizes_of(model), words=2 if empty else 12)
    with pytest.raises(HeadspanError, match=message):
        Network(model, sizes)
    with pytest.raises(HeadspanError, match=message):
        GraphNetwork(model, sizes, None, {})


def test_a_batch_of_another_model_is_an_error() -> None:
    _, graph, batch = both("words")
    with pytest.raises(HeadspanError, match="prepared for another model"):
        graph.encode(Inputs(batch.lengths, None, None, None, None, None))


def test_some_networks_need_torch() -> None:
    assert reason_for_torch(CASES["everything"], BERT) is None
    assert reason_for_torch(ModelConfig(structure="span"), None) == "the structure 'span'"
    assert reason_for_torch(ModelConfig(structure="arc", labels_from="spans"), None)
    refined = ModelConfig(structure="arc", refinements=1)
    assert reason_for_torch(refined, BERT) == "the refinement of trees"
    roberta = {**BERT, "model_type": "roberta"}
    assert reason_for_torch(CASES["everything"], roberta) == "the encoder 'roberta'"
    assert not is_plain_bert({"model_type": "bert", "hidden_act": "relu"})


@pytest.mark.parametrize(
    "change",
    [
        {"hidden_size": "x"}, {"hidden_size": -1}, {"num_attention_heads": 7},
        {"num_hidden_layers": 10**9}, {"vocab_size": True}, {"layer_norm_eps": 2.0},
    ],
)  # fmt: skip
def test_a_wrong_configuration_of_an_encoder_is_an_error(change: dict[str, object]) -> None:
    with pytest.raises(HeadspanError, match="the encoder"):
        BertSizes.of({**BERT, **change})


@pytest.mark.parametrize("layer", range(4))
def test_bert_computes_the_same_as_transformers(layer: int) -> None:
    """Of a network whose scores are a sum over one layer's vectors, with padding."""
    model = CASES["an encoder alone"]
    network, graph, batch = both("an encoder alone")
    assert model.lstm_layers == 0
    with torch.inference_mode():
        pretrained = network.inputs.encoder
        assert pretrained is not None
        subwords = batch.subwords
        assert subwords is not None
        ids = torch.from_numpy(subwords.ids)
        mask = torch.arange(ids.shape[1]) < torch.from_numpy(subwords.lengths)[:, None]
        states = pretrained.encoder(
            input_ids=ids, attention_mask=mask.long(), output_hidden_states=True
        ).hidden_states
    from headspan.runtime.bert import bert
    from headspan.runtime.graph_layers import Layers, Weights
    from headspan.runtime.onnx_format import Graph
    from headspan.runtime.session import Session

    def make() -> Graph:
        g = Graph("bert")
        found = bert(
            Layers(g, Weights(graph.tensors())), BertSizes.of(BERT), "inputs.encoder.encoder"
        )
        g.output(found[layer], "vectors", "float32", "W", "S", 24)
        return g

    hidden = np.where(mask.numpy(), np.float32(0), np.float32(-1e9))[:, None, None]
    found = Session(make).run({"subwords": subwords.ids, "mask": hidden})["vectors"]
    assert np.allclose(found[mask.numpy()], states[layer].numpy()[mask.numpy()], atol=1e-4)
