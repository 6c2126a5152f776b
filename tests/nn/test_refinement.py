"""Attention that reads trees, against its formulas, in every encoder that can be made to."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from headspan.config import EncoderConfig, ModelConfig
from headspan.nn.network import Network
from headspan.nn.pretrained import PretrainedEncoder, empty_encoder
from headspan.nn.refinement import _WITH_INTERFACE, PriorTrees, TreeAttention, attend
from headspan.plumbing.errors import HeadspanError
from headspan.runtime.decoding import DecodingOptions
from headspan.runtime.inputs import Inputs, Subwords, VocabularySizes

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
LABELS, LINKS = 3, 7
HIDDEN, HEADS, HEAD, LAYERS = 8, 2, 4, 2  # √4 is exact: so is the comparison with MPNet
BERT = {
    "vocab_size": 30, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "intermediate_size": 8,
    "num_attention_heads": HEADS, "max_position_embeddings": 20, "pad_token_id": 0,
}  # fmt: skip
T5 = {
    "vocab_size": 30,
    "d_model": HIDDEN,
    "d_kv": HEAD,
    "d_ff": 8,
    "num_layers": LAYERS,
    "num_heads": HEADS,
}
DISTILBERT = {
    "vocab_size": 30, "dim": HIDDEN, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": 8,
    "max_position_embeddings": 20,
}  # fmt: skip
MARIAN = {
    "vocab_size": 30, "d_model": HIDDEN, "encoder_layers": LAYERS, "decoder_layers": 1,
    "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS, "encoder_ffn_dim": 8,
    "decoder_ffn_dim": 8, "max_position_embeddings": 20, "pad_token_id": 0,
}  # fmt: skip


class Kind(NamedTuple):
    """The sizes of an encoder, and the names of the linear maps in its attention."""

    sizes: dict[str, Any]
    names: tuple[str, str, str] = ("query", "key", "value")
    output: str | None = None
    """The map of z, if it is part of the same module."""


KINDS = {
    "bert": Kind(BERT),
    "camembert": Kind(BERT),
    "distilbert": Kind(DISTILBERT, ("q_lin", "k_lin", "v_lin"), "out_lin"),
    "electra": Kind({**BERT, "embedding_size": 6}),
    "marian": Kind(MARIAN, ("q_proj", "k_proj", "v_proj"), "out_proj"),
    "mpnet": Kind(BERT, ("q", "k", "v"), "o"),
    "mt5": Kind(T5, ("q", "k", "v"), "o"),
    "roberta": Kind(BERT),
    "t5": Kind(T5, ("q", "k", "v"), "o"),
    "xlm-roberta": Kind(BERT),
}
# Two sentences of 3 and 2 words, the second word of the first in two subwords.
SUBWORDS = Subwords(
    np.array([[1, 5, 6, 7, 8, 2], [1, 9, 10, 2, 0, 0]]),
    np.array([6, 4]),
    np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
    np.array([0, 1, 2, 2, 3, 4, 5, 6, 7, 8]),
)
WIDTH = 5
PRIOR = PriorTrees(np.array([[2, 0, 2], [0, 1, -1]]), np.array([[1, 0, 2], [0, 1, -1]]))
EMPTY = np.zeros((2, 6, 6), np.int64)


def test_kinds_are_those_that_are_known() -> None:
    assert set(KINDS) == {*_WITH_INTERFACE, "mpnet"}


def random_encoder(kind: str) -> nn.Module:
    torch.manual_seed(1)
    encoder = empty_encoder({"model_type": kind, **KINDS[kind].sizes}).eval()
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.normal_(std=0.5)
    return encoder


def randomized(attention: TreeAttention) -> TreeAttention:
    with torch.no_grad():
        attention.keys.normal_()
        attention.values.normal_()
    return attention


def outputs(encoder: nn.Module) -> Tensor:
    ids = torch.from_numpy(SUBWORDS.ids)
    mask = torch.arange(ids.shape[1]) < torch.from_numpy(SUBWORDS.lengths)[:, None]
    hidden: Tensor = encoder(input_ids=ids, attention_mask=mask.long()).last_hidden_state
    return hidden


def test_relations_are_arcs_between_first_subwords() -> None:
    links = PRIOR.links(SUBWORDS, WIDTH, LABELS)
    expected = EMPTY.copy()
    for row, head, dependent, label in [
        (0, 2, 1, 1), (0, 0, 2, 0), (0, 2, 4, 2), (1, 0, 1, 0), (1, 1, 2, 1),
    ]:  # fmt: skip
        expected[row, head, dependent] = 1 + label
        expected[row, dependent, head] = 1 + LABELS + label
    assert (links == expected).all()
    assert links.max() == 2 * LABELS


def test_arcs_between_windows_are_no_relations() -> None:
    """A sentence of three words in two windows that overlap; the third has a vector of its own."""
    windows = Subwords(
        np.array([[1, 5, 6, 2], [1, 6, 7, 2]]), np.array([4, 4]),
        np.array([0, 1, 2, 6, 7]), np.array([0, 1, 2, 3, 4]),
    )  # fmt: skip
    prior = PriorTrees(np.array([[2, 0, 2]]), np.array([[1, 0, 2]]))
    links = prior.links(windows, WIDTH, LABELS)
    assert links[0, 2, 1] == 2
    assert links[0, 0, 2] == 1
    assert not links[1].any()


def test_changed_sentences_are_those_with_another_head_or_label() -> None:
    assert PRIOR.differing(None).tolist() == [0, 1]
    assert PRIOR.differing(PRIOR).tolist() == []
    label = PriorTrees(PRIOR.heads, np.array([[1, 0, 2], [0, 2, -1]]))
    head = PriorTrees(np.array([[3, 0, 2], [0, 1, -1]]), PRIOR.labels)
    assert PRIOR.differing(label).tolist() == [1]
    assert PRIOR.differing(head).tolist() == [0]
    part = PRIOR.sentences(np.array([1]))
    assert part.heads.tolist() == [[0, 1]]
    assert part.labels.tolist() == [[0, 1]]


def linear(x: np.ndarray, layer: Any) -> np.ndarray:
    bias = 0.0 if layer.bias is None else layer.bias.detach().numpy()
    result: np.ndarray = x @ layer.weight.detach().numpy().T + bias
    return result


def formulas(
    x: np.ndarray, maps: list[nn.Module], bias: np.ndarray, scale: float,
    links: np.ndarray, keys: np.ndarray, values: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """z_i of one sentence, word by word and head by head, from e_ij and α_ij as written down."""
    query, key, value = (linear(x, layer).reshape(len(x), HEADS, HEAD) for layer in maps)
    z = np.zeros((len(x), HEADS, HEAD))
    one_hot = np.eye(LINKS)
    for head in range(HEADS):
        for i in range(len(x)):
            e = np.array([
                query[i, head] @ (key[j, head] + one_hot[links[i, j]] @ keys) * scale
                + bias[head, i, j]
                for j in range(len(x))
            ])  # fmt: skip
            alpha = np.exp(e - e.max())
            alpha /= alpha.sum()
            for j in range(len(x)):
                z[i, head] += alpha[j] * (value[j, head] + one_hot[links[i, j]] @ values)
    return z.reshape(len(x), HIDDEN)


def positions(encoder: Any, kind: str, side: int) -> np.ndarray:
    """The bias of two positions that an encoder adds to e_ij."""
    bias = torch.zeros(HEADS, side, side)
    if kind == "mpnet":
        bias = encoder.encoder.compute_position_bias(torch.zeros(1, side, HIDDEN))[0]
    elif kind in ("t5", "mt5"):
        bias = encoder.block[0].layer[0].SelfAttention.compute_bias(side, side)[0]
    return bias.detach().numpy()


@pytest.mark.parametrize("kind", KINDS)
def test_attention_is_that_of_the_formulas(kind: str) -> None:
    encoder = random_encoder(kind)
    names, output = KINDS[kind].names, KINDS[kind].output
    attention = randomized(TreeAttention(encoder, LABELS))
    modules = [module for module in encoder.modules() if hasattr(module, names[0])]
    assert len(modules) == LAYERS
    seen: list[dict[str, np.ndarray]] = [{} for _ in modules]

    def watch(layer: int, name: str) -> Any:
        def hook(_: nn.Module, inputs: Any, result: Any = None) -> None:
            seen[layer][name] = (inputs[0] if result is None else result[0]).detach().numpy()

        return hook

    for k, module in enumerate(modules):
        module.get_submodule(names[0]).register_forward_pre_hook(watch(k, "x"))
        if output is None:
            module.register_forward_hook(watch(k, "z"))
        else:
            module.get_submodule(output).register_forward_pre_hook(watch(k, "z"))
    with torch.no_grad(), attention.reading(PRIOR, SUBWORDS, WIDTH):
        outputs(encoder)
    links = PRIOR.links(SUBWORDS, WIDTH, LABELS)
    scale = 1.0 if kind in ("t5", "mt5") else HEAD**-0.5
    for k, module in enumerate(modules):
        for b, n in enumerate(SUBWORDS.lengths):  # padding is not attended to
            expected = formulas(
                seen[k]["x"][b, :n],
                [module.get_submodule(name) for name in names],
                positions(encoder, kind, n),
                scale,
                links[b],
                attention.keys[k].detach().numpy(),
                attention.values[k].detach().numpy(),
            )
            assert seen[k]["z"][b, :n] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_without_relations_it_is_the_encoder_itself(kind: str) -> None:
    encoder = random_encoder(kind)
    if kind != "mpnet":
        encoder.set_attn_implementation("eager")  # type: ignore[operator]
    with torch.no_grad():
        plain = outputs(encoder)
        attention = TreeAttention(encoder, LABELS)
        assert torch.equal(outputs(encoder), plain)
        for prior in (None, PRIOR):  # the embeddings are still zero
            with attention.reading(prior, SUBWORDS, WIDTH):
                assert torch.equal(outputs(encoder), plain)
        randomized(attention)
        with attention.reading(PRIOR, SUBWORDS, WIDTH):
            assert not torch.allclose(outputs(encoder), plain, atol=1e-2)
        assert torch.equal(outputs(encoder), plain)  # nothing is left of it


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_reach_the_relations_of_every_layer(kind: str) -> None:
    encoder = random_encoder(kind)
    attention = TreeAttention(encoder, LABELS)
    with attention.reading(PRIOR, SUBWORDS, WIDTH):
        outputs(encoder).sin().sum().backward()
    present = np.unique(PRIOR.links(SUBWORDS, WIDTH, LABELS)).tolist()
    assert present == [0, 1, 2, 3, 4, 5, 6]
    for parameter in (attention.keys, attention.values):
        assert parameter.grad is not None
        assert (parameter.grad.abs().sum(-1) > 0).all()


def test_gradients_are_those_of_differences() -> None:
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 2, HEADS, 6, HEAD, dtype=torch.double)
    attention = TreeAttention(random_encoder("bert"), LABELS).double()
    module = nn.Identity().eval()

    def scored(keys: Tensor, values: Tensor) -> Tensor:
        attention.keys, attention.values = (None, None)  # type: ignore[assignment]
        attention.__dict__.update(keys=keys, values=values)
        with attention.reading(PRIOR, SUBWORDS, WIDTH):
            return attend(module, query, key, value, None, scaling=0.5)[0]

    start = torch.randn(2, LAYERS, LINKS, HEAD, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda both: scored(*both), (start,))


@pytest.mark.parametrize(
    "table",
    [
        {"model_type": "modernbert", **BERT, "local_attention": 8, "bos_token_id": 2,
         "eos_token_id": 3, "cls_token_id": 2, "sep_token_id": 3},
        {"model_type": "deberta-v2", **BERT},
    ],
    ids=lambda table: table["model_type"],
)  # fmt: skip
def test_attention_that_cannot_be_extended_is_an_error(table: dict[str, Any]) -> None:
    message = (
        f"needs an encoder whose attention can read a tree; that of '{table['model_type']}' "
        "cannot; expected one of bert, camembert, distilbert, electra, marian, mpnet, mt5, "
    )
    with pytest.raises(HeadspanError, match=message):
        PretrainedEncoder(empty_encoder(table), mix=False, fine_tuned="all", tree_labels=LABELS)


SIZES = VocabularySizes(5, 2, 2, (), (), 2)
TINY = ModelConfig(
    structure="arc", refinements=2, lstm_layers=0, score_size=4, label_size=4, dropout=0.0,
    encoder=EncoderConfig(name="an encoder"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ModelConfig(refinements=2), "model.refinements is 2, but the model has no encoder"),
        (
            ModelConfig(refinements=1, encoder=EncoderConfig(fine_tuned="none")),
            "model.encoder.fine_tuned is 'none', so the encoder would never learn to read trees",
        ),
        (ModelConfig(refinements=11), "model.refinements is 11; expected 10 at most"),
    ],
)
def test_settings_that_cannot_work_are_an_error(model: ModelConfig, message: str) -> None:
    encoder = None if "no encoder" in message else random_encoder("bert")
    with pytest.raises(HeadspanError, match=message):
        Network(model, SIZES, encoder)


@pytest.fixture
def network() -> Network:
    torch.manual_seed(3)
    network = Network(TINY, SIZES, random_encoder("bert"))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(std=0.5)
    return network


def watched(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[int, PriorTrees | None]]:
    """The number of sentences and the trees that were read, of every pass from now on."""
    passes: list[tuple[int, PriorTrees | None]] = []
    context = network.context

    def watching(inputs: Inputs, prior: PriorTrees | None = None) -> Any:
        passes.append((len(inputs.lengths), prior))
        return context(inputs, prior)

    monkeypatch.setattr(network, "context", watching)
    return passes


INPUTS = Inputs(np.array([3, 2]), SUBWORDS, None, None, None, None)


def test_a_tree_that_does_not_change_is_final(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links whose embeddings are zero change nothing: one more pass finds the same trees."""
    attention = network.inputs.encoder.tree_attention  # type: ignore[union-attr]
    assert attention is not None
    with torch.no_grad():
        attention.keys.zero_()
        attention.values.zero_()
    passes = watched(network, monkeypatch)
    best = network.parse(INPUTS).best
    assert [count for count, _ in passes] == [2, 2]
    assert passes[0][1] is None
    read = passes[1][1]
    assert read is not None
    assert (read.heads == best.heads).all()
    assert (read.labels == best.labels).all()


def random_batches(count: int) -> Iterator[tuple[Inputs, list[Inputs]]]:
    """Batches of four sentences of a subword per word, and their sentences one by one."""
    rng = np.random.default_rng(5)
    for _ in range(count):
        rows = [rng.integers(3, 30, n) for n in rng.integers(1, 9, 4)]
        yield batch(rows), [batch([row]) for row in rows]


def batch(rows: list[np.ndarray]) -> Inputs:
    lengths = np.array([len(row) for row in rows])
    width = lengths.max() + 2
    ids = np.zeros((len(rows), width), np.int64)
    for b, row in enumerate(rows):
        ids[b, : len(row) + 2] = [1, *row, 2]
    places = np.flatnonzero(ids)
    return Inputs(lengths, Subwords(ids, lengths + 2, places, places), None, None, None, None)


def test_only_sentences_that_change_are_read_again(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes = watched(network, monkeypatch)
    counts = []
    for whole, alone in random_batches(20):
        passes.clear()
        best = network.parse(whole, DecodingOptions(confidence=True)).best
        counts.append([count for count, _ in passes])
        for b, sentence in enumerate(alone):
            own, n = network.parse(sentence).best, sentence.lengths[0]
            assert own.heads[0].tolist() == best.heads[b, :n].tolist()
            assert own.labels[0].tolist() == best.labels[b, :n].tolist()
            assert own.scores[0] == pytest.approx(best.scores[b], rel=1e-4)
    assert all(count == sorted(count, reverse=True) for count in counts)
    assert any(len(count) == 3 and count[2] < 4 for count in counts)  # some left early
    assert max(map(len, counts)) == 3


def test_some_sentences_of_a_batch_are_what_they_would_be_alone() -> None:
    for whole, alone in random_batches(5):
        part = whole.sentences(np.array([1, 3]))
        for b, expected in zip((0, 1), (alone[1], alone[3]), strict=True):
            again = part.sentences(np.array([b]))
            assert again.lengths.tolist() == expected.lengths.tolist()
            assert again.subwords is not None
            assert expected.subwords is not None
            for name in ("ids", "lengths", "pieces", "owners"):
                found, right = getattr(again.subwords, name), getattr(expected.subwords, name)
                assert found.tolist() == right.tolist()
