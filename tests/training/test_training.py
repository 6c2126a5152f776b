import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from headspan import HeadspanError, conllu
from headspan.config import (
    Config,
    DataConfig,
    EmbeddingsConfig,
    EncoderConfig,
    ModelConfig,
    TrainingConfig,
)
from headspan.conllu import Sentence
from headspan.inference import Constraints
from headspan.model.parser import Parser
from headspan.nn.pretrained import encoder_table, load_pretrained
from headspan.registries import STRUCTURES
from headspan.text import SegmenterSettings, train_segmenter
from headspan.training import processes
from headspan.training.estimate import estimate
from headspan.training.events import EpochDone, Event, SegmenterEpoch, StepDone
from headspan.training.loop import CHECKPOINT, LOG, MODEL, Stopped, Trainer, rate, train
from headspan.training.treebank import TrainingSet, read_training, read_treebank, shuffled_batches
from headspan.tree import check_tree, is_projective, subtree_spans


def config(treebank: Path, train_on: str = "train", **changes: Any) -> Config:
    found = Config(
        data=DataConfig(train=str(treebank / f"{train_on}.conllu"), dev=str(treebank / "dev.conllu"), punct="keep"),
        model=ModelConfig(
            lstm_layers=1, lstm_size=16, score_size=16, label_size=8, dropout=0.1,
            embeddings=EmbeddingsConfig(words=16, characters=8, tags=8, columns=("upos",), min_count=1),
        ),
        training=TrainingConfig(epochs=2, batch_tokens=60, learning_rate=5e-3, warmup_epochs=0.2, seed=3),
    )  # fmt: skip
    for name, values in changes.items():
        found = replace(found, **{name: replace(getattr(found, name), **values)})
    return found


def losses(folder: Path) -> list[dict[str, float]]:
    lines = (folder / LOG).read_text(encoding="utf-8").splitlines()
    return [{k: v for k, v in json.loads(line).items() if k != "seconds"} for line in lines]


@pytest.mark.parametrize(
    ("structure", "with_encoder"), [("span", True), *((name, False) for name in STRUCTURES)]
)
def test_two_sentences_are_learned_by_heart_and_parsed_the_same_after_loading(
    treebank: Path, tiny_encoder: Path, tmp_path: Path, structure: Any, with_encoder: bool
) -> None:
    encoder = (
        EncoderConfig(name=str(tiny_encoder), layers="mix") if with_encoder else EncoderConfig()
    )
    loss = "max-margin" if STRUCTURES[structure].factored else "local"
    settings = config(
        treebank, "two",
        model={"structure": structure, "loss": loss, "dropout": 0.0, "encoder": encoder},
        training={"epochs": 60, "learning_rate": 1e-2, "encoder_learning_rate": 1e-3},
    )  # fmt: skip
    settings = replace(settings, data=replace(settings.data, dev=settings.data.train))
    parser = train(settings, tmp_path / "run")
    gold = list(conllu.read(treebank / "two.conllu"))
    assert [s.plain() for s in parser.parse(gold)] == gold
    parser.save(tmp_path / "again")
    words = [Sentence.from_words(s.forms, upos=s.upos) for s in gold * 3]
    assert Parser.load(tmp_path / "again").parse(words) == parser.parse(words)


def test_training_goes_on_from_a_model(treebank: Path, tiny_encoder: Path, tmp_path: Path) -> None:
    encoder = EncoderConfig(name=str(tiny_encoder), layers="mix")
    settings = config(
        treebank, "two", model={"dropout": 0.0, "encoder": encoder},
        training={"epochs": 40, "learning_rate": 1e-2, "encoder_learning_rate": 1e-3},
    )  # fmt: skip
    settings = replace(settings, data=replace(settings.data, dev=settings.data.train))
    gold = list(conllu.read(treebank / "two.conllu"))
    train(settings, tmp_path / "first").save(tmp_path / "small", small=True)

    start = str(tmp_path / "small")
    small_steps = replace(settings.training, start=start, epochs=2, learning_rate=1e-5)
    unknown = gold[0].with_parse(gold[0].heads, ["new:relation"] * len(gold[0]))
    conllu.write([*gold, unknown], tmp_path / "three.conllu")
    data = replace(settings.data, train=str(tmp_path / "three.conllu"))
    trainer = Trainer(replace(settings, data=data, training=small_steps), tmp_path / "second")
    assert trainer.training_set.dropped == {"a relation that the model does not know": 1}
    trainer.run()
    parser = Parser.load(tmp_path / "second" / MODEL)
    assert [s.plain() for s in parser.parse(gold)] == gold  # learned before
    before, after = Parser.load(start).network.tensors(), parser.network.tensors()
    assert any((before[name] != after[name]).any() for name in before)


def test_training_goes_on_only_from_the_network_that_is_configured(
    treebank: Path, tmp_path: Path
) -> None:
    settings = config(treebank, "two", training={"epochs": 1})
    train(settings, tmp_path / "first")
    start = str(tmp_path / "first" / MODEL)
    larger = config(treebank, "two", model={"lstm_size": 24}, training={"start": start})
    with pytest.raises(HeadspanError, match="first/model: is not a model of the network that is"):
        Trainer(larger, tmp_path / "second")
    gold = conllu.read(treebank / "two.conllu")
    foreign = [s.with_parse(s.heads, ["new"] * len(s)) for s in gold]
    conllu.write(foreign, tmp_path / "foreign.conllu")
    other = config(treebank, training={"start": start})
    other = replace(other, data=replace(other.data, train=str(tmp_path / "foreign.conllu")))
    with pytest.raises(HeadspanError, match=r"foreign\.conllu: no sentence has only relations"):
        Trainer(other, tmp_path / "third")
    missing = config(treebank, training={"start": str(tmp_path / "nowhere")})
    with pytest.raises(HeadspanError, match="nowhere"):
        Trainer(missing, tmp_path / "fourth")


@pytest.mark.parametrize("loss", ["local", "crf"])
@pytest.mark.parametrize("structure", ["span", "arc", "joint", "sibling", "mean-field"])
def test_other_losses_learn(treebank: Path, tmp_path: Path, structure: Any, loss: Any) -> None:
    settings = config(
        treebank, model={"structure": structure, "loss": loss}, training={"epochs": 4}
    )
    train(settings, tmp_path)
    history = losses(tmp_path)
    assert history[-1]["parse"] < 0.7 * history[0]["parse"]


def test_non_projective_arcs_are_learned_and_restored(treebank: Path, tmp_path: Path) -> None:
    settings = config(treebank, training={"epochs": 25})
    trainer = Trainer(settings, tmp_path)
    assert trainer.training_set.lifted > 0
    assert any("|" in label for label in trainer.parser.vocabularies.labels.names)
    trainer.run()
    assert trainer.state.best > 90
    parsed = Parser.load(tmp_path / MODEL).parse(trainer.dev)
    assert not any("|" in label for s in parsed for label in s.deprels)
    assert [s.comments for s in parsed] == [s.comments for s in trainer.dev]


@pytest.fixture
def crossing(tmp_path: Path) -> Path:
    """Two sentences with crossing arcs, as a treebank."""
    trees = [
        ("a hearing is scheduled today", (2, 4, 4, 0, 2), ("det", "nsubj", "aux", "root", "nmod")),
        ("what did she talk about", (5, 4, 4, 0, 4), ("obj", "aux|x", "nsubj", "root", "obl")),
    ]
    sentences = [
        Sentence.from_words(words.split(), heads=heads, deprels=deprels)
        for words, heads, deprels in trees
    ]
    assert not any(is_projective(s.heads) for s in sentences)
    conllu.write(sentences, tmp_path / "two.conllu")
    return tmp_path / "two.conllu"


def crossing_config(crossing: Path, **changes: Any) -> Config:
    settings = config(
        crossing.parent, "two", model={"structure": "mst", "dropout": 0.0},
        training={"epochs": 60, "learning_rate": 1e-2},
        data={"dev": str(crossing), "nonprojective": "keep", "encoded_min_count": 3},
    )  # fmt: skip
    for name, values in changes.items():
        settings = replace(settings, **{name: replace(getattr(settings, name), **values)})
    return settings


@pytest.mark.parametrize("loss", ["max-margin", "local", "crf"])
def test_crossing_arcs_are_learned_as_they_are(crossing: Path, tmp_path: Path, loss: Any) -> None:
    parser = train(crossing_config(crossing, model={"loss": loss}), tmp_path / "run")
    gold = list(conllu.read(crossing))
    assert [s.plain() for s in parser.parse(gold)] == gold
    parser.save(tmp_path / "again")
    words = [Sentence.from_words(s.forms) for s in gold]
    for parse, sentence in zip(
        Parser.load(tmp_path / "again").parse(words, confidence=True, k=3), gold, strict=True
    ):
        assert (parse.heads, parse.deprels) == (sentence.heads, sentence.deprels)
        assert [(s.left, s.right) for s in parse.spans] == [
            (s.left, s.right) for s in subtree_spans(sentence.heads)
        ]
        assert min(parse.confidences) > 0.5
        assert len({tree.heads for tree in parse.alternatives}) == 3
        assert parse.alternatives[0].heads == parse.heads
    (bound, _) = parser.parse(words, constraints=[Constraints(required_arcs=[(2, 3)]), None])
    assert bound.heads[2] == 2


@pytest.mark.parametrize("nonprojective", ["drop", "head", "path", "head+path"])
def test_spanning_trees_take_every_treatment_of_crossing_arcs(
    treebank: Path, tmp_path: Path, nonprojective: Any
) -> None:
    settings = config(
        treebank, data={"nonprojective": nonprojective}, model={"structure": "mst"},
        training={"epochs": 3},
    )  # fmt: skip
    for parse in train(settings, tmp_path).parse(list(conllu.read(treebank / "dev.conllu"))):
        check_tree(parse.heads)
        assert not any("|" in label or "%" in label for label in parse.deprels)


@pytest.mark.parametrize("structure", ["span", "arc", "joint", "split"])
def test_projective_structures_cannot_keep_crossing_arcs(
    crossing: Path, tmp_path: Path, structure: str
) -> None:
    settings = crossing_config(crossing, model={"structure": structure})
    message = (
        f"data.nonprojective is 'keep', but model.structure is '{structure}', which builds "
        "projective trees only; expected one of mst"
    )
    with pytest.raises(HeadspanError, match=message):
        Trainer(settings, tmp_path / "run")


def test_relations_of_spanning_trees_cannot_come_from_spans(crossing: Path, tmp_path: Path) -> None:
    settings = crossing_config(crossing, model={"labels_from": "spans"})
    with pytest.raises(HeadspanError, match=r"labels_from is 'spans', but .*; expected words"):
        Trainer(settings, tmp_path / "run")


def test_two_runs_are_the_same_bit_for_bit(treebank: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        train(config(treebank), tmp_path / name)
    assert losses(tmp_path / "a") == losses(tmp_path / "b")
    assert "conllu" not in (tmp_path / "a" / "model/config.json").read_text(encoding="utf-8")
    for file in ("model/model.safetensors", "model/config.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    train(config(treebank, training={"seed": 4}), tmp_path / "c")
    assert losses(tmp_path / "a") != losses(tmp_path / "c")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("at", [1, 5, 100])
def test_an_interrupted_and_resumed_run_is_the_same_run(
    treebank: Path, tmp_path: Path, number: int, at: int
) -> None:
    settings = config(treebank, training={"epochs": 3, "accumulate": 2})
    train(settings, tmp_path / "whole")
    seen = 0

    def interrupt(event: Event) -> None:
        nonlocal seen
        seen += 1
        if seen == at:
            os.kill(os.getpid(), number)

    trainer = Trainer(settings, tmp_path / "cut")
    try:
        trainer.run(interrupt)
    except Stopped:
        assert (tmp_path / "cut" / CHECKPOINT).exists()
    again = Trainer(settings, tmp_path / "cut")
    again.resume()
    again.run()
    a, b = (Parser.load(tmp_path / name / MODEL).network.tensors() for name in ("whole", "cut"))
    assert all(np.array_equal(a[name], b[name]) for name in a)
    assert losses(tmp_path / "whole") == losses(tmp_path / "cut")


def test_the_batch_does_not_change_the_parse(treebank: Path, tmp_path: Path) -> None:
    parser = train(config(treebank), tmp_path)
    sentences = list(conllu.read(treebank / "train.conllu"))
    together = parser.parse(sentences)
    assert [parser(s) for s in sentences] == together
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        assert parser.parse(sentences) == together
    finally:
        torch.set_num_threads(threads)


def test_a_parser_takes_text_words_and_odd_sentences(
    treebank: Path, tiny_encoder: Path, tmp_path: Path
) -> None:
    parser = train(
        config(treebank, model={"encoder": EncoderConfig(name=str(tiny_encoder))}), tmp_path
    )
    (from_text,) = parser("the dog sees", pretokenized=True)
    assert from_text.forms == ("the", "dog", "sees")
    assert from_text.heads == parser.parse_words(["the", "dog", "sees"]).heads
    assert parser.parse([]) == []
    empty = Sentence.from_words([])
    odd = Sentence.from_words(["", "\u200b", "日本", "x" * 10_000, "dog"])
    long = Sentence.from_words(["the", "dog", "sees"] * 100)  # longer than the encoder's window
    first, second, third = parser.parse([empty, odd, long])
    assert first.plain() == empty
    assert len(second.heads) == 5
    assert third.heads.count(0) == 1
    assert list(parser.parse_stream(iter([odd]))) == [second]


def test_an_incomplete_model_folder_is_refused(treebank: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    train(config(treebank, training={"epochs": 1}), tmp_path / "run")
    folder = tmp_path / "run" / MODEL
    assert {p.name for p in folder.iterdir()} == {
        "config.json", "model.safetensors", "vocabularies.json", "checksums.json", "README.md"
    }  # fmt: skip
    (folder / "checksums.json").unlink()  # which would notice all of the following
    weights = folder / "model.safetensors"
    good = load_file(weights)
    name = next(iter(good))
    save_file({k: v for k, v in good.items() if k != name}, weights)
    with pytest.raises(HeadspanError, match=f"the tensor {name} is missing"):
        Parser.load(folder)
    save_file({**good, "extra": torch.zeros(1)}, weights)
    with pytest.raises(HeadspanError, match="the tensor extra does not belong"):
        Parser.load(folder)
    save_file({**good, name: torch.zeros(1)}, weights)
    with pytest.raises(HeadspanError, match="has the shape"):
        Parser.load(folder)
    weights.write_bytes(b"not safetensors")
    with pytest.raises(HeadspanError, match="cannot be read"):
        Parser.load(folder)
    save_file(good, weights)
    Parser.load(folder)
    about = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**about, "format": 99}), encoding="utf-8")
    with pytest.raises(
        HeadspanError, match="its format is 99; this version of headspan reads 1 to 2"
    ):
        Parser.load(folder)


def test_sentences_that_cannot_be_learned_from_are_dropped(treebank: Path) -> None:
    good = read_treebank(str(treebank / "train.conllu"), "train")
    two_roots = Sentence.from_words(["a", "b"], heads=[0, 0])
    cycle = Sentence.from_words(["a", "b"], heads=[2, 1])
    projective = TrainingSet.choose([*good, two_roots, cycle], DataConfig(nonprojective="drop"))
    assert projective.dropped["more than one root"] == 1
    assert projective.dropped["a cycle"] == 1
    assert projective.dropped["not projective"] > 0
    assert projective.lifted == 0
    assert len(TrainingSet.choose(good, DataConfig()).sentences) == len(good)
    kept = TrainingSet.choose(good, DataConfig(nonprojective="keep"))
    assert (kept.sentences, kept.lifted, kept.dropped) == (good, 0, {})
    rare = TrainingSet.choose(good, DataConfig(encoded_min_count=1000))
    assert not any("|" in label for s in rare.sentences for label in s.deprels)


def test_several_treebanks_are_read_as_one(treebank: Path, tmp_path: Path) -> None:
    train, dev = (str(treebank / f"{part}.conllu") for part in ("train", "dev"))
    both = read_treebank((train, dev), "train")
    assert both == [*read_treebank(train, "train"), *read_treebank(dev, "train")]
    trainer = Trainer(config(treebank, data={"train": (train, dev), "dev": (dev, dev)}), tmp_path)
    assert len(trainer.training_set.sentences) == len(both)
    assert len(trainer.dev) == 2 * len(read_treebank(dev, "dev"))
    empty = tmp_path / "empty.conllu"
    empty.write_text("", encoding="utf-8")
    with pytest.raises(HeadspanError, match=r"empty.conllu: has no sentences"):
        read_treebank((train, str(empty)), "train")


def words(text: str) -> Sentence:
    """A sentence of words with lemma and tag: `form/lemma/UPOS …`."""
    forms, lemmas, upos = zip(*(word.split("/") for word in text.split()), strict=True)
    deprels = ["root", *["dep"] * (len(forms) - 1)]
    return Sentence.from_words(
        forms, heads=range(len(forms)), deprels=deprels, lemmas=lemmas, upos=upos
    )


def test_the_first_of_several_treebanks_decides_about_lemmas(tmp_path: Path) -> None:
    people, persons, rare = "People/people/NOUN", "people/person/NOUN", "data/data/NOUN"
    first = words(f"{people} left/leave/VERB {rare}")
    second = words(f"{persons} left/leave/VERB data/datum/NOUN People/People/PROPN")
    files = []
    for name, sentence, count in (("first", first, 10), ("second", second, 20)):
        files.append(str(tmp_path / f"{name}.conllu"))
        also = [words(rare)] * 10 if name == "second" else []  # it is not sure
        conllu.write([*[sentence] * count, *also], files[-1])
    for order, lemma in ((files, "people"), (files[::-1], "person")):
        read = read_training(tuple(order))
        assert {
            (form.lower(), tag, found)
            for s in read
            for form, tag, found in zip(s.forms, s.upos, s.lemmas, strict=True)
        } == {
            ("people", "NOUN", lemma), ("people", "PROPN", "People"), ("left", "VERB", "leave"),
            ("data", "NOUN", "data"), ("data", "NOUN", "datum"),
        }  # fmt: skip
    assert {s.lemmas[0] for s in read_treebank(tuple(files), "dev")} == {"people", "person", "data"}


def silver(sentence: Sentence, confidence: float) -> Sentence:
    return replace(sentence, misc=(f"Confidence={confidence}",) * len(sentence))


def test_silver_sentences_are_learned_in_the_first_epochs(treebank: Path, tmp_path: Path) -> None:
    train = read_treebank(str(treebank / "train.conllu"), "train")
    new = [silver(s, confidence) for s in train[:6] for confidence in (0.95, 0.5)]
    strange = train[0].with_parse(train[0].heads, ["strange"] * len(train[0]))
    (tmp_path / "silver").mkdir()
    for k, part in enumerate(([*new, strange], train[:4])):  # the second without confidences
        conllu.write(part, tmp_path / "silver" / f"part-{k}.conllu")
    settings = config(
        treebank,
        data={"silver": str(tmp_path / "silver"), "silver_confidence": 0.9},
        training={"silver_epochs": 2, "epochs": 3},
    )
    trainer = Trainer(settings, tmp_path / "run")
    learned = trainer.training_set
    gold = TrainingSet.choose(train, settings.data)
    assert learned.gold == gold.sentences
    assert learned.silver == 10
    assert [len(s) for s in learned.sentences[-10:]] == [len(s) for s in train[:6] + train[:4]]
    assert learned.dropped["silver, a mean confidence below 0.9"] == 6
    assert learned.dropped["silver, a relation that the treebank does not have"] == 1
    assert "strange" not in trainer.parser.vocabularies.labels
    count = len(gold.sentences)
    epochs = [sorted(k for batch in trainer.batches(e) for k in batch) for e in range(3)]
    assert epochs[2] == list(range(count))
    assert epochs[0][:count] == epochs[1][:count] == epochs[2]
    assert sorted(epochs[0][count:] + epochs[1][count:]) == list(range(count, count + 10))
    assert len(epochs[0]) == len(epochs[1])
    (tmp_path / "none").mkdir()
    with pytest.raises(HeadspanError, match=r"none: has no files \*.conllu; expected shards"):
        Trainer(config(treebank, data={"silver": str(tmp_path / "none")}), tmp_path / "run")


def test_wrong_data_is_an_error_that_names_it(treebank: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("", encoding="utf-8")
    (tmp_path / "bare").write_text("1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n", encoding="utf-8")
    for name, message in [
        ("", "data.train is not set"), (str(tmp_path / "no"), "cannot be read"),
        (str(tmp_path / "empty"), "has no sentences"), (str(tmp_path / "bare"), "sentence 1, word 1 has no head"),
    ]:  # fmt: skip
        with pytest.raises(HeadspanError, match=message):
            Trainer(config(treebank, data={"train": name}), tmp_path)
    with pytest.raises(HeadspanError, match=r"the encoder '.*' is neither a folder \(.*nowhere is not there\) nor a name on the hub"):  # fmt: skip
        Trainer(
            config(treebank, model={"encoder": EncoderConfig(name=str(tmp_path / "nowhere"))}),
            tmp_path,
        )
    with pytest.raises(HeadspanError, match="needs the Python package nothing_of_the_kind"):
        Trainer(
            config(treebank, model={"encoder": EncoderConfig(name="python:nothing_of_the_kind/x")}),
            tmp_path,
        )
    with pytest.raises(HeadspanError, match="no inputs"):
        Trainer(config(treebank, model={"embeddings": EmbeddingsConfig()}), tmp_path)


def test_batches_hold_every_sentence_once_and_fit() -> None:
    costs = [3 + k % 40 for k in range(500)]
    one = shuffled_batches(costs, 200, seed=1, epoch=0)
    assert sorted(k for batch in one for k in batch) == list(range(500))
    assert all(len(b) * max(costs[k] for k in b) <= 200 for b in one)
    assert one == shuffled_batches(costs, 200, seed=1, epoch=0)
    assert one != shuffled_batches(costs, 200, seed=1, epoch=1)
    padding = sum(len(b) * max(costs[k] for k in b) for b in one) / sum(costs)
    assert padding < 1.2
    summed = shuffled_batches(costs, 200, seed=1, epoch=0, summed=True)
    assert sorted(k for batch in summed for k in batch) == list(range(500))
    assert all(sum(costs[k] for k in b) <= 200 for b in summed)
    assert len(summed) < len(one)
    assert shuffled_batches([300, 5], 200, seed=1, epoch=0, summed=True)[0] in ([0], [1])


def test_the_learning_rate_goes_up_then_down() -> None:
    assert rate(0.25, 10, 0.5) == 0.5
    assert rate(0.5, 10, 0.5) == 1
    assert rate(10, 10, 0.5) == 0
    assert rate(5.25, 10, 0.5) == 0.5
    assert rate(1, 1, 0) == 0


def test_two_processes_make_the_model_of_one(treebank: Path, tmp_path: Path) -> None:
    text = f"""
[data]
train = "{treebank / "train.conllu"}"
dev = "{treebank / "dev.conllu"}"
[model]
lstm_layers = 1
lstm_size = 16
score_size = 16
label_size = 8
dropout = 0.0
[model.embeddings]
words = 16
[training]
epochs = 2
batch_tokens = 100
learning_rate = 0.005
"""
    (tmp_path / "c.toml").write_text(text, encoding="utf-8")
    torchrun = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
    ]
    for name, command in (("one", [sys.executable]), ("two", torchrun)):
        done = subprocess.run(
            [*command, "-m", "headspan", "train", str(tmp_path / "c.toml"), "-o", str(tmp_path / name)],
            check=False, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    one, two = (Parser.load(tmp_path / name / MODEL).network.tensors() for name in ("one", "two"))
    for name in one:
        np.testing.assert_allclose(one[name], two[name], rtol=1e-3, atol=1e-4)
    assert losses(tmp_path / "one")[-1]["parse"] == pytest.approx(
        losses(tmp_path / "two")[-1]["parse"], rel=1e-3
    )


def test_an_estimate_leaves_no_trace(treebank: Path, tmp_path: Path) -> None:
    trainer = Trainer(config(treebank), tmp_path / "run")
    before = {name: t.clone() for name, t in trainer.network.state_dict().items()}
    seconds, memory = estimate(trainer)
    assert seconds > 0
    assert memory > 2**26
    assert all(p.grad is None for p in trainer.network.parameters())
    for name, tensor in trainer.network.state_dict().items():
        assert torch.equal(tensor, before[name])
    trainer.run()
    train(config(treebank), tmp_path / "other")
    assert losses(tmp_path / "run") == losses(tmp_path / "other")


def test_the_model_card_names_the_treebank_without_its_path(treebank: Path, tmp_path: Path) -> None:
    parser = train(config(treebank, training={"epochs": 1}), tmp_path)
    assert "Trained on train.conllu: 60 sentences" in parser.card
    assert str(treebank) not in parser.card
    assert (tmp_path / MODEL / "model.safetensors").stat().st_mode & 0o044
    parser.save(tmp_path / "again")
    assert (tmp_path / "again" / "README.md").read_text(encoding="utf-8") == parser.card


def test_a_segmenter_is_trained_and_saved_with_the_model(
    treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = partial(train_segmenter, settings=SegmenterSettings(epochs=2, steps=1))
    monkeypatch.setattr("headspan.training.loop.train_segmenter", short)
    settings = config(treebank, training={"epochs": 2})
    settings = replace(settings, data=replace(settings.data, segment=True))
    events: list[Event] = []
    trainer = Trainer(settings, tmp_path)
    trainer.run(events.append)
    assert {type(event) for event in events} == {SegmenterEpoch, StepDone, EpochDone}
    parser = Parser.load(tmp_path / MODEL)
    text = "the dog sees a cat.\n\nevery Arrow flies!"
    found = parser(text)
    assert len(found) >= 2
    assert " ".join(s.text for s in found) == text.replace("\n\n", " ")
    assert all(s.heads.count(0) == 1 for s in found)
    (line,) = parser.sentences(["one two. th", "ree"], lines=True)
    assert line.text == "one two. three"
    (plain,) = parser.sentences(["one two. th", "ree"], pretokenized=True)
    assert plain.forms == ("one", "two.", "three")
    parser.save(tmp_path / "small", small=True)
    again = Parser.load(tmp_path / "small")
    assert again("the dog sees a cat.") == parser("the dog sees a cat.")
    events.clear()
    trainer.run(events.append)
    assert not events  # all of it was there already


@pytest.mark.parametrize(
    ("segment", "misc", "text", "trained"),
    [
        ("auto", "SpaceAfter=No", "", True),
        ("auto", "_", "", False),
        ("auto", "_", "the dog.", True),
        ("auto", "_", "the dog .", False),
        (False, "SpaceAfter=No", "the dog.", False),
        (True, "_", "", True),
    ],
)
def test_a_segmenter_is_trained_where_the_treebank_lacks_spaces(
    segment: Any, misc: str, text: str, trained: bool, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    short = partial(train_segmenter, settings=SegmenterSettings(epochs=1, steps=1, min_count=1))
    monkeypatch.setattr("headspan.training.loop.train_segmenter", short)
    plain = Sentence.from_words(
        ["the", "dog", "."], upos=["X"] * 3, heads=[2, 0, 2], deprels=["det", "root", "punct"]
    )
    comments = [f"# text = {text}"] if text else []
    tight = replace(plain, misc=("_", misc, "_"), comments=tuple(comments))
    for name in ("train", "dev"):
        conllu.write([*[plain] * 5, tight], tmp_path / f"{name}.conllu")
    settings = config(tmp_path, data={"segment": segment}, training={"epochs": 1})
    parser = train(settings, tmp_path / "run")
    assert (parser.segmenter is not None) == trained
    assert parser.config.data.segment is trained  # decided, so that any headspan can load it


def test_the_model_card_has_the_language_that_the_treebanks_name_begins_with(
    treebank: Path, tmp_path: Path
) -> None:
    train_on = tmp_path / "fro_profiterole-ud-train.conllu"
    train_on.write_bytes((treebank / "train.conllu").read_bytes())
    settings = config(treebank, data={"train": str(train_on)}, training={"epochs": 1})
    assert train(settings, tmp_path / "run").language == "fro"
    assert train(config(treebank, training={"epochs": 1}), tmp_path / "other").language is None


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_an_error(treebank: Path, tmp_path: Path) -> None:
    with pytest.raises(HeadspanError, match="torch has found no GPU"):
        Trainer(config(treebank, training={"device": "cuda"}), tmp_path)
    assert processes.device("auto").type == "cpu"


def test_int8_parses_nearly_the_same_and_is_saved_as_it_was(
    treebank: Path, tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parser = train(
        config(treebank, model={"encoder": EncoderConfig(name=str(tiny_encoder))}), tmp_path
    )
    dev = list(conllu.read(treebank / "dev.conllu"))
    exact = parser.parse(dev)
    monkeypatch.setattr("headspan.runtime.int8.is_available", lambda: True)
    other = Parser.load(tmp_path / "model").use_int8()
    found = other.parse(dev)
    assert [p.score for p in found] != [p.score for p in exact]
    same = sum(
        a == b
        for p, q in zip(found, exact, strict=True)
        for a, b in zip(p.heads, q.heads, strict=True)
    )
    assert same > 0.9 * sum(map(len, dev))
    other.save(tmp_path / "again")
    assert [p.score for p in Parser.load(tmp_path / "again").parse(dev)] == [p.score for p in exact]


@pytest.mark.parametrize("engine", ["onnx", "torch"])
def test_a_model_that_is_stored_in_int8_is_computed_in_int8(
    engine: Any,
    treebank: Path,
    tiny_encoder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoder = EncoderConfig(name=str(tiny_encoder))
    settings = config(treebank, model={"encoder": encoder, "structure": "split"})
    dev = list(conllu.read(treebank / "dev.conllu"))
    trained = train(settings, tmp_path)
    monkeypatch.setattr("headspan.runtime.int8.is_available", lambda: True)
    monkeypatch.setattr("headspan.runtime.packing._LARGE_MATRIX", 100)
    trained.save(tmp_path / "small", small=True)

    def is_int8(folder: str, **options: Any) -> bool:
        parser = Parser.load(tmp_path / folder, engine=engine, **options)
        exact = Parser.load(tmp_path / folder, engine=engine, int8=False)
        return [p.score for p in parser.parse(dev)] != [p.score for p in exact.parse(dev)]

    assert not is_int8("small")  # the tests' own setting
    monkeypatch.setenv("HEADSPAN_INT8", "1")
    assert is_int8("small")
    assert not is_int8("small", int8=False)
    assert not is_int8("model")
    assert is_int8("model", int8=True)
    monkeypatch.setattr("headspan.runtime.int8.is_available", lambda: False)
    assert not is_int8("small")
    with pytest.raises(HeadspanError, match="VNNI"):
        Parser.load(tmp_path / "small", int8=True)


def test_an_encoder_learns_in_bfloat16_and_is_stored_in_float32(
    treebank: Path, tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = EncoderConfig(name=str(tiny_encoder))
    settings = config(treebank, model={"encoder": encoder}, training={"bfloat16": True})
    monkeypatch.setattr("headspan.training.checks.is_fast_at_bfloat16", lambda: False)
    with pytest.raises(HeadspanError, match=r"training\.bfloat16 needs"):
        Trainer(settings, tmp_path / "refused")
    probe = "import torch; x = torch.ones(64, 64, dtype=torch.bfloat16); print(x @ x)"
    if subprocess.run([sys.executable, "-c", probe], capture_output=True, check=False).returncode:
        pytest.skip("this processor has no bfloat16, whatever it says")
    monkeypatch.setattr("headspan.training.checks.is_fast_at_bfloat16", lambda: True)
    trainer = Trainer(settings, tmp_path)
    inner = trainer.network.inputs.encoder
    assert inner is not None
    kinds = set()
    layer = inner.encoder.get_submodule("encoder.layer.0.output.dense")
    layer.register_forward_hook(lambda _module, _inputs, output: kinds.add(output.dtype))
    trainer.run()
    assert kinds == {torch.bfloat16, torch.float32}  # of training, and of scoring dev
    assert {p.dtype for p in trainer.network.parameters()} == {torch.float32}
    exact = Trainer(config(treebank, model={"encoder": encoder}), tmp_path / "float32")
    exact.run()
    assert trainer.state.best > 0.9 * exact.state.best


@pytest.mark.parametrize("fine_tuned", ["all", "layers", "none"])
def test_parts_of_the_encoder_are_fine_tuned(
    treebank: Path, tiny_encoder: Path, tmp_path: Path, fine_tuned: Any
) -> None:
    encoder = EncoderConfig(name=str(tiny_encoder), fine_tuned=fine_tuned)
    trainer = Trainer(
        config(treebank, model={"encoder": encoder}, training={"epochs": 1, "word_dropout": 0.3}),
        tmp_path,
    )
    before = {name: t.clone() for name, t in trainer.network.state_dict().items()}
    trainer.run()
    changed = {
        name
        for name, tensor in trainer.network.state_dict().items()
        if not torch.equal(tensor, before[name])
    }
    table = "inputs.encoder.encoder.embeddings.word_embeddings.weight"
    layer = "inputs.encoder.encoder.encoder.layer.0.output.dense.weight"
    assert "spans.weight" in changed
    assert (table in changed, layer in changed) == (fine_tuned == "all", fine_tuned != "none")


def test_a_structure_of_dense_scores_refuses_long_dev_sentences_at_once(
    treebank: Path, tmp_path: Path
) -> None:
    words = ["word"] * 401
    long = Sentence.from_words(words, heads=range(401), deprels=["x"] * 401)
    conllu.write([long], tmp_path / "long.conllu")
    settings = config(treebank, model={"structure": "joint"})
    data = replace(settings.data, dev=str(tmp_path / "long.conllu"))
    with pytest.raises(HeadspanError, match=r"long\.conllu: sentence 1 has 401 words; at most 400"):
        Trainer(replace(settings, data=data), tmp_path)
    Trainer(replace(config(treebank), data=data), tmp_path)  # headed spans are read row by row


def test_an_encoder_that_is_not_one_of_text_is_refused(tmp_path: Path) -> None:
    from transformers import BartConfig

    BartConfig(d_model=8, encoder_layers=1, decoder_layers=1).save_pretrained(tmp_path)
    with pytest.raises(HeadspanError, match="expected one that encodes text alone"):
        load_pretrained(str(tmp_path))


def test_only_the_first_layers_can_be_loaded(tiny_encoder: Path) -> None:
    whole, _ = load_pretrained(str(tiny_encoder))
    first, _ = load_pretrained(str(tiny_encoder), depth=1)
    assert first.config.num_hidden_layers == 1 < whole.config.num_hidden_layers
    ids = torch.tensor([[1, 5, 6, 2]])
    expected = whole.eval()(input_ids=ids, output_hidden_states=True).hidden_states[1]
    assert torch.equal(first.eval()(input_ids=ids).last_hidden_state, expected)
    assert encoder_table(first)["num_hidden_layers"] == 1
    with pytest.raises(HeadspanError, match=r"encoder.depth is 9; the encoder '.*' has 2 layers"):
        load_pretrained(str(tiny_encoder), depth=9)
