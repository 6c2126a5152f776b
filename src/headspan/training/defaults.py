"""The settings of a training that nobody has configured: text in, everything else out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from headspan.conllu import Sentence
from headspan.nn.pretrained import encoder_size
from headspan.training.treebank import read_treebank
from headspan.training.ud_folders import UdTreebank

_USED = {"upos": 0.5, "xpos": 0.5, "feats": 0.02, "lemmas": 0.5}
"""Columns that can be predicted, and the least share of words that have a value in one in use."""
_COMMON = 0.5
"""The least share of words whose XPOS all treebanks have, if they have the same tagset."""
_SMALL = 60_000
"""Words of a small treebank: a smaller network learns it less by heart."""
_SMALL_ENCODER = 512
"""The size of an encoder below which it is small, and takes larger steps."""


def default_settings(treebanks: Sequence[UdTreebank], *, encoder: str = "") -> dict[str, Any]:
    """A configuration, as a table, for treebanks that are learned together.

    It reads no tags, and predicts the columns that every treebank has. encoder: the name of one to
    fine-tune; without one, words and characters are learned from scratch. The sizes and the number
    of epochs follow from the number of words.
    """
    files = [treebank.train for treebank in treebanks if treebank.train]
    corpora = [read_treebank(part, "train") for part in files]
    words = sum(len(sentence) for corpus in corpora for sentence in corpus)
    table: dict[str, Any] = {
        "data": {
            "train": [path for part in files for path in part],
            "dev": [path for treebank in treebanks for path in treebank.dev],
            "encoded_min_count": 3,
            "punct": "keep",  # as the CoNLL 2018 evaluation counts
            "segment": True,
        },
        "model": {
            "structure": "split",
            "lstm_layers": 2,
            "lstm_size": 256 if words < _SMALL or encoder else 400,
            "score_size": 256,
            "label_size": 128,
            "tagger": {
                "columns": _columns(corpora),
                "size": 256,
                "layer": 0 if encoder else 1,  # without an encoder, words know of no other words
                "as_input": False,
            },
        },
        "training": {
            "batch_tokens": min(1000, max(200, words // 40)),  # a few dozen steps per epoch
            "betas": [0.9, 0.9],
            "warmup_epochs": 0.5,
            "seed": 1,
        },
    }
    if encoder:
        table["model"] |= {
            # the encoder's table of subwords is too large to learn from a treebank
            "encoder": {"name": encoder, "layers": "mix", "fine_tuned": "layers"},
            "embeddings": {"characters": 64},  # many encoders do not see the case
        }
        table["training"] |= {
            "epochs": _epochs(words, at_200_000=6, least=3, most=20),
            "learning_rate": 1.5e-3,
            "encoder_learning_rate": 2e-4 if encoder_size(encoder) < _SMALL_ENCODER else 5e-5,
            "word_dropout": 0.1,
        }
    else:
        table["model"]["embeddings"] = {"words": 100, "min_count": 2, "characters": 100}
        table["training"] |= {
            "epochs": _epochs(words, at_200_000=15, least=9, most=60),
            "learning_rate": 2e-3,
            "word_dropout": 0.2,
        }
    return table


def _epochs(words: int, *, at_200_000: int, least: int, most: int) -> int:
    """More epochs for fewer words, by the root of their number."""
    return min(most, max(least, round(at_200_000 * math.sqrt(200_000 / words))))


def _columns(corpora: Sequence[Sequence[Sentence]]) -> list[str]:
    """The columns that are in use in every treebank; others would be learned as empty.

    XPOS is left out, too, if treebanks have tagsets of their own: a model would mix them.
    """
    found = [
        column
        for column, least in _USED.items()
        if all(_share(sentences, column) >= least for sentences in corpora)
    ]
    return [column for column in found if column != "xpos" or _is_one_tagset(corpora)]


def _is_one_tagset(corpora: Sequence[Sequence[Sentence]]) -> bool:
    """Whether most words of each treebank have an XPOS that occurs in all of them."""
    counts = [Counter(tag for s in sentences for tag in s.xpos) for sentences in corpora]
    common = set(counts[0]).intersection(*counts[1:])
    return all(sum(count[tag] for tag in common) >= _COMMON * count.total() for count in counts)


def _share(sentences: Sequence[Sentence], column: str) -> float:
    """The share of words that have a value in a column."""
    values: list[str] = [value for s in sentences for value in getattr(s, column)]
    return sum(value != "_" for value in values) / len(values)
