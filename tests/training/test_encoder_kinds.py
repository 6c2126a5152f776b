"""Encoders of every architecture are fine-tuned, saved, loaded again, and read every script."""

from pathlib import Path

import pytest

from headspan import HeadspanError, Parser, conllu
from headspan.config import Config, DataConfig, EncoderConfig, ModelConfig, TrainingConfig
from headspan.conllu import Sentence
from headspan.nn.pretrained import encoder_size, load_pretrained
from headspan.nn.sentencepiece_files import SentencePieces
from headspan.training.loop import Trainer

from .encoders import (
    ARCHITECTURES,
    LAYERS,
    SENTENCES,
    SIZE,
    WINDOW,
    make_encoder_of,
    marian_files,
    pieces,
    sentencepiece,
)

# the modelling code of DeBERTa in transformers compiles functions when it is imported
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence per script: every word depends on the one before."""
    path = tmp_path_factory.mktemp("scripts") / "all.conllu"
    conllu.write(
        [
            Sentence.from_words(
                words, heads=range(len(words)), deprels=["root", *["dep"] * (len(words) - 1)]
            )
            for words in SENTENCES.values()
        ],
        path,
    )
    return path


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_an_encoder_is_fine_tuned_saved_and_loaded(
    kind: str, treebank: Path, tmp_path: Path
) -> None:
    folder = make_encoder_of(kind, tmp_path / "encoder")
    assert encoder_size(str(folder)) == SIZE
    config = Config(
        DataConfig(train=str(treebank), dev=str(treebank), segment=False),
        ModelConfig(
            structure="split", lstm_layers=1, lstm_size=8, score_size=8, label_size=4,
            encoder=EncoderConfig(str(folder), layers="mix", fine_tuned="layers"),
        ),
        TrainingConfig(epochs=2, batch_tokens=50, learning_rate=0.01, warmup_epochs=0.0),
    )  # fmt: skip
    trainer = Trainer(config, tmp_path / "run")
    encoder = trainer.network.inputs.encoder
    assert encoder is not None
    before = {name: p.clone() for name, p in encoder.encoder.named_parameters()}
    table = encoder.encoder.get_input_embeddings().weight  # type: ignore[operator]
    trainer.run()
    changed = {n for n, p in encoder.encoder.named_parameters() if not p.equal(before[n])}
    assert len(changed) > len(before) / 2, "the encoder has not learned"
    assert not any(before[n].shape == table.shape for n in changed)  # the subwords stay
    trainer.parser.save(tmp_path / "last")  # the best one may be of an earlier epoch
    loaded = Parser.load(tmp_path / "last")
    assert loaded.encoder_config is not None
    sentences = list(SENTENCES.values())
    together = loaded.parse(sentences)
    assert [p.heads for p in together] == [p.heads for p in trainer.parser.parse(sentences)]
    for words, parse in zip(sentences, together, strict=True):
        alone = loaded.parse_words(words)
        assert alone.heads == parse.heads
        assert alone.score == pytest.approx(parse.score, abs=1e-3)  # padding changes nothing


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_a_tokenizer_reads_every_script(kind: str, tmp_path: Path) -> None:
    encoder, tokenizer = load_pretrained(str(make_encoder_of(kind, tmp_path)), depth=1)
    assert encoder.config.num_hidden_layers == 1 < LAYERS  # type: ignore[union-attr]
    assert tokenizer.window <= max(WINDOW, 512)
    known = len(encoder.get_input_embeddings().weight)  # type: ignore[operator]
    special = {tokenizer.start, tokenizer.end, tokenizer.unknown, tokenizer.mask, tokenizer.pad}
    assert max(special) < known
    for words in SENTENCES.values():
        for word in words:
            subwords = tokenizer.word(word)
            assert 1 <= len(subwords) <= tokenizer.window - 2
            assert max(subwords) < known
    if kind not in ("bert", "electra", "mpnet"):  # WordPiece gives up on a word of 300 characters
        assert tokenizer.word("a" * 300) != [tokenizer.unknown]
    assert tokenizer.word("Dog") != tokenizer.word("dog")  # cased
    assert tokenizer.word("喜欢") != tokenizer.word("音乐")


def test_a_byte_level_tokenizer_knows_every_character(tmp_path: Path) -> None:
    _, tokenizer = load_pretrained(str(make_encoder_of("roberta", tmp_path)))
    assert tokenizer.unknown not in tokenizer.word("ℵ🦉ﷺ")
    _, other = load_pretrained(str(make_encoder_of("xlm-roberta", tmp_path / "other")))
    assert other.unknown in other.word("ℵ🦉ﷺ")


def test_pieces_of_sentencepiece_are_those_with_the_highest_score(tmp_path: Path) -> None:
    (tmp_path / "spiece.model").write_bytes(
        sentencepiece(["<pad>", "</s>", "<unk>"], ["▁", "a", "b", "▁a", "bc", "c", "abc"])
    )
    read = SentencePieces.read(tmp_path / "spiece.model")
    assert (read.pieces[3][0], read.unknown) == ("▁", 2)
    encode = read.tokenizer().encode
    assert encode("abc").tokens == ["▁", "abc"]
    assert encode("ab").tokens == ["▁a", "b"]
    numbers = read.special_numbers(known=10, window=9)
    assert numbers == {"start": 0, "end": 1, "unknown": 2, "mask": 2, "pad": 0, "window": 9}


def test_marian_numbers_its_pieces_by_a_vocabulary(tmp_path: Path) -> None:
    marian_files(tmp_path)
    from headspan.nn.sentencepiece_files import read_tokenizer

    read = read_tokenizer(tmp_path, "source.spm")
    names = [name for name, _ in read.pieces]
    assert names != sorted(names)
    assert read.pieces[read.unknown][0] == "<unk>"
    assert read.tokenizer().encode("喜欢 dog").tokens == ["▁", "喜欢", "▁", "d", "og"]
    assert read.tokenizer().encode("target").tokens == ["▁", *"target"]  # not a piece of the source


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x0a\x7f", "is not a model of sentencepiece: it is cut off"),
        (b"\xff" * 12, "is not a model of sentencepiece: it has a number of too many bytes"),
        (b"\x0b", "is not a model of sentencepiece: it has a field of the kind 3"),
        (b"", "has no unknown piece"),
        (sentencepiece(["<unk>"], ["a"], kind=2), "another kind than Unigram"),
    ],
)
def test_a_broken_file_of_sentencepiece_is_an_error(
    data: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / "spiece.model").write_bytes(data)
    with pytest.raises(HeadspanError, match=message):
        SentencePieces.read(tmp_path / "spiece.model")


def test_a_decoder_alone_is_refused(tmp_path: Path) -> None:
    from transformers import BartConfig

    BartConfig(d_model=8, encoder_layers=1, decoder_layers=1).save_pretrained(tmp_path)
    with pytest.raises(HeadspanError, match="is a 'bart'; expected one that encodes text alone"):
        load_pretrained(str(tmp_path))
    assert len(pieces()) == len(set(pieces()))
