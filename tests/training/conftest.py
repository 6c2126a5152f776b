"""A tiny treebank and a tiny encoder that tests make themselves."""

import random
from pathlib import Path

import pytest

from headspan import conllu
from headspan.conllu import Sentence

WORDS = {
    "DET": ["the", "a", "every"],
    "NOUN": ["dog", "cat", "Arrow", "time", "hearing", "issue"],
    "VERB": ["sees", "chases", "likes", "flies"],
    "ADP": ["on", "with", "under"],
    "PUNCT": [".", "!"],
}


def sentence(rng: random.Random, number: int) -> Sentence:
    """DET NOUN VERB DET NOUN (ADP DET NOUN) PUNCT; the last phrase hangs on either noun or verb."""
    tags = ["DET", "NOUN", "VERB", "DET", "NOUN"]
    heads, relations = [2, 3, 0, 5, 3], ["det", "nsubj", "root", "det", "obj"]
    if rng.random() < 0.6:
        on_subject = rng.random() < 0.3  # then its arc crosses the verb's
        tags += ["ADP", "DET", "NOUN"]
        heads += [8, 8, 2 if on_subject else 3]
        relations += ["case", "det", "nmod" if on_subject else "obl"]
    tags.append("PUNCT")
    heads.append(3)
    relations.append("punct")
    words = [rng.choice(WORDS[tag]) for tag in tags]
    return Sentence.from_words(
        words, upos=tags, xpos=[tag[:2] for tag in tags], heads=heads, deprels=relations,
        comments=[f"# sent_id = {number}"],
    )  # fmt: skip


@pytest.fixture(scope="session")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("treebank")
    rng = random.Random(7)
    for name, size in (("train", 60), ("dev", 12), ("two", 2)):
        conllu.write([sentence(rng, k) for k in range(size)], folder / f"{name}.conllu")
    return folder


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT with two layers of 16 and a WordPiece tokenizer, with random weights."""
    return make_encoder(tmp_path_factory.mktemp("encoder"))


def make_encoder(folder: Path) -> Path:
    """Write it there."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    letters = "abcdefghijklmnopqrstuvwxyz.!"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{c}" for c in letters)]
    tokenizer = Tokenizer(models.WordPiece({p: k for k, p in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        pad_token="[PAD]", model_max_length=64,
    ).save_pretrained(folder)  # fmt: skip
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(pieces), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    return folder
