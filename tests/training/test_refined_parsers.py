"""Parsers whose encoder reads the trees of the pass before: trained, saved, loaded, resumed."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from headspan import HeadspanError, Parser, conllu
from headspan.config import Config, DataConfig, EncoderConfig, ModelConfig, TrainingConfig
from headspan.nn.network import Network
from headspan.scoring import score
from headspan.training.loop import MODEL, Trainer, train

from .encoders import make_encoder_of

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")


def settings(treebank: Path, encoder: Path | str, **changes: Any) -> Config:
    train_on = str(treebank / "two.conllu")
    config = Config(
        DataConfig(train=train_on, dev=train_on, punct="keep"),
        ModelConfig(
            structure="arc", refinements=2, lstm_layers=1, lstm_size=16, score_size=16, label_size=8,
            dropout=0.0, encoder=EncoderConfig(str(encoder)),
        ),
        TrainingConfig(
            epochs=60, batch_tokens=60, learning_rate=1e-2, encoder_learning_rate=1e-3, warmup_epochs=0.2, seed=3,
        ),
    )  # fmt: skip
    for name, values in changes.items():
        config = replace(config, **{name: replace(getattr(config, name), **values)})
    return config


@pytest.mark.parametrize("structure", ["arc", "mst"])
def test_two_sentences_are_learned_by_heart_and_parsed_the_same_after_loading(
    treebank: Path, tiny_encoder: Path, tmp_path: Path, structure: str
) -> None:
    config = settings(treebank, tiny_encoder, model={"structure": structure})
    parser = train(config, tmp_path / "run")
    gold = list(conllu.read(treebank / "two.conllu"))
    assert score(gold, parser.parse(gold), punct="keep")["las"].f1 == 100
    network = parser.network
    assert isinstance(network, Network)
    assert network.inputs.encoder is not None
    attention = network.inputs.encoder.tree_attention
    assert attention is not None
    assert attention.keys.count_nonzero() > 0  # it has learned to read trees
    assert attention.values.count_nonzero() > 0
    parser.save(tmp_path / "again")
    words = [sentence.forms for sentence in gold * 3]
    again = Parser.load(tmp_path / "again")
    assert again.parse(words) == parser.parse(words)
    for sentence, parse in zip(gold, again.parse(gold, confidence=True), strict=True):
        alone = again.parse_words(sentence.forms, confidence=True)
        assert (alone.heads, alone.deprels) == (parse.heads, parse.deprels)
        assert alone.confidences == pytest.approx(parse.confidences, abs=1e-4)


@pytest.mark.parametrize(
    ("kind", "structure"), [("mpnet", "arc"), ("mt5", "span"), ("roberta", "mean-field")]
)
def test_other_encoders_learn_to_read_trees(
    kind: str, structure: str, treebank: Path, tmp_path: Path
) -> None:
    encoder = make_encoder_of(kind, tmp_path / "encoder")
    config = settings(
        treebank, encoder, training={"epochs": 2},
        model={"structure": structure, "encoder": EncoderConfig(str(encoder), layers="mix", fine_tuned="layers")},
    )  # fmt: skip
    parser = train(config, tmp_path / "run")
    gold = list(conllu.read(treebank / "two.conllu"))
    assert Parser.load(tmp_path / "run" / MODEL).parse(gold) == parser.parse(gold)


def test_words_of_long_sentences_are_in_several_windows(
    treebank: Path, tiny_encoder: Path, tmp_path: Path
) -> None:
    parser = train(settings(treebank, tiny_encoder, training={"epochs": 2}), tmp_path / "run")
    long = next(conllu.read(treebank / "two.conllu")).forms * 12
    short = long[:3]
    together = parser.parse([short, long, short])
    assert together[1].heads == parser.parse_words(long).heads
    assert together[0] == together[2]


def test_the_loss_is_the_sum_over_passes_in_which_trees_change(
    treebank: Path, tiny_encoder: Path, tmp_path: Path
) -> None:
    """At first relations say nothing: the second pass has the losses of the first, and is last."""
    trainers = {
        count: Trainer(
            settings(treebank, tiny_encoder, model={"refinements": count}), tmp_path / str(count)
        )
        for count in (0, 1, 3)
    }
    losses = {}
    for count, trainer in trainers.items():
        network = trainer.network.eval()  # without the encoder's dropout
        inputs, gold = trainer.training_set.batch(
            [0, 1], trainer.parser.vocabularies, trainer.parser.tokenizer
        )
        if count:
            weights = trainers[0].network.state_dict()
            network.load_state_dict(weights, strict=False)
        losses[count] = network.loss(inputs, gold)
    for name in ("parse", "label"):
        once = getattr(losses[0], name).item()
        assert once > 0
        assert getattr(losses[1], name).item() == pytest.approx(2 * once, rel=1e-4)
        assert getattr(losses[3], name).item() == pytest.approx(2 * once, rel=1e-4)


def test_the_same_seed_gives_the_same_weights(
    treebank: Path, tiny_encoder: Path, tmp_path: Path
) -> None:
    """Bit for bit, though sums over relations are not in the order of words."""
    config = settings(treebank, tiny_encoder, model={"dropout": 0.3}, training={"epochs": 3})
    first, second = (Trainer(config, tmp_path / name) for name in "ab")
    for trainer in (first, second):
        trainer.run()
    tensors = second.network.state_dict()
    for name, tensor in first.network.state_dict().items():
        assert torch.equal(tensor, tensors[name]), name


def test_it_needs_torch(treebank: Path, tiny_encoder: Path, tmp_path: Path) -> None:
    config = settings(treebank, tiny_encoder, training={"epochs": 1})
    train(config, tmp_path / "run")
    model = tmp_path / "run" / MODEL
    with pytest.raises(HeadspanError, match="the refinement of trees needs torch"):
        Parser.load(model, engine="onnx")
    about = json.loads((model / "config.json").read_text(encoding="utf-8"))
    assert about["model"]["refinements"] == 2
    assert "implementation" not in json.dumps(about["encoder"])
    assert "headspan" not in json.dumps(about["encoder"])


def test_settings_that_cannot_work_are_an_error(treebank: Path, tmp_path: Path) -> None:
    config = settings(treebank, "", model={"encoder": EncoderConfig()})
    config = replace(
        config, model=replace(config.model, embeddings=replace(config.model.embeddings, words=8))
    )
    with pytest.raises(HeadspanError, match="refinements is 2, but the model has no encoder"):
        Trainer(config, tmp_path / "run")
    encoder = make_encoder_of("modernbert", tmp_path / "encoder")
    with pytest.raises(
        HeadspanError, match="attention can read a tree; that of 'modernbert' cannot"
    ):
        Trainer(settings(treebank, encoder), tmp_path / "run")
