"""A checkpoint that is damaged, or of another run, is one line that says so."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from headspan import HeadspanError, conllu
from headspan.config import Config, DataConfig, EmbeddingsConfig, ModelConfig, TrainingConfig
from headspan.model.parser import Parser
from headspan.plumbing.tensors import read_tensors
from headspan.text import SegmenterSettings, SegmenterSizes, train_segmenter
from headspan.training.checkpoint import _checksum, load_segmenter, save_segmenter
from headspan.training.loop import CHECKPOINT, MODEL, SEGMENTER, Trainer, train
from text.made_up import made_up_treebank

EPOCHS = 2


def settings(treebank: Path) -> Config:
    return Config(
        data=DataConfig(train=str(treebank / "train.conllu"), dev=str(treebank / "dev.conllu")),
        model=ModelConfig(
            lstm_layers=1, lstm_size=4, score_size=4, label_size=4,
            embeddings=EmbeddingsConfig(words=4, min_count=1),
        ),
        training=TrainingConfig(epochs=EPOCHS),
    )  # fmt: skip


@pytest.fixture(scope="module")
def trained(treebank: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    train(settings(treebank), folder)
    return folder


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "run"))


def refused(config: Config, run: Path, message: str) -> None:
    trainer = Trainer(config, run)
    before = {name: tensor.clone() for name, tensor in trainer.network.state_dict().items()}
    with pytest.raises(HeadspanError, match=message) as raised:
        trainer.resume()
    assert "\n" not in str(raised.value)
    assert str(run / CHECKPOINT) in str(raised.value)
    after = trainer.network.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


def rewritten(run: Path, **changes: Any) -> None:
    """Change the progress of a checkpoint and give it the checksum of its new content."""
    tensors, header = read_tensors(run / CHECKPOINT)
    state = json.loads(state_in(header))
    for name, value in changes.items():
        state["progress"][name] = value
    sealed(run, tensors, json.dumps(state))


def sealed(run: Path, tensors: dict[str, torch.Tensor], state: str) -> None:
    header = {"state": f"{_checksum(tensors, state)}\n{state}"}
    save_file(tensors, run / CHECKPOINT, metadata=header)


def state_in(header: dict[str, str]) -> str:
    """The state behind the checksum."""
    return header["state"].partition("\n")[2]


def test_the_same_run_is_resumed_wherever_its_treebanks_are(
    run: Path, treebank: Path, tmp_path: Path
) -> None:
    moved = shutil.copytree(treebank, tmp_path / "moved")
    config = settings(moved)
    config = replace(config, training=replace(config.training, device="cpu", log=()))
    trainer = Trainer(config, run)
    assert trainer.resume()
    assert trainer.state.epoch == EPOCHS


@pytest.mark.parametrize(
    ("part", "change", "message"),
    [
        ("training", {"seed": 5}, "training.seed was 0 and is 5; resume with the old ones"),
        ("training", {"learning_rate": 0.1}, r"training.learning_rate was 0.00025 and is 0\.1"),
        ("training", {"epochs": 9}, "training.epochs was 2 and is 9"),
        ("training", {"betas": (0.9, 0.8)}, r"training.betas was \[0.9, 0.9\] and is \[0.9, 0.8\]"),
        ("model", {"lstm_size": 8}, "model.lstm_size was 4 and is 8"),
        ("model", {"embeddings": EmbeddingsConfig(words=4)}, "model.embeddings.min_count was 1 and is 2"),
        ("data", {"punct": "keep"}, "data.punct was 'upos' and is 'keep'"),
        ("data", {"dev": "train"}, "other settings: data.dev has changed; resume"),
        ("data", {"train": "two"}, "other settings: data.train has changed; resume"),
        ("data", {"silver": "two"}, "other settings: data.silver has changed; resume"),
    ],
)  # fmt: skip
def test_another_run_is_not_resumed(
    run: Path, treebank: Path, part: str, change: dict[str, Any], message: str
) -> None:
    config = settings(treebank)
    for name in {"train", "dev", "silver"} & change.keys():
        change = {name: str(treebank / f"{change[name]}.conllu")}
    refused(replace(config, **{part: replace(getattr(config, part), **change)}), run, message)


def test_a_treebank_that_has_changed_is_noticed(run: Path, treebank: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(treebank, tmp_path / "moved")
    sentences = list(conllu.read(moved / "dev.conllu"))
    conllu.write(sentences[:-1], moved / "dev.conllu")
    refused(settings(moved), run, "data.dev has changed")


def test_any_damage_is_noticed(run: Path, treebank: Path) -> None:
    path = run / CHECKPOINT
    good = path.read_bytes()
    header = 8 + int.from_bytes(good[:8], "little")
    trainer = Trainer(settings(treebank), run)
    places = [*range(0, header, header // 60), *range(header, len(good), len(good) // 20)]
    for place in places:
        for bad in (
            good[:place] + bytes([good[place] ^ 4]) + good[place + 1 :],
            good[:place],
            good[:place] + b"}" + good[place:],
        ):
            path.write_bytes(bad)
            with pytest.raises(HeadspanError, match=r"cannot be (read|resumed from)"):
                trainer.resume()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epoch": -5}, "its epoch is -5 and its best epoch"),
        ({"epoch": 3}, "its epoch is 3 and .*, in a run of 2 epochs"),
        ({"epoch": 1}, "its epoch is 1 and its best epoch|its history has 2 epochs; expected 1"),
        ({"epoch": "1"}, "its epoch is '1'; expected a number"),
        ({"epoch": True}, "its epoch is True; expected a number"),
        ({"best_epoch": 2}, "its best epoch 2"),
        ({"best": float("inf")}, "its best is inf; expected a number"),
        ({"step": -1}, "its step is -1; expected 0 or more"),
        ({"step": 10**9}, "its step is 1000000000; epoch 3 has [0-9]+ steps"),
        ({"history": 3}, "its state is not that of a run"),
        ({"history": [{}]}, "its state is not that of a run"),
        ({"surprise": 3}, "its state is not that of a run"),
    ],
)
def test_a_state_that_no_run_has_is_refused(
    run: Path, treebank: Path, changes: dict[str, Any], message: str
) -> None:
    rewritten(run, **changes)
    refused(settings(treebank), run, message)


def test_tensors_that_do_not_fit_are_refused(run: Path, treebank: Path) -> None:
    good, header = read_tensors(run / CHECKPOINT)
    moment = next(name for name in good if name.endswith(".exp_avg"))
    weight = next(name for name in good if name.startswith("network."))
    without = {name: tensor for name, tensor in good.items() if name != moment}
    for tensors, message in (
        ({**good, moment: torch.zeros(1)}, r"the optimiser's tensor .* has the shape \(1,\)"),
        ({**good, moment: good[moment] / 0}, "numbers that are not finite"),
        ({**good, weight: good[weight] * float("inf")}, "numbers that are not finite"),
        ({**good, "optimizer.999.step": torch.zeros(())}, "does not belong to this run"),
        ({**good, "optimizer.0.surprise": torch.zeros(())}, "does not belong to this run"),
        (without, r"the optimiser's tensor \d+\.exp_avg is missing"),
        ({**good, weight: torch.zeros(1)}, "has the shape"),
    ):
        sealed(run, tensors, state_in(header))
        refused(settings(treebank), run, message)


@pytest.mark.parametrize("state", ["[]", "{}", "3", '{"run": 3}', "no JSON", "[" * 100_000])
def test_a_state_of_something_else_is_refused(run: Path, treebank: Path, state: str) -> None:
    sealed(run, read_tensors(run / CHECKPOINT)[0], state)
    refused(settings(treebank), run, "cannot be resumed from: ")


def test_an_earlier_checkpoint_is_refused(run: Path, treebank: Path) -> None:
    tensors, header = read_tensors(run / CHECKPOINT)
    progress = json.dumps(json.loads(state_in(header))["progress"])
    save_file(tensors, run / CHECKPOINT, metadata={"state": progress})
    refused(settings(treebank), run, "not a checkpoint, or one of an earlier headspan")


def test_a_key_that_is_new_has_had_its_default(run: Path, treebank: Path) -> None:
    tensors, header = read_tensors(run / CHECKPOINT)
    state = json.loads(state_in(header))
    del state["run"]["training.accumulate"]
    sealed(run, tensors, json.dumps(state))
    assert Trainer(settings(treebank), run).resume()
    config = settings(treebank)
    other = replace(config, training=replace(config.training, accumulate=2))
    refused(other, run, "training.accumulate was 1 and is 2")


def test_a_segmenter_of_another_run_is_not_used(treebank: Path, tmp_path: Path) -> None:
    small = SegmenterSettings(
        epochs=1, steps=0, batch=8, window=200, learning_rate=1e-2, dropout=0.0,
        sizes=SegmenterSizes(characters=4, convolution=4, words=4, lstm=4),
    )  # fmt: skip
    segmenter = train_segmenter(made_up_treebank(8, 1), made_up_treebank(4, 2), settings=small)
    trainer = Trainer(settings(treebank), tmp_path)
    trained: list[Any] = []

    def again(*_: Any, **__: Any) -> Any:
        trained.append(1)
        return segmenter

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("headspan.training.loop.train_segmenter", again)
        trainer._segmenter(None)
        trainer._segmenter(None)
        assert len(trained) == 1
        save_segmenter(tmp_path / SEGMENTER, segmenter, {**trainer.fingerprint, "training.seed": 9})
        trainer._segmenter(None)
        assert len(trained) == 2
    path = tmp_path / SEGMENTER
    load_segmenter(path)
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(HeadspanError, match="it is damaged"):
        load_segmenter(path)


def test_the_model_of_a_refused_run_still_parses(run: Path) -> None:
    assert Parser.load(run / MODEL).parse_words(["the", "dog"]).heads.count(0) == 1
