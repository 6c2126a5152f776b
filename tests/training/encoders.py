"""Tiny encoders with random weights and tokenizers of every kind, as folders on disk."""

import json
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

SENTENCES = {
    "en": ["The", "dog", "sees", "Ann", "."],
    "emoji": ["ok", "👩🏽‍💻", "🇫🇷", "!"],
    "long": ["a" * 300, "Donaudampfschifffahrtsgesellschaft", "."],
    "ar": ["يقرأ", "الولد", "الكتاب", "."],
    "he": ["הילד", "קורא", "ספר", "."],
    "zh": ["他", "喜欢", "音乐", "。"],
    "ja": ["猫", "が", "好き", "です", "。"],
    "th": ["เขา", "อ่าน", "หนังสือ"],
}
"""Words of several scripts; with emoji that are joined, and longer than a window."""
SIZE, LAYERS, WINDOW = 16, 2, 40
SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}


def texts() -> list[str]:
    return [" ".join(words) for words in SENTENCES.values()] * 3


def trained(tokenizer: Tokenizer, trainer: Any, folder: Path, **special: str) -> int:
    """Train a tokenizer on the sentences, save it as transformers does, and return its size."""
    tokenizer.train_from_iterator(texts(), trainer)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=WINDOW, **special
    )
    fast.save_pretrained(folder)
    return len(fast)


def wordpiece(folder: Path, first: str = "[PAD]") -> int:
    """Cased, as that of BERT and ELECTRA. first: the special piece with the number 0."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = sorted(SPECIAL.values(), key=lambda piece: piece != first)
    trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=special)
    return trained(tokenizer, trainer, folder, **SPECIAL)


def wordpiece_of_mpnet(folder: Path) -> int:
    """With padding as number 1: MPNet counts positions by it, whatever its configuration says."""
    return wordpiece(folder, first="[CLS]")


def byte_level(folder: Path) -> int:
    """BPE over bytes, as that of RoBERTa and ModernBERT."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=list(SPECIAL.values()),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    return trained(tokenizer, trainer, folder, **SPECIAL)


def unigram(folder: Path) -> int:
    """Pieces with probabilities, as that of XLM-R."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=150, special_tokens=list(SPECIAL.values()), unk_token="[UNK]"
    )
    return trained(tokenizer, trainer, folder, **SPECIAL)


def varint(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out, number = out + bytes([number & 0x7F | 0x80]), number >> 7
    return out + bytes([number])


def field(number: int, value: bytes | int | float) -> bytes:
    """A field of a message of protocol buffers."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def sentencepiece(special: list[str], pieces: list[str], *, kind: int = 1) -> bytes:
    """A file of sentencepiece: special pieces, an unknown one, and pieces of text."""
    typed = [(name, 0.0, 2 if "unk" in name.lower() else 3) for name in special]
    typed += [(piece, -len(typed) - k / 10, 1) for k, piece in enumerate(pieces)]
    out = b"".join(
        field(1, field(1, name.encode()) + field(2, float(score)) + field(3, type_))
        for name, score, type_ in typed
    )
    return out + field(2, field(3, kind)) + field(3, field(1, b"identity"))


def pieces() -> list[str]:
    """▁, some pieces of several characters, and the characters of the sentences."""
    characters = sorted({c for words in SENTENCES.values() for word in words for c in word})
    return ["▁", "▁The", "og", "喜欢", "หนังสือ", "الكتاب", *characters]


def from_sentencepiece(name: str, special: list[str]) -> Callable[[Path], int]:
    """Nothing but a file of sentencepiece, as mT5 and DeBERTa-v3 are published."""

    def make(folder: Path) -> int:
        (folder / name).write_bytes(sentencepiece(special, pieces()))
        return len(special) + len(pieces()) + 5  # DeBERTa has a mask behind the pieces

    return make


def marian_files(folder: Path) -> int:
    """Two files of sentencepiece, and a vocabulary that both share, in another order."""
    special = ["<unk>", "<s>", "</s>"]
    (folder / "source.spm").write_bytes(sentencepiece(special, pieces()))
    names = [*pieces(), "target", "</s>", "<unk>", "<pad>"]
    random.Random(1).shuffle(names)
    (folder / "vocab.json").write_text(json.dumps({name: k for k, name in enumerate(names)}))
    return len(names)


SIZES = {
    "hidden_size": SIZE,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 2,
    "intermediate_size": 16,
}
T5 = {"d_model": SIZE, "d_kv": 8, "d_ff": 16, "num_layers": LAYERS, "num_heads": 2}
MARIAN = {
    "d_model": SIZE, "encoder_layers": LAYERS, "decoder_layers": 1, "encoder_attention_heads": 2,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16,
    "max_position_embeddings": WINDOW, "decoder_start_token_id": 0,
}  # fmt: skip
POSITIONS = {"max_position_embeddings": WINDOW}
ARCHITECTURES: dict[str, tuple[str, dict[str, Any], Callable[[Path], int]]] = {
    "bert": ("Bert", {**SIZES, **POSITIONS}, wordpiece),
    "electra": ("Electra", {**SIZES, **POSITIONS, "embedding_size": 8}, wordpiece),
    "roberta": ("Roberta", {**SIZES, "max_position_embeddings": WINDOW + 1, "pad_token_id": 0}, byte_level),
    "mpnet": ("MPNet", {**SIZES, "max_position_embeddings": WINDOW + 2, "pad_token_id": 1}, wordpiece_of_mpnet),
    "modernbert": (
        "ModernBert",
        {**SIZES, **POSITIONS, "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3,
         "cls_token_id": 2, "sep_token_id": 3, "local_attention": 8},
        byte_level,
    ),
    "xlm-roberta": ("XLMRoberta", {**SIZES, "max_position_embeddings": WINDOW + 1, "pad_token_id": 0}, unigram),
    "deberta-v3": (
        "DebertaV2",
        {**SIZES, **POSITIONS, "relative_attention": True, "position_buckets": 8, "norm_rel_ebd": "layer_norm",
         "share_att_key": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False},
        from_sentencepiece("spm.model", ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]),
    ),
    "mt5": ("MT5", T5, from_sentencepiece("spiece.model", ["<pad>", "</s>", "<unk>"])),
    "t5": ("T5", T5, unigram),
    "marian": ("Marian", MARIAN, marian_files),
}  # fmt: skip
"""Class, sizes and tokenizer, by name."""


def make_encoder_of(kind: str, folder: Path) -> Path:
    """Write an encoder of an architecture to a folder."""
    name, sizes, tokenizer = ARCHITECTURES[kind]
    folder.mkdir(parents=True, exist_ok=True)
    known = tokenizer(folder)
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(vocab_size=known, **sizes)
    if kind == "marian":
        config.pad_token_id = config.eos_token_id = config.forced_eos_token_id = 0
    getattr(transformers, f"{name}Model")(config).save_pretrained(folder)
    return folder
